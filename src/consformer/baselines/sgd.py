"""Gradient descent on the variables themselves, without a network: what the loss is worth when nothing has been learned from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from consformer.csp import CSP
from consformer.errors import UnknownNameError
from consformer.networks.base import MASKED
from consformer.training.loss import LossSettings, loss

# Learning rates that left the fewest constraints open on boards that no measurement uses (33 and 47 missing cells, 1,500 steps).
RATES = {"sgd": 0.3, "adam": 0.1}
_PENALTY = LossSettings(kind="penalty", relaxation="softmax", tau=1.0, power=2)


@dataclass(frozen=True)
class Descent:
    """Where gradient descent ended on a problem."""

    values: list[int]  # the most likely value of every variable
    satisfied: int
    constraints: int

    @property
    def solved(self) -> bool:
        return self.satisfied == self.constraints


def descend(
    problems: Sequence[CSP], *, steps: int = 10_000, optimiser: str = "sgd", rate: float | None = None, seed: int = 0
) -> list[Descent]:
    """Minimise the paper's penalty over logits of every free variable, many problems side by side, each by itself.

    The logits start from a normal distribution, their softmax is what the penalty sees, and the most likely values are judged at the end.

    >>> from consformer import Model, all_different
    >>> model = Model()
    >>> model.add(all_different(model.variables(3, values=range(3))))
    >>> descend([model.compile()], steps=200)[0].solved
    True
    """
    if optimiser not in RATES:
        raise UnknownNameError("optimiser", optimiser, RATES)
    csp = CSP.union(problems)
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(1, csp.n, csp.m, generator=generator).requires_grad_()
    rate = RATES[optimiser] if rate is None else rate
    update = torch.optim.SGD([logits], lr=rate) if optimiser == "sgd" else torch.optim.Adam([logits], lr=rate)
    start = csp.random_values(1, generator)  # only those that are fixed are looked at
    still = torch.ones(1, len(csp.instances))  # no temperature
    for _ in range(steps):
        update.zero_grad()
        allowed = logits.masked_fill(~csp.domain, MASKED)
        mean = loss(csp, allowed, start, csp.free[None], still, _PENALTY, generator)
        (mean * len(problems)).backward()  # type: ignore[no-untyped-call]  # a sum: no problem slows another down
        update.step()
    values = torch.where(csp.free, logits.detach().masked_fill(~csp.domain, MASKED).argmax(-1), start)[0]
    parts = [part.tolist() for part in torch.split(values, list(csp.sizes))]
    return [Descent(own, *satisfied(part, own)) for part, own in zip(csp.instances, parts, strict=True)]


def satisfied(csp: CSP, values: Sequence[int]) -> tuple[int, int]:
    """How many constraints hold, and of how many, by the checker's arithmetic.

    >>> from consformer import Model, all_different
    >>> model = Model()
    >>> x = model.variables((2, 2), values=range(2))
    >>> model.add(all_different(x[0, :]), all_different(x[1, :]))
    >>> satisfied(model.compile(), [0, 1, 1, 1])
    (1, 2)
    """
    broken = [constraint.check(np.asarray(values)) for constraint in csp.constraints]
    return sum(int((each == 0).sum()) for each in broken), sum(map(len, broken))

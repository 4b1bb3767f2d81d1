"""Which variables to repair together: a connected region of the constraint graph around something that is wrong."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from consformer.csp import CSP
from consformer.search.region import NEVER, rings


def doubtful(csp: CSP, values: Sequence[int], sureness: Tensor, size: int) -> Tensor:
    """Up to `size` variables [n] bool that are not fixed: those in conflict, then those that the network is least sure of [n]."""
    wrong = csp.in_conflict(torch.tensor([list(values)]))[0]
    order = torch.where(wrong, -1.0, sureness).masked_fill(~csp.free, float("inf"))
    chosen = torch.zeros(csp.n, dtype=torch.bool)
    chosen[order.argsort()[:size]] = True
    return chosen & csp.free


def neighbourhood(csp: CSP, values: Sequence[int], size: int, generator: torch.Generator) -> Tensor:
    """Up to `size` variables [n] bool that are not fixed, around a variable in conflict, drawn at random.

    The region grows by whole rings of neighbours, the last of them in part; where nothing is left to reach, another conflict, and at last
    any variable, is where it goes on. Without violated hard constraints violated soft ones count as conflicts.

    >>> from consformer import Model
    >>> model = Model()
    >>> x = model.variables(6, values=[0, 1])
    >>> model.add(x[i] != x[i + 1] for i in range(5))
    >>> neighbourhood(model.compile(), [0, 0, 1, 0, 1, 0], 3, torch.Generator().manual_seed(0)).tolist()
    [True, True, True, False, False, False]
    """
    candidate = torch.tensor([list(values)])
    wrong = csp.in_conflict(candidate)[0]
    if not bool((wrong & csp.free).any()):
        wrong = _in_violated(csp, candidate)
    order = torch.rand(csp.n, generator=generator) + ~wrong  # [n] those in conflict first
    nowhere, count = torch.zeros(1, csp.n, dtype=torch.bool), torch.tensor([[size]])
    when = rings(csp, nowhere, count, generator, order=order[None])[0]  # [n]
    chosen = torch.zeros(csp.n, dtype=torch.bool)
    chosen[torch.topk(order + 2.0 * when.double(), min(size, csp.n), largest=False).indices] = True
    return chosen & (when < NEVER)


def _in_violated(csp: CSP, candidate: Tensor) -> Tensor:
    """[n] bool: who is in the scope of a violated constraint, hard or soft."""
    found = torch.zeros(csp.n, dtype=torch.bool)
    for constraint in csp.constraints:
        found[constraint.members[constraint.violation(candidate)[0][constraint.group] > 0]] = True
    return found

"""So many variables of each candidate and instance: counting and picking in a union, whatever the sizes of its instances.

Shapes: K candidates, n variables, I instances.
"""

from __future__ import annotations

import torch
from torch import Tensor

from consformer.csp import CSP


def per_instance(csp: CSP, marked: Tensor) -> Tensor:
    """How many variables are marked: [K,n] bool -> [K,I].

    >>> from consformer import Model
    >>> model = Model()
    >>> x = model.variables(3, values=range(2))
    >>> per_instance(CSP.union([model.compile()] * 2), torch.tensor([[True, False, True, False, False, True]])).tolist()
    [[2, 1]]
    """
    return torch.zeros(len(marked), len(csp.instances), dtype=torch.int64).index_add_(1, csp.instance, marked.long())


def wanted(csp: CSP, p: Tensor) -> Tensor:
    """How many variables a share p [K,I] of the free ones is: rounded, but one at least where there is one."""
    free = per_instance(csp, csp.free[None])
    return (p * free).round().long().clamp(min=1).minimum(free)


def top(csp: CSP, score: Tensor, count: Tensor, generator: torch.Generator) -> Tensor:
    """The `count` [K,I] free variables with the highest score [K,n] of each candidate and instance, as [K,n] bool; chance decides
    between equals.
    """
    coins = torch.rand(score.shape, generator=generator)
    instance = csp.instance.expand(score.shape)
    order = coins.argsort(1)
    for key in (-score, (~csp.free).expand(score.shape), instance):  # stable, so the last one counts most
        order = order.gather(1, key.gather(1, order).to(score.dtype).argsort(dim=1, stable=True))
    sizes = torch.tensor(csp.sizes)
    rank = torch.arange(csp.n) - (torch.cumsum(sizes, 0) - sizes)[csp.instance]  # instances lie side by side, so the sorted do, too
    return torch.zeros(score.shape, dtype=torch.bool).scatter_(1, order, rank < count[:, csp.instance]) & csp.free

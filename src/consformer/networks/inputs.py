"""What networks are told about the constraints, beyond the graph: what each value costs."""

from __future__ import annotations

import torch
from torch import Tensor

from consformer.csp import CSP
from consformer.networks.base import MASKED

HIGHEST_CONFLICT = 4.0  # more is all the same: too many


def conflict_inputs(csp: CSP, current: Tensor, subset: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """What each value costs: with the subset yet undecided, and what the subset's present values add; each [K,n,m].

    Undecided means drawn uniformly from the domains. Both are counted from the cheapest value of the variable on; the
    third result [K,n,1] is what that one costs before the subset is decided.
    """
    undecided = torch.where(subset[..., None], csp.uniform, current)
    both = csp.conflicts(torch.cat([undecided, current]))
    marginal, every = both.split(len(current))  # type: ignore[no-untyped-call]
    present = every - marginal
    floor = _cheapest(marginal, csp.domain)
    return marginal - floor, present - _cheapest(present, csp.domain), floor


def _cheapest(cost: Tensor, domain: Tensor) -> Tensor:
    return cost.masked_fill(~domain, -MASKED).amin(-1, keepdim=True)

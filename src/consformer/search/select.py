"""Which variables are updated in an iteration."""

from __future__ import annotations

import torch
from torch import Tensor

from consformer.csp import CSP


def uniform_subset(csp: CSP, p: Tensor, generator: torch.Generator) -> Tensor:
    """Each free variable with probability p of its candidate and instance: [K,instances] -> [K,n] bool."""
    coins = torch.rand(len(p), csp.n, generator=generator)
    return (coins < p[:, csp.instance]) & csp.free

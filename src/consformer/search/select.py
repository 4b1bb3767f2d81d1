"""Which variables are updated in an iteration: strategies with one signature, in `SELECTORS`.

Each takes the problem, the candidates [K,n], and p, the share asked for of each candidate and instance [K,instances]; it gives [K,n] bool,
never True for a fixed variable.
"""

from __future__ import annotations

import torch
from torch import Tensor

from consformer.csp import CSP


def uniform(csp: CSP, values: Tensor, p: Tensor, generator: torch.Generator) -> Tensor:
    """Each free variable with probability p, as in the paper."""
    coins = torch.rand(values.shape, generator=generator)
    return (coins < p[:, csp.instance]) & csp.free


def conflicts(csp: CSP, values: Tensor, p: Tensor, generator: torch.Generator) -> Tensor:
    """Each free variable with probability p, and all that are in conflict: what stays as it is, is what may be right."""
    return uniform(csp, values, p, generator) | (csp.in_conflict(values) & csp.free)


SELECTORS = {"uniform": uniform, "conflicts": conflicts}

"""Which variables to repair together: a connected region of the constraint graph around something that is wrong."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from consformer.csp import CSP


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
    open_ = csp.free.clone()
    region = torch.zeros(csp.n, dtype=torch.bool)
    ring = region
    left = min(size, int(open_.sum()))
    while left > 0:
        near = _neighbours(csp, ring) & open_
        if not bool(near.any()):
            near = torch.zeros_like(open_)
            near[torch.where(open_, order, 3.0).argmin()] = True
        places = torch.nonzero(near)[:, 0]
        places = places[order[places].argsort()[:left]]
        ring = torch.zeros_like(region)
        ring[places] = True
        region, open_, left = region | ring, open_ & ~ring, left - len(places)
    return region


def _neighbours(csp: CSP, ring: Tensor) -> Tensor:
    """[n] bool: who shares a constraint with one of them."""
    first, source = csp.graph.first, csp.graph.edges[1]
    members = torch.nonzero(ring)[:, 0]
    begin, counts = first[members], first[members + 1] - first[members]
    shift = torch.repeat_interleave(begin - (torch.cumsum(counts, 0) - counts), counts)
    found = torch.zeros_like(ring)
    found[source[shift + torch.arange(len(shift))]] = True
    return found


def _in_violated(csp: CSP, candidate: Tensor) -> Tensor:
    """[n] bool: who is in the scope of a violated constraint, hard or soft."""
    found = torch.zeros(csp.n, dtype=torch.bool)
    for constraint in csp.constraints:
        found[constraint.members[constraint.violation(candidate)[0][constraint.group] > 0]] = True
    return found

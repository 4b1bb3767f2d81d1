"""Connected regions of the constraint graph: what hangs together is best changed, or handed on, together."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

from consformer.constraints.base import segment_sum
from consformer.csp import CSP
from consformer.search.share import per_instance, top

NEVER = 2**30  # the round in which a region reaches what is not connected with its seed


def region(csp: CSP, seeds: Tensor, count: Tensor, generator: torch.Generator, *, chance: float = 1.0) -> Tensor:
    """About `count` [K,I] free variables around the seeds [K,n], connected with them through free variables, as [K,n] bool.

    A region grows by rounds; whoever has a neighbour in it joins with this chance: 1 gives balls, less gives ragged shapes. Where
    fewer are connected with the seeds it stays smaller. It takes about as many rounds as the region is wide.

    >>> from consformer import Model
    >>> model = Model()
    >>> x = model.variables(5, values=range(2))
    >>> for i in range(4):
    ...     model.add(x[i] != x[i + 1])
    >>> seeds = torch.tensor([[False, False, True, False, False]])
    >>> region(model.compile(), seeds, torch.tensor([[3]]), torch.Generator()).tolist()
    [[False, True, True, True, False]]
    """
    reached = seeds & csp.free
    when = torch.where(reached, 0, NEVER)
    for now in itertools.count(1):
        short = per_instance(csp, reached) < count  # [K,I]
        frontier = _neighbours(csp, reached) & csp.free & ~reached & short[:, csp.instance]
        if not bool(frontier.any()):
            break
        joining = frontier if chance == 1 else frontier & (torch.rand(frontier.shape, generator=generator) < chance)
        when = torch.where(joining, now, when)
        reached = reached | joining
    return top(csp, -when, count, generator) & reached  # the last round may have brought too many


def _neighbours(csp: CSP, marked: Tensor) -> Tensor:
    """Who has a marked neighbour: [K,n] -> [K,n] bool."""
    to, source = csp.graph.edges
    rows = marked.T.float().index_select(0, source)  # [E,K]
    return (segment_sum(rows, to, csp.n) > 0).T

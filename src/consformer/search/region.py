"""Connected regions of the constraint graph: what hangs together is best changed, or handed on, together."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

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
    when = rings(csp, seeds, count, generator, chance=chance)
    return top(csp, -when, count, generator) & (when < NEVER)  # the last round may have brought too many


def rings(
    csp: CSP, seeds: Tensor, count: Tensor, generator: torch.Generator, *, chance: float = 1.0, order: Tensor | None = None
) -> Tensor:
    """In which round [K,n] a region that grows from the seeds, until it has `count` [K,I] variables or more, reaches each; or `NEVER`.

    Where nothing is left to reach it ends, or goes on from the first by `order` [K,n] that it has not.
    """
    joining = seeds & csp.free
    when = torch.where(joining, 0, NEVER)
    near = torch.zeros_like(seeds)
    for now in itertools.count(1):
        reached = when < NEVER
        near |= _neighbours(csp, joining)
        lacking = csp.free & ~reached & (per_instance(csp, reached) < count)[:, csp.instance]
        frontier = near & lacking
        if order is not None and bool((ended := lacking & (per_instance(csp, frontier) == 0)[:, csp.instance]).any()):
            frontier |= _first(csp, order, ended)
        if not bool(frontier.any()):
            break
        joining = frontier if chance == 1 else frontier & (torch.rand(frontier.shape, generator=generator) < chance)
        when = torch.where(joining, now, when)
    return when


def _neighbours(csp: CSP, marked: Tensor) -> Tensor:
    """Who has a marked neighbour: [K,n] -> [K,n] bool; takes as long as those have neighbours."""
    first, source = csp.graph.first, csp.graph.edges[1]
    row, member = torch.nonzero(marked).T
    begin, degree = first[member], first[member + 1] - first[member]
    shift = torch.repeat_interleave(begin - (torch.cumsum(degree, 0) - degree), degree)
    found = torch.zeros_like(marked)
    found[torch.repeat_interleave(row, degree), source[shift + torch.arange(len(shift))]] = True
    return found


def _first(csp: CSP, order: Tensor, among: Tensor) -> Tensor:
    """The first by `order` [K,n] of those that are marked, of every instance: [K,n] -> [K,n] bool."""
    order = order.masked_fill(~among, torch.inf)
    least = order.new_full((len(order), len(csp.instances)), torch.inf)
    least = least.scatter_reduce(1, csp.instance.expand_as(order), order, "amin")
    return among & (order == least[:, csp.instance])

"""The constraint graph: who shares a constraint with whom, plus a self-loop on every variable."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Graph:
    """Edges of a (union of) constraint graph(s); both directions of every edge, and (i, i) for every variable i.

    >>> Graph.of(3, torch.tensor([[0, 1], [1, 0]])).edges.tolist()
    [[0, 0, 1, 1, 2], [0, 1, 0, 1, 2]]
    """

    edges: Tensor  # [2,E] (to, from), sorted by `to`, then `from`, without repetition
    sizes: tuple[int, ...]  # numbers of variables of the instances, in order

    @staticmethod
    def of(n: int, pairs: Tensor) -> Graph:
        """The graph of one problem from pairs [2,E] in any order, repetitions allowed."""
        loops = torch.arange(n)
        key = torch.cat([pairs[0] * n + pairs[1], loops * n + loops])
        key = torch.unique(key)
        return Graph(torch.stack([key // max(n, 1), key % max(n, 1)]), (n,))

    @staticmethod
    def union(graphs: Sequence[Graph], offsets: Sequence[int]) -> Graph:
        """Graphs side by side."""
        edges = torch.cat([graph.edges + offset for graph, offset in zip(graphs, offsets, strict=True)], 1)
        return Graph(edges, tuple(size for graph in graphs for size in graph.sizes))

    @property
    def n(self) -> int:
        return sum(self.sizes)

    @property
    def widest(self) -> int:
        return max(self.sizes)

    @cached_property
    def degree(self) -> Tensor:
        """[n] number of neighbours, self-loops not counted."""
        return self.first.diff() - 1

    @cached_property
    def slots(self) -> Tensor | None:
        """[n] where each variable sits when every instance is padded to the widest; None when nothing needs padding."""
        if len(set(self.sizes)) <= 1:
            return None
        sizes = torch.tensor(self.sizes)
        shift = torch.arange(len(sizes)) * self.widest - (torch.cumsum(sizes, 0) - sizes)
        return torch.arange(self.n) + torch.repeat_interleave(shift, sizes)

    @cached_property
    def mask(self) -> Tensor:
        """[instances, widest, widest] bool: True where a variable may attend. Padding attends to itself, so no row is empty."""
        width, count = self.widest, len(self.sizes)
        to, source = self.edges if self.slots is None else self.slots[self.edges]
        mask = torch.eye(width, dtype=torch.bool).repeat(count, 1, 1)
        mask.view(count * width, width)[to, source % width] = True
        return mask

    @cached_property
    def bias(self) -> Tensor:
        """The same as something to add to attention logits: 0 where allowed, minus infinity elsewhere."""
        return torch.zeros(self.mask.shape).masked_fill_(~self.mask, float("-inf"))

    @cached_property
    def first(self) -> Tensor:
        """[n+1] where the edges to each variable begin, and where the last of them end."""
        return torch.searchsorted(self.edges[0], torch.arange(self.n + 1))

    def portions(self, count: int) -> list[tuple[slice, slice]]:
        """The graph in about `count` runs of variables with equally many edges: which variables, and which edges lead to them.

        >>> Graph.of(4, torch.tensor([[0, 1], [1, 0]])).portions(2)
        [(slice(0, 2, None), slice(0, 4, None)), (slice(2, 4, None), slice(4, 6, None))]
        """
        first = self.first
        wanted = torch.arange(count + 1) * self.edges.shape[1] // count
        bounds = torch.unique(torch.searchsorted(first, wanted)).tolist()
        return [(slice(a, b), slice(int(first[a]), int(first[b]))) for a, b in itertools.pairwise(bounds)]

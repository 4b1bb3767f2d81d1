"""Attention over a constraint graph, in three ways with one result.

*Dense*: every instance of a union is padded to the widest and attends under a mask; cost grows with instances x widest^2.
*Sparse*: every edge is looked at by itself; cost grows with variables + edges. *Compiled*: the same as compiled code, for solving only.
`Layout.of` takes the cheapest one.

Rows: whatever attends independently of each other (candidates, values, heads) lies side by side in R rows of width d, so a
network keeps its state as [n, R, d] from start to end and nothing is transposed in between.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from consformer import compiled
from consformer.constraints.base import segment_sum
from consformer.graph import Graph

Relation = Literal["none", "learned", "mask"]

# One edge of the sparse path costs as much as this many pairs of the dense one, and one of the compiled path as this many.
# Measured by `python benchmarks/attention.py`, which prints the break-even density.
SPARSE_EDGE_COST = 35.0
COMPILED_EDGE_COST = 10.0
# With fewer pairs than this, loading compiled code takes longer than it will ever save.
COMPILED_PAIRS = 100_000
# Numbers held at once by the sparse path: edges are worked off in portions that stay in the processor's cache.
SPARSE_PORTION = 1 << 21


class Layout(ABC):
    """How the variables of a graph are laid out while a network works on them."""

    @staticmethod
    def of(graph: Graph, relation: Relation = "mask") -> Layout:
        """The cheapest layout for this graph. Only masked attention can be sparse: the other two look at all pairs."""
        pairs, edges = len(graph.sizes) * graph.widest**2, graph.edges.shape[1]
        if relation != "mask":
            return DenseLayout(graph, relation)
        if not torch.is_grad_enabled() and pairs > max(COMPILED_PAIRS, COMPILED_EDGE_COST * edges) and compiled.available():
            return CompiledLayout(graph)
        return SparseLayout(graph) if pairs > SPARSE_EDGE_COST * edges else DenseLayout(graph, relation)

    @abstractmethod
    def enter(self, x: Tensor) -> Tensor:
        """[n, ...] -> [rows of the layout, ...]."""

    @abstractmethod
    def leave(self, x: Tensor) -> Tensor:
        """[rows of the layout, ...] -> [n, ...]."""

    @abstractmethod
    def attend(self, q: Tensor, k: Tensor, v: Tensor, penalty: Tensor | None = None) -> Tensor:
        """Softmax attention of [rows, R, d] along the graph; `penalty` (a scalar <= 0) is added for pairs without an edge."""


@dataclass(frozen=True, eq=False)
class DenseLayout(Layout):
    graph: Graph
    relation: Relation = "mask"

    def enter(self, x: Tensor) -> Tensor:
        slots = self.graph.slots
        if slots is None:
            return x
        padded = x.new_zeros(len(self.graph.sizes) * self.graph.widest, *x.shape[1:])
        return padded.index_copy(0, slots, x)

    def leave(self, x: Tensor) -> Tensor:
        slots = self.graph.slots
        return x if slots is None else x.index_select(0, slots)

    def attend(self, q: Tensor, k: Tensor, v: Tensor, penalty: Tensor | None = None) -> Tensor:
        graph = self.graph
        instances, width = len(graph.sizes), graph.widest
        q, k, v = (x.view(instances, width, *x.shape[1:]).transpose(1, 2) for x in (q, k, v))  # (B, R, w, d), nothing is copied
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=self._bias(penalty))
        return out.transpose(1, 2).contiguous().view(instances * width, out.shape[1], out.shape[3])  # as a rule contiguous already

    def _bias(self, penalty: Tensor | None) -> Tensor:
        graph = self.graph
        if self.relation == "mask":
            return graph.bias[:, None]  # (B, 1, w, w)
        bias = torch.zeros(graph.mask.shape) if penalty is None else torch.where(graph.mask, 0.0, penalty)
        inside = torch.arange(graph.widest) < torch.tensor(graph.sizes)[:, None]  # (B, w): padding is never looked at
        return bias.masked_fill(~inside[:, None, :] & ~graph.mask, float("-inf"))[:, None]


@dataclass(frozen=True, eq=False)
class SparseLayout(Layout):
    graph: Graph

    def enter(self, x: Tensor) -> Tensor:
        return x

    def leave(self, x: Tensor) -> Tensor:
        return x

    def attend(self, q: Tensor, k: Tensor, v: Tensor, penalty: Tensor | None = None) -> Tensor:
        assert penalty is None, "pairs without an edge are never looked at here"
        numbers = self.graph.edges.shape[1] * q[0].numel()
        portions = 1 if torch.is_grad_enabled() else math.ceil(numbers / SPARSE_PORTION)  # in training all is kept anyway
        return torch.cat([_attend(q[there], self.graph.edges[:, edges], k, v) for there, edges in self.graph.portions(portions)])


class CompiledLayout(SparseLayout):
    def attend(self, q: Tensor, k: Tensor, v: Tensor, penalty: Tensor | None = None) -> Tensor:
        from consformer.compiled.attention import attend  # only now: it loads the compiler

        assert penalty is None, "pairs without an edge are never looked at here"
        return attend(q, k, v, self.graph)


def _attend(q: Tensor, edges: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attention of a run of variables, q [r,R,d], along the edges [2,E] that lead to them, to all variables, k and v [n,R,d]."""
    source, to = edges[1], edges[0] - edges[0, 0]
    variables, rows, width = q.shape
    logits = (q.index_select(0, to) * k.index_select(0, source)).sum(-1) * width**-0.5  # [E,R]
    highest = logits.new_full((variables, rows), float("-inf"))
    highest.scatter_reduce_(0, to[:, None].expand_as(logits), logits.detach(), "amax")
    share = torch.exp(logits - highest.index_select(0, to))
    total = segment_sum(share, to, variables)  # [r,R]
    mixed = (share[..., None] * v.index_select(0, source)).flatten(1)  # [E,R*d]
    return segment_sum(mixed, to, variables).view(variables, rows, width) / total[..., None]

"""The layers of the any-CSP networks, without gradients: what belongs to a variable stays in the processor's cache from step to step.

The twin is `Block.forward` in `consformer.networks.layered`. States are [P,R,c]: so many places of a graph, and so many rows in each that
attend independently of each other. A token is one of these states; `Groups` says which tokens are the values of one variable.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from consformer.compiled.attention import Floats, Marks, Places, in_parts, in_portions, kernel
from consformer.compiled.pieces import SOURCE, TOGETHER, answered, asked, attended, fed, sizes
from consformer.compiled.vectors import memory
from consformer.graph import Graph

if TYPE_CHECKING:
    from consformer.networks.layered import LayeredNetwork


@dataclass(frozen=True, eq=False)
class Weights:
    """What a layer multiplies with: matrices [inputs,outputs], so that the innermost loops run over outputs; norms [2,c]: scale, shift."""

    norm1: Floats
    qkv: Floats  # [c,3c], three matrices, that of the queries so that powers of two, not of e, are taken of their products with the keys
    out: Floats  # [c,c]
    norm2: Floats
    others: Floats  # [2c,e]
    up: Floats  # [c,e]
    down: Floats  # [e,c]

    @staticmethod
    def of(block: Any) -> Weights:
        """The weights of a `Block`; a copy, later changes of the block are not seen."""
        width = block.up.in_features
        scale = 1 / (math.log(2) * math.sqrt(width // block.heads))
        qkv = torch.cat([block.query.weight * scale, block.key.weight, block.value.weight]).T
        maps = (block.out.weight, block.others.weight, block.up.weight, block.down.weight)
        out, others, up, down = (_copied(weight.T) for weight in maps)
        norm1, norm2 = (_copied(torch.stack([norm.weight, norm.bias])) for norm in (block.norm1, block.norm2))
        return Weights(norm1, _copied(qkv), out, norm2, others, up, down)


def _copied(weight: Tensor) -> Floats:
    return np.array(weight.detach().numpy(), np.float32, order="C")


@dataclass(frozen=True, eq=False)
class Groups:
    """Which tokens are the values of the same variable in the same candidate."""

    first: Places  # [G+1] where each group begins in `tokens`
    tokens: Places  # [P*R]
    allowed: Marks  # [P*R] whether it is one of the values that the variable may take, in the same order

    @staticmethod
    def of_every_pair(domain: Tensor, pool: int) -> Groups:
        """For places that are the n variables, with rows for each candidate and value: `domain` [n,m]."""
        n, m = domain.shape
        count = n * pool * m
        allowed = domain[:, None].expand(n, pool, m).reshape(-1).numpy()
        return Groups(np.arange(0, count + 1, m), np.arange(count), allowed)

    @staticmethod
    def of_runs(lengths: Tensor) -> Groups:
        """For places that are the values themselves, one row each: so many of the first variable, so many of the next, ..."""
        first = torch.nn.functional.pad(lengths.cumsum(0), (1, 0)).numpy()
        return Groups(first, np.arange(first[-1]), np.ones(first[-1], np.bool_))


class Layers:
    """All layers of a network and its head."""

    def __init__(self, network: LayeredNetwork) -> None:
        self.heads = network.config.heads
        self.layers = [Weights.of(block) for block in network.blocks]
        self.head = _copied(network.norm.weight * network.head.weight)  # [1,c]
        self.ask, self.attend, self.feed, self.answer = _kernels(*network.sizes)

    def __call__(self, told: Tensor, turns: int, graph: Graph, groups: Groups) -> Tensor:
        """What the head says after so many turns, each with `told` [P,R,c] added anew: -> [P,R]."""
        told = told.contiguous()
        h, found = torch.zeros_like(told), torch.empty(told.shape[:2])
        places, rows, width = h.shape
        tokens, qkv = h.view(-1, width).numpy(), np.empty((rows * self.heads, 3, places, width // self.heads), np.float32)
        edges = by_eight(graph)
        widest = int(edges[2].max(initial=0)) + 8, max(TOGETHER, int(np.diff(groups.first).max(initial=0)))  # rows of edges, groups
        for _ in range(turns):
            h += told
            for layer in self.layers:
                in_portions(graph, partial(self._ask, layer, tokens, qkv))
                in_portions(graph, partial(self._attend, layer, tokens, qkv, edges, widest[0]))
                in_parts(len(groups.first) - 1, partial(self._feed, layer, tokens, groups, widest[1]))
        self.answer(tokens, self.head, found.view(-1).numpy())
        return found

    def _ask(self, layer: Weights, tokens: Floats, qkv: Floats, begin: int, end: int) -> None:
        width = tokens.shape[1]
        self.ask(tokens, qkv, layer.norm1, layer.qkv, *_room(TOGETHER * width, 3 * TOGETHER * width), begin, end)

    def _attend(self, layer: Weights, tokens: Floats, qkv: Floats, edges: tuple[Places, ...], most: int, begin: int, end: int) -> None:
        rows, width = len(tokens) // qkv.shape[2], tokens.shape[1]
        self.attend(tokens, qkv, *edges, layer.out, *_room(most, (end - begin) * rows * width), begin, end)

    def _feed(self, layer: Weights, tokens: Floats, groups: Groups, most: int, begin: int, end: int) -> None:
        width, hidden = layer.up.shape
        room = _room(most * width, most * width, most * hidden, most * 2 * width, most * hidden)
        matrices = (layer.norm2, layer.others, layer.up, layer.down)
        self.feed(tokens, groups.first, groups.tokens, groups.allowed, *matrices, *room, begin, end)


def by_eight(graph: Graph) -> tuple[Places, Places, Places]:
    """Where the edges to each variable begin, as `Graph.first`, who they come from, but for each eight, sixteen, ... of them, the last
    one several times, and how many there really are besides the loop: for code that looks at eight at once.

    >>> by_eight(Graph.of(2, torch.tensor([[0, 1], [1, 0]])))[1].tolist()
    [0, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1]
    """
    degree = graph.degree.numpy()
    first = np.zeros(graph.n + 1, np.int64)
    np.cumsum((degree + 8) // 8 * 8, out=first[1:])  # the loop is an edge, too
    source = np.empty(first[-1], np.int64)
    _fill_up(graph.first.numpy(), graph.edges[1].numpy(), first, source)
    return first, source, degree


@kernel("void(int64[::1],int64[::1],int64[::1],int64[::1])")
def _fill_up(first: Places, source: Places, wider: Places, filled: Places) -> None:
    for i in range(len(first) - 1):
        last = first[i + 1] - 1
        for e in range(wider[i + 1] - wider[i]):
            filled[wider[i] + e] = source[min(first[i] + e, last)]


def _room(*sizes: int) -> list[Floats]:
    return [np.empty(size, np.float32) for size in sizes]


@lru_cache
def _kernels(width: int, heads: int, hidden: int) -> tuple[Callable[..., None], ...]:
    """The parts of a layer, and the head, for networks of this size, which is part of the code: known sizes are what makes it fast."""
    matrix, numbers, places = "float32[:,::1]", "float32[::1]", "int64[::1]"
    head, some, wide, wider = sizes(width, heads, hidden)

    @kernel(f"void({matrix},float32[:,:,:,::1],{matrix},{matrix},{numbers},{numbers},int64,int64)", SOURCE)
    def ask(h: Floats, qkv: Floats, norm: Floats, weight: Floats, x: Floats, made: Floats, begin: int, end: int) -> None:
        n = qkv.shape[2]
        asked(memory(h), memory(qkv), n, len(h) // n, memory(norm), memory(weight), memory(x), memory(made), begin, end, width, head, wide)

    @kernel(f"void({matrix},float32[:,:,:,::1],{places},{places},{places},{matrix},{numbers},{numbers},int64,int64)", SOURCE)
    def attend(
        h: Floats,
        qkv: Floats,
        first: Places,
        source: Places,
        degree: Places,
        out: Floats,
        share: Floats,
        mixed: Floats,
        begin: int,
        end: int,
    ) -> None:
        n = qkv.shape[2]
        rows, h_, qkv_, source_, out_, share_, mixed_ = (
            len(h) // n,
            memory(h),
            memory(qkv),
            memory(source),
            memory(out),
            memory(share),
            memory(mixed),
        )
        attended(h_, qkv_, n, rows, first, source_, degree, out_, share_, mixed_, begin, end, width, head, some, wide)

    @kernel(f"void({matrix},{places},{places},boolean[::1],{','.join([matrix] * 4)},{','.join([numbers] * 5)},int64,int64)", SOURCE)
    def feed(
        h: Floats,
        first: Places,
        tokens: Places,
        allowed: Marks,
        norm: Floats,
        others: Floats,
        up: Floats,
        down: Floats,
        state: Floats,
        x: Floats,
        inner: Floats,
        seen: Floats,
        told: Floats,
        begin: int,
        end: int,
    ) -> None:
        h_, norm_, others_, up_, down_ = memory(h), memory(norm), memory(others), memory(up), memory(down)
        state_, x_, inner_, seen_, told_ = memory(state), memory(x), memory(inner), memory(seen), memory(told)
        fed(
            h_, first, tokens, allowed, norm_, others_, up_, down_, state_, x_, inner_, seen_, told_, begin, end, width, hidden, wide, wider
        )

    @kernel(f"void({matrix},{matrix},{numbers})", SOURCE)
    def answer(h: Floats, weight: Floats, found: Floats) -> None:
        answered(memory(h), len(h), memory(weight), found, width)

    return ask, attend, feed, answer

"""The layers of the any-CSP network, without gradients: what belongs to a variable stays in the processor's cache from step to step.

The twin is `Block.forward` in `consformer.networks.equivariant`. A state is [T,c]: T tokens, one for each (variable, candidate, value) in
this order, so the R = candidates x values tokens of a variable lie side by side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from consformer.compiled import stamped
from consformer.compiled.attention import FASTMATH, Floats, Places, in_portions
from consformer.compiled.vectors import (
    SOURCE,
    add,
    add_times,
    fill,
    get,
    highest,
    load,
    memory,
    piece,
    power_of_two,
    put,
    store,
    times,
    total,
)
from consformer.graph import Graph

if TYPE_CHECKING:
    from consformer.networks.equivariant import EquivariantNetwork

Allowed = NDArray[np.bool_]

EPSILON = 1e-5  # of the norms, as in torch
LANES = 32  # powers are worked out so many at a time


@dataclass(frozen=True, eq=False)
class Weights:
    """What a layer multiplies with: matrices [inputs,outputs], so that the innermost loops run over outputs; norms [2,c]: scale, shift."""

    norm1: Floats
    qkv: Floats  # [3c,c], three matrices, that of the queries so that powers of two, not of e, are taken of their products with the keys
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
        qkv = torch.cat([block.query.weight.T * scale, block.key.weight.T, block.value.weight.T])
        maps = (block.out.weight, block.others.weight, block.up.weight, block.down.weight)
        out, others, up, down = (_copied(weight.T) for weight in maps)
        norm1, norm2 = (_copied(torch.stack([norm.weight, norm.bias])) for norm in (block.norm1, block.norm2))
        return Weights(norm1, _copied(qkv), out, norm2, others, up, down)


def _copied(weight: Tensor) -> Floats:
    return np.array(weight.detach().numpy(), np.float32, order="C")


class Layers:
    """All layers of a network and its head."""

    def __init__(self, network: EquivariantNetwork) -> None:
        config = network.config
        self.heads = config.heads
        self.layers = [Weights.of(block) for block in network.blocks]
        self.head = _copied(network.norm.weight * network.head.weight)  # [1,c]
        self.ask, self.update, self.answer = _kernels(config.width, config.heads, config.expand * config.width)

    def __call__(self, told: Tensor, turns: int, domain: Tensor, graph: Graph) -> Tensor:
        """What the head says after so many turns, each with `told` [n,K,m,c] added anew; `domain` [n,m]: -> [n,K,m]."""
        told = told.contiguous()
        h, found = torch.zeros_like(told), torch.empty(told.shape[:3])
        rows, width = h.shape[1] * h.shape[2], h.shape[3]
        tokens, qkv = h.view(-1, width).numpy(), np.empty((graph.n * rows, 3 * width), np.float32)
        where = domain.numpy(), graph.first.numpy(), graph.edges[1].numpy()
        edges = int(graph.degree.max()) + 1  # of the variable with most
        for _ in range(turns):
            h += told
            for layer in self.layers:
                in_portions(graph, partial(self._ask, layer, tokens, qkv, rows))
                in_portions(graph, partial(self._update, layer, tokens, qkv, where, rows * edges))
        self.answer(tokens, self.head, found.view(-1).numpy())
        return found

    def _ask(self, layer: Weights, tokens: Floats, qkv: Floats, rows: int, begin: int, end: int) -> None:
        self.ask(tokens, qkv, layer.norm1, layer.qkv, np.empty(tokens.shape[1], np.float32), begin * rows, end * rows)

    def _update(self, layer: Weights, tokens: Floats, qkv: Floats, where: tuple[Any, ...], pairs: int, begin: int, end: int) -> None:
        width, hidden = layer.up.shape
        rows = len(tokens) // len(where[0])
        room = [pairs * self.heads + LANES, rows * width, rows * width, 2 * width, hidden]
        scratch = [np.zeros(numbers, np.float32) for numbers in room]
        self.update(tokens, qkv, *where, layer.out, layer.norm2, layer.others, layer.up, layer.down, *scratch, begin, end)


@lru_cache
def _kernels(width: int, heads: int, hidden: int) -> tuple[Callable[..., None], Callable[..., None], Callable[..., None]]:
    """The two halves of a layer, and the head, for networks of this size, which is part of the code: known sizes are what makes it fast."""
    head = width // heads
    matrix, numbers, places = "float32[:,::1]", "float32[::1]", "int64[::1]"

    @_compiled(f"void({','.join([matrix] * 4)},{numbers},int64,int64)")
    def ask(h: Floats, qkv: Floats, norm: Floats, weight: Floats, x: Floats, begin: int, end: int) -> None:
        """Queries, keys and values of the tokens from `begin` to `end`; x is room to work in."""
        h_, qkv_, norm_, weight_, x_ = memory(h), memory(qkv), memory(norm), memory(weight), memory(x)
        for t in range(begin, end):
            store(x_, 0, _normed(load(h_, t * width, width), norm_, width))
            for part in range(3):
                store(qkv_, (3 * t + part) * width, _add_product(fill(0, width), x_, 0, width, weight_, part * width, width))

    @_compiled(f"void({matrix},{matrix},boolean[:,::1],{places},{places},{','.join([matrix] * 5)},{','.join([numbers] * 5)},int64,int64)")
    def update(
        h: Floats,
        qkv: Floats,
        domain: Allowed,
        first: Places,
        source: Places,
        out: Floats,
        norm: Floats,
        others: Floats,
        up: Floats,
        down: Floats,
        share: Floats,
        mixed: Floats,
        x: Floats,
        seen: Floats,
        inner: Floats,
        begin: int,
        end: int,
    ) -> None:
        """Everything else, for the variables from `begin` to `end`; the edges to variable i are those from first[i] to first[i+1].

        From `share` on, there is only room to work in: for all heads and edges of a variable and `LANES` more, for two states of it, for a
        mean and a maximum, and for what is between `up` and `down`.
        """
        n, m = domain.shape
        rows = len(h) // n
        h_, qkv_, source_, share_, mixed_, x_ = memory(h), memory(qkv), memory(source), memory(share), memory(mixed), memory(x)
        out_, norm_, others_, up_, down_ = memory(out), memory(norm), memory(others), memory(up), memory(down)
        seen_, inner_ = memory(seen), memory(inner)
        for i in range(begin, end):
            _attend(qkv_, i, rows, source_, first[i], first[i + 1] - first[i], share_, mixed_, heads, head)
            for r in range(rows):
                at = (i * rows + r) * width
                state = _add_product(load(h_, at, width), mixed_, r * width, width, out_, 0, width)
                store(h_, at, state)
                store(x_, r * width, _normed(state, norm_, width))
            for start in range(0, rows, m):  # candidate by candidate
                count, sums, most = np.float32(0), fill(0, width), fill(-np.inf, width)
                for v in range(m):
                    if domain[i, v]:
                        state = load(x_, (start + v) * width, width)
                        count, sums, most = count + np.float32(1), add(sums, state), highest(most, state)
                store(seen_, 0, times(sums, fill(1 / count, width)))
                store(seen_, width, most)
                told = _add_product(fill(0, hidden), seen_, 0, 2 * width, others_, 0, hidden)
                for r in range(start, start + m):
                    at = (i * rows + r) * width
                    store(inner_, 0, highest(_add_product(told, x_, r * width, width, up_, 0, hidden), fill(0, hidden)))
                    store(h_, at, _add_product(load(h_, at, width), inner_, 0, hidden, down_, 0, width))

    @_compiled(f"void({matrix},{matrix},{numbers})")
    def answer(h: Floats, weight: Floats, found: Floats) -> None:
        """The head, behind a norm without shift whose scale is part of the weight."""
        h_, weight_ = memory(h), memory(weight)
        for t in range(len(h)):
            centred = _centred(load(h_, t * width, width), width)
            found[t] = _scale(centred, width) * total(times(centred, load(weight_, 0, width)))

    return ask, update, answer


def _compiled(signature: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    keep = numba.njit(signature, fastmath=FASTMATH, nogil=True, cache=True)
    return lambda function: keep(stamped(SOURCE)(function))


@piece  # type: ignore[untyped-decorator]
def _add_product(start: Any, x: Any, at: int, inputs: int, weight: Any, row: int, outputs: int) -> Any:
    """start [outputs] + x[at:at+inputs] weight[row:row+inputs]."""
    result = start
    for i in range(inputs):
        result = add_times(result, get(x, at + i), load(weight, (row + i) * outputs, outputs))
    return result


@piece  # type: ignore[untyped-decorator]
def _normed(state: Any, norm: Any, width: int) -> Any:
    """A layer norm; `norm` is its scale and shift."""
    centred = _centred(state, width)
    return add_times(load(norm, width, width), _scale(centred, width), times(centred, load(norm, 0, width)))


@piece  # type: ignore[untyped-decorator]
def _centred(state: Any, width: int) -> Any:
    return add(state, fill(-total(state) / np.float32(width), width))


@piece  # type: ignore[untyped-decorator]
def _scale(centred: Any, width: int) -> Any:
    return np.float32(1) / np.sqrt(total(times(centred, centred)) / np.float32(width) + np.float32(EPSILON))


@piece  # type: ignore[untyped-decorator]
def _attend(qkv: Any, i: int, rows: int, source: Any, first: int, degree: int, share: Any, mixed: Any, heads: int, head: int) -> None:
    """Softmax attention of the tokens of variable i, whose edges come from source[first:first+degree]."""
    width = heads * head
    for r in range(rows):
        for a in range(heads):
            at = (r * heads + a) * degree
            query = load(qkv, (i * rows + r) * 3 * width + a * head, head)
            peak = np.float32(-np.inf)
            for e in range(degree):
                key = load(qkv, (get(source, first + e) * rows + r) * 3 * width + width + a * head, head)
                product = total(times(query, key))
                put(share, at + e, product)
                peak = max(peak, product)
            for e in range(degree):
                put(share, at + e, get(share, at + e) - peak)
    _powers(share, rows * heads * degree)
    for r in range(rows):
        for a in range(heads):
            at = (r * heads + a) * degree
            sums, weight = fill(0, head), np.float32(0)
            for e in range(degree):
                value = load(qkv, (get(source, first + e) * rows + r) * 3 * width + 2 * width + a * head, head)
                sums = add_times(sums, get(share, at + e), value)
                weight += get(share, at + e)
            store(mixed, r * width + a * head, times(sums, fill(1 / weight, head)))


@piece  # type: ignore[untyped-decorator]
def _powers(x: Any, count: int) -> None:
    """The first `count` numbers, none above 0, and some after them become powers of two.

    A whole number of times `LANES` of them: what is left over would be worked out one by one.
    """
    for e in range((count + LANES - 1) // LANES * LANES):
        put(x, e, power_of_two(min(get(x, e), np.float32(0))))

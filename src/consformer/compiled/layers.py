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

from consformer.compiled.attention import FASTMATH, Floats, Places, in_portions
from consformer.compiled.vectors import add, add_times, fill, highest, load, number, store, times, total
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
        self.layers = [Weights.of(block) for block in network.blocks]
        self.head = _copied(network.norm.weight * network.head.weight)  # [1,c]
        self.ask, self.update, self.answer = _kernels(config.width, config.heads, config.expand * config.width)

    def __call__(self, told: Tensor, turns: int, domain: Tensor, graph: Graph) -> Tensor:
        """What the head says after so many turns, each with `told` [n,K,m,c] added anew; `domain` [n,m]: -> [n,K,m]."""
        told = told.contiguous()
        h, found = torch.zeros_like(told), torch.empty(told.shape[:3])
        tokens, rows = h.view(-1, h.shape[3]).numpy(), h.shape[1] * h.shape[2]
        qkv = np.empty((len(tokens), 3 * h.shape[3]), np.float32)
        where = domain.numpy(), graph.first.numpy(), graph.edges[1].numpy()
        for _ in range(turns):
            h += told
            for layer in self.layers:
                in_portions(graph, partial(self.ask, tokens, qkv, rows, layer.norm1, layer.qkv))
                rest = layer.out, layer.norm2, layer.others, layer.up, layer.down
                in_portions(graph, partial(self.update, tokens, qkv, *where, *rest))
        self.answer(tokens, self.head, found.view(-1).numpy())
        return found


@lru_cache
def _kernels(width: int, heads: int, hidden: int) -> tuple[Callable[..., None], Callable[..., None], Callable[..., None]]:
    """The two halves of a layer, and the head, for networks of this size, which is part of the code: known sizes are what makes it fast."""
    head = width // heads
    matrix, table = "float32[:,::1]", "boolean[:,::1]"

    @_compiled(f"void({matrix},{matrix},int64,{matrix},{matrix},int64,int64)")
    def ask(h: Floats, qkv: Floats, rows: int, norm: Floats, weight: Floats, begin: int, end: int) -> None:
        """Queries, keys and values of the variables from `begin` to `end`."""
        x = np.empty((1, width), np.float32)
        for t in range(begin * rows, end * rows):
            store(x, 0, _normed(load(h, t * width, width), norm, width))
            for part in range(3):
                store(qkv, (3 * t + part) * width, _add_product(fill(0, width), x, 0, width, weight, part * width, width))

    @_compiled(f"void({matrix},{matrix},{table},int64[::1],int64[::1],{','.join([matrix] * 5)},int64,int64)")
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
        begin: int,
        end: int,
    ) -> None:
        """Everything else, for the variables from `begin` to `end`; the edges to variable i are those from first[i] to first[i+1]."""
        n, m = domain.shape
        rows = len(h) // n
        most = 0
        for i in range(begin, end):
            most = max(most, first[i + 1] - first[i])
        share = np.zeros(rows * heads * most + LANES, np.float32)
        mixed, x = np.empty((rows, width), np.float32), np.empty((rows, width), np.float32)
        seen, inner = np.empty((1, 2 * width), np.float32), np.empty((1, hidden), np.float32)
        for i in range(begin, end):
            _attend(qkv, i, rows, source[first[i] : first[i + 1]], share, mixed, heads, head)
            for r in range(rows):
                at = (i * rows + r) * width
                state = _add_product(load(h, at, width), mixed, r * width, width, out, 0, width)
                store(h, at, state)
                store(x, r * width, _normed(state, norm, width))
            for start in range(0, rows, m):  # candidate by candidate
                _over_values(x, start, domain[i], seen, width)
                told = _add_product(fill(0, hidden), seen, 0, 2 * width, others, 0, hidden)
                for r in range(start, start + m):
                    at = (i * rows + r) * width
                    store(inner, 0, highest(_add_product(told, x, r * width, width, up, 0, hidden), fill(0, hidden)))
                    store(h, at, _add_product(load(h, at, width), inner, 0, hidden, down, 0, width))

    @_compiled(f"void({matrix},{matrix},float32[::1])")
    def answer(h: Floats, weight: Floats, found: Floats) -> None:
        """The head, behind a norm without shift whose scale is part of the weight."""
        for t in range(len(h)):
            centred = _centred(load(h, t * width, width), width)
            found[t] = _scale(centred, width) * total(times(centred, load(weight, 0, width)))

    return ask, update, answer


def _compiled(signature: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return numba.njit(signature, fastmath=FASTMATH, nogil=True, cache=True)  # type: ignore[no-any-return]


# The pieces are put into the kernels by numba itself, so that there, too, sizes are known.
_piece = numba.njit(inline="always")


@_piece  # type: ignore[untyped-decorator]
def _add_product(start: Any, x: Floats, at: int, inputs: int, weight: Floats, row: int, outputs: int) -> Any:
    """start [outputs] + x[at:at+inputs] weight[row:row+inputs]."""
    result = start
    for i in range(inputs):
        result = add_times(result, number(x, at + i), load(weight, (row + i) * outputs, outputs))
    return result


@_piece  # type: ignore[untyped-decorator]
def _normed(state: Any, norm: Floats, width: int) -> Any:
    """A layer norm; `norm` is its scale and shift."""
    centred = _centred(state, width)
    return add_times(load(norm, width, width), _scale(centred, width), times(centred, load(norm, 0, width)))


@_piece  # type: ignore[untyped-decorator]
def _centred(state: Any, width: int) -> Any:
    return add(state, fill(-total(state) / np.float32(width), width))


@_piece  # type: ignore[untyped-decorator]
def _scale(centred: Any, width: int) -> Any:
    return np.float32(1) / np.sqrt(total(times(centred, centred)) / np.float32(width) + np.float32(EPSILON))


@_piece  # type: ignore[untyped-decorator]
def _over_values(x: Floats, start: int, allowed: Allowed, seen: Floats, width: int) -> None:
    """Mean and maximum over the values that are allowed."""
    count, sums, most = np.float32(0), fill(0, width), fill(-np.inf, width)
    for v in range(len(allowed)):
        if allowed[v]:
            state = load(x, (start + v) * width, width)
            count, sums, most = count + np.float32(1), add(sums, state), highest(most, state)
    store(seen, 0, times(sums, fill(1 / count, width)))
    store(seen, width, most)


@_piece  # type: ignore[untyped-decorator]
def _attend(qkv: Floats, i: int, rows: int, source: Places, share: Floats, mixed: Floats, heads: int, head: int) -> None:
    """Softmax attention of the tokens of variable i; `share` has room for all their heads and edges, and `LANES` more."""
    degree, width = len(source), heads * head
    for r in range(rows):
        for a in range(heads):
            at = (r * heads + a) * degree
            query = load(qkv, (i * rows + r) * 3 * width + a * head, head)
            peak = np.float32(-np.inf)
            for e in range(degree):
                key = load(qkv, (source[e] * rows + r) * 3 * width + width + a * head, head)
                product = total(times(query, key))
                share[at + e] = product
                peak = max(peak, product)
            for e in range(degree):
                share[at + e] -= peak
    _powers(share, rows * heads * degree)
    for r in range(rows):
        for a in range(heads):
            at = (r * heads + a) * degree
            sums, weight = fill(0, head), np.float32(0)
            for e in range(degree):
                value = load(qkv, (source[e] * rows + r) * 3 * width + 2 * width + a * head, head)
                sums = add_times(sums, share[at + e], value)
                weight += share[at + e]
            store(mixed, r * width + a * head, times(sums, fill(1 / weight, head)))


@_piece  # type: ignore[untyped-decorator]
def _powers(x: Floats, count: int) -> None:
    """The first `count` numbers, none above 0, and some after them become powers of two.

    By hand: a polynomial for the part after the point, the rest is added to the exponent. A whole number of times `LANES` of them: what is
    left over would be worked out one by one.
    """
    for e in range((count + LANES - 1) // LANES * LANES):
        power = min(max(x[e], np.float32(-120)), np.float32(0))
        whole = np.int32(power) - np.int32(1)
        part = power - np.float32(whole)
        power = np.float32(1.8775767e-3)
        power = power * part + np.float32(8.9893397e-3)
        power = power * part + np.float32(5.5826318e-2)
        power = power * part + np.float32(2.4015361e-1)
        power = power * part + np.float32(6.9315308e-1)
        power = power * part + np.float32(9.9999994e-1)
        x[e] = np.int32(np.float32(power).view(np.int32) + np.int32(whole << 23)).view(np.float32)

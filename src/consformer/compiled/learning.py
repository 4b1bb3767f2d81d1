"""Attention along the edges of a graph with its gradients, for training: nothing that grows with the edges is kept in between.

The twin is `SparseLayout.attend` in `consformer.networks.attention`. What the gradients need of the shares is worked out again from the
logarithms of their sums, which is cheaper than keeping them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from consformer.compiled.attention import Floats, Places, kernel
from consformer.compiled.vectors import add_times, fill, get, load, memory, power_of_two, put, store, times, total
from consformer.graph import Graph


def attend(q: Tensor, k: Tensor, v: Tensor, graph: Graph) -> Tensor:
    """Softmax attention of [n,R,d] along the graph, with gradients."""
    return _Attention.apply(q, k, v, graph)  # type: ignore[no-any-return, no-untyped-call]


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, graph: Graph) -> Tensor:
        q, k, v = (x.contiguous() for x in (q, k, v))
        out, sums = torch.empty_like(q), torch.empty(q.shape[:2])
        there, room = _where(graph)
        forward, _ = _kernels(q.shape[2])
        forward(*(x.numpy() for x in (q, k, v)), *there, out.numpy(), sums.numpy(), room())
        ctx.save_for_backward(q, k, v, out, sums)
        ctx.graph = graph
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        q, k, v, out, sums = ctx.saved_tensors
        there, room = _where(ctx.graph)
        own = torch.empty_like(q), torch.zeros_like(k), torch.zeros_like(v)
        _, backward = _kernels(q.shape[2])
        known = (x.numpy() for x in (q, k, v))
        backward(*known, *there, *(x.numpy() for x in (out, sums, gradients[0].contiguous(), *own)), room(), room())
        return *own, None


def _where(graph: Graph) -> tuple[tuple[Places, Places], Callable[[], Floats]]:
    """Where the edges to each variable begin and whence they come; and room for those of any variable."""
    most = int(graph.degree.max()) + 1 if graph.n else 1
    return (graph.first.numpy(), graph.edges[1].contiguous().numpy()), lambda: np.empty(most, np.float32)


@lru_cache
def _kernels(width: int) -> tuple[Callable[..., None], Callable[..., None]]:
    """Attention and its gradients, for states of this width, which is part of the code."""
    state, number, place, room = "float32[:,:,::1]", "float32[:,::1]", "int64[::1]", "float32[::1]"
    scale, back = np.float32(1 / (math.log(2) * math.sqrt(width))), np.float32(1 / math.sqrt(width))

    @kernel(f"void({state},{state},{state},{place},{place},{state},{number},{room})")
    def forward(q: Floats, k: Floats, v: Floats, first: Places, source: Places, out: Floats, sums: Floats, share: Floats) -> None:
        """`out` is what comes of it, `sums` [n,R] the logarithms (to base 2) of the sums of the shares."""
        n, rows, _ = q.shape
        q_, k_, v_, out_, source_, share_ = memory(q), memory(k), memory(v), memory(out), memory(source), memory(share)
        for i in range(n):
            begin, degree = first[i], first[i + 1] - first[i]
            for r in range(rows):
                query = times(load(q_, (i * rows + r) * width, width), fill(scale, width))
                peak = np.float32(-np.inf)
                for e in range(degree):
                    product = total(times(query, load(k_, (get(source_, begin + e) * rows + r) * width, width)))
                    put(share_, e, product)
                    peak = max(peak, product)
                for e in range(degree):
                    put(share_, e, power_of_two(min(get(share_, e) - peak, np.float32(0))))
                weight, mixed = np.float32(0), fill(0, width)
                for e in range(degree):
                    weight += get(share_, e)
                    mixed = add_times(mixed, get(share_, e), load(v_, (get(source_, begin + e) * rows + r) * width, width))
                store(out_, (i * rows + r) * width, times(mixed, fill(1 / weight, width)))
                sums[i, r] = peak + math.log2(weight)

    @kernel(f"void({state},{state},{state},{place},{place},{state},{number},{','.join([state] * 4)},{room},{room})")
    def backward(
        q: Floats,
        k: Floats,
        v: Floats,
        first: Places,
        source: Places,
        out: Floats,
        sums: Floats,
        wanted: Floats,
        of_q: Floats,
        of_k: Floats,
        of_v: Floats,
        share: Floats,
        gain: Floats,
    ) -> None:
        """From the gradient of `out`, which is `wanted`, those of q, k and v, the latter two being added to what is there."""
        n, rows, _ = q.shape
        q_, k_, v_, out_, source_, share_, gain_ = memory(q), memory(k), memory(v), memory(out), memory(source), memory(share), memory(gain)
        wanted_, of_q_, of_k_, of_v_ = memory(wanted), memory(of_q), memory(of_k), memory(of_v)
        for i in range(n):
            begin, degree = first[i], first[i + 1] - first[i]
            for r in range(rows):
                at = (i * rows + r) * width
                plain, pull = load(q_, at, width), load(wanted_, at, width)
                query, mean = times(plain, fill(scale, width)), total(times(pull, load(out_, at, width)))
                for e in range(degree):
                    there = (get(source_, begin + e) * rows + r) * width
                    put(share_, e, total(times(query, load(k_, there, width))) - sums[i, r])
                    put(gain_, e, total(times(pull, load(v_, there, width))) - mean)
                for e in range(degree):
                    put(share_, e, power_of_two(min(get(share_, e), np.float32(0))))
                own = fill(0, width)
                for e in range(degree):
                    there = (get(source_, begin + e) * rows + r) * width
                    weight = get(share_, e)
                    slope = weight * get(gain_, e) * back
                    own = add_times(own, slope, load(k_, there, width))
                    store(of_k_, there, add_times(load(of_k_, there, width), slope, plain))
                    store(of_v_, there, add_times(load(of_v_, there, width), weight, pull))
                store(of_q_, at, own)

    return forward, backward

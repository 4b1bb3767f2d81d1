"""Attention along the edges of a graph, without gradients and without anything in memory that grows with the edges."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial

import numba
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from consformer.graph import Graph

Floats = NDArray[np.float32]
Places = NDArray[np.int64]


def attend(q: Tensor, k: Tensor, v: Tensor, graph: Graph) -> Tensor:
    """Softmax attention of [n,R,d] along the graph."""
    out = torch.empty_like(q, memory_format=torch.contiguous_format)
    first, source = graph.first.numpy(), graph.edges[1].numpy()
    work = partial(_attend, *(x.contiguous().numpy() for x in (q, k, v)), out.numpy(), first, source)
    threads = torch.get_num_threads()
    if threads == 1:
        work(0, graph.n)
        return out
    for future in [_workers(threads).submit(work, there.start, there.stop) for there, _ in graph.portions(threads)]:
        future.result()
    return out


@cache
def _workers(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, "attention")


_SIGNATURE = "void(float32[:,:,::1],float32[:,:,::1],float32[:,:,::1],float32[:,:,::1],int64[::1],int64[::1],int64,int64)"


@numba.njit(_SIGNATURE, fastmath={"reassoc", "contract", "arcp", "nsz"}, nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _attend(q: Floats, k: Floats, v: Floats, out: Floats, first: Places, source: Places, begin: int, end: int) -> None:
    """Attention of the variables from `begin` to `end`; the edges to variable i are those from first[i] to first[i+1]."""
    rows, width = q.shape[1], q.shape[2]
    scale = np.float32(1 / math.sqrt(width))
    highest, total = np.empty(rows, np.float32), np.empty(rows, np.float32)
    for i in range(begin, end):
        a = first[i]
        degree = first[i + 1] - a
        share = np.empty((degree, rows), np.float32)
        highest[:] = -np.inf
        total[:] = 0
        out[i] = 0
        for e in range(degree):
            j = source[a + e]
            for r in range(rows):
                dot = np.float32(0)
                for c in range(width):
                    dot += q[i, r, c] * k[j, r, c]
                dot *= scale
                share[e, r] = dot
                highest[r] = max(highest[r], dot)
        for e in range(degree):
            for r in range(rows):
                share[e, r] = math.exp(share[e, r] - highest[r])
                total[r] += share[e, r]
        for e in range(degree):
            j = source[a + e]
            for r in range(rows):
                weight = share[e, r] / total[r]
                for c in range(width):
                    out[i, r, c] += weight * v[j, r, c]

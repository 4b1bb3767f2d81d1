"""Attention along the edges of a graph, without gradients and without anything in memory that grows with the edges."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from consformer.compiled import stamped
from consformer.compiled.vectors import SOURCE, power_of_two
from consformer.graph import Graph

T = TypeVar("T")
Floats = NDArray[np.float32]
Places = NDArray[np.int64]
Marks = NDArray[np.bool_]

FASTMATH = {"reassoc", "contract", "arcp", "nsz"}  # sums in any order; infinities still count


def kernel(signature: Any, *sources: Path) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Compile a function at once, for these types; what is kept on disk depends on `vectors`, on this and on these other files, too."""
    keep = numba.njit(signature, fastmath=FASTMATH, nogil=True, cache=True)
    return lambda function: keep(stamped(SOURCE, Path(__file__), *sources)(function))


def attend(q: Tensor, k: Tensor, v: Tensor, graph: Graph) -> Tensor:
    """Softmax attention of [n,R,d] along the graph."""
    out = torch.empty_like(q, memory_format=torch.contiguous_format)
    first, source = graph.first.numpy(), graph.edges[1].numpy()
    in_portions(graph, partial(_attend, *(x.contiguous().numpy() for x in (q, k, v)), out.numpy(), first, source))
    return out


def in_portions(graph: Graph, work: Callable[[int, int], None]) -> None:
    """Have `work(begin, end)` done for all variables, by as many threads as torch has; returns when all are done."""
    threads = torch.get_num_threads()
    if threads == 1:
        work(0, graph.n)
    else:
        _together([(there.start, there.stop) for there, _ in graph.portions(threads)], work)


def in_parts(count: int, work: Callable[[int, int], None]) -> None:
    """The same for `count` things that take equally long."""
    threads = torch.get_num_threads()
    bounds = [part * count // threads for part in range(threads + 1)]
    _together([(begin, end) for begin, end in pairwise(bounds) if end > begin], work)


def _together(parts: Sequence[tuple[int, int]], work: Callable[[int, int], None]) -> None:
    if len(parts) == 1:
        work(*parts[0])
        return
    for future in [_workers(torch.get_num_threads()).submit(work, *part) for part in parts]:
        future.result()


@cache
def _workers(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, "attention")


_SIGNATURE = "void(float32[:,:,::1],float32[:,:,::1],float32[:,:,::1],float32[:,:,::1],int64[::1],int64[::1],int64,int64)"


@kernel(_SIGNATURE)
def _attend(q: Floats, k: Floats, v: Floats, out: Floats, first: Places, source: Places, begin: int, end: int) -> None:
    """Attention of the variables from `begin` to `end`; the edges to variable i are those from first[i] to first[i+1].

    The loops over the edges are written so that each can work on several of them at once.
    """
    rows, width = q.shape[1], q.shape[2]
    scale = np.float32(1 / (math.log(2) * math.sqrt(width)))
    most = 0
    for i in range(begin, end):
        most = max(most, first[i + 1] - first[i])
    share = np.empty(most, np.float32)
    query, mixed = np.empty(width, np.float32), np.empty(width, np.float32)
    for i in range(begin, end):
        a = first[i]
        degree = first[i + 1] - a
        for r in range(rows):
            for c in range(width):
                query[c] = q[i, r, c] * scale
                mixed[c] = 0
            for e in range(degree):
                j = source[a + e]
                dot = np.float32(0)
                for c in range(width):
                    dot += query[c] * k[j, r, c]
                share[e] = dot
            highest = np.float32(-np.inf)
            for e in range(degree):
                highest = max(highest, share[e])
            for e in range(degree):
                share[e] = power_of_two(share[e] - highest)
            total = np.float32(0)
            for e in range(degree):
                total += share[e]
            for e in range(degree):
                j = source[a + e]
                for c in range(width):
                    mixed[c] += share[e] * v[j, r, c]
            for c in range(width):
                out[i, r, c] = mixed[c] / total

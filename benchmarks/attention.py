"""Where dense and edge-wise attention break even: measures the constant `SPARSE_EDGE_COST` of `consformer.networks.attention`.

python benchmarks/attention.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import torch

from consformer.graph import Graph
from consformer.memory import keep_freed_memory
from consformer.networks.attention import SPARSE_EDGE_COST, DenseLayout, SparseLayout


def milliseconds(run: Callable[[], object], repeat: int = 5) -> float:
    run()
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return 1000 * best


@torch.no_grad()
def main() -> None:
    keep_freed_memory()
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(0)
    print("  n  degree  rows |  dense ms  sparse ms | an edge costs as much as ... pairs")
    costs = []
    cases = [(100, 6, 20), (200, 6, 20), (400, 6, 20), (400, 20, 20), (800, 6, 8), (800, 20, 8), (1600, 6, 4), (1600, 20, 4)]
    for n, degree, rows in cases:
        pairs = torch.randint(n, (2, n * degree // 2), generator=generator)
        graph = Graph.of(n, torch.cat([pairs, pairs.flip(0)], 1))
        q, k, v = (torch.randn(n, rows, 16, generator=generator) for _ in range(3))
        dense, sparse = DenseLayout(graph), SparseLayout(graph)
        slow, fast = milliseconds(partial(dense.attend, q, k, v)), milliseconds(partial(sparse.attend, q, k, v))
        cost = (fast / graph.edges.shape[1]) / (slow / n**2)
        costs.append(cost)
        print(f"{n:>5} {degree:>6} {rows:>5} | {slow:>9.2f} {fast:>10.2f} | {cost:>6.1f}")
    print(f"median {sorted(costs)[len(costs) // 2]:.1f}; the constant in use is {SPARSE_EDGE_COST}")


if __name__ == "__main__":
    main()

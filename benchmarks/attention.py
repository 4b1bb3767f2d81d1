"""Where dense, edge-wise and compiled attention break even: measures the constants of `consformer.networks.attention`.

python benchmarks/attention.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import torch

from consformer.graph import Graph
from consformer.memory import keep_freed_memory
from consformer.networks.attention import COMPILED_EDGE_COST, SPARSE_EDGE_COST, CompiledLayout, DenseLayout, SparseLayout


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
    print("  n  degree  rows |  dense ms  sparse ms  compiled ms | an edge costs as much as ... pairs: sparse, compiled")
    costs: list[tuple[float, float]] = []
    cases = [(100, 6, 20), (200, 6, 20), (400, 6, 20), (400, 20, 20), (800, 6, 8), (800, 20, 8), (1600, 6, 4), (1600, 20, 4)]
    for n, degree, rows in cases:
        pairs = torch.randint(n, (2, n * degree // 2), generator=generator)
        graph = Graph.of(n, torch.cat([pairs, pairs.flip(0)], 1))
        q, k, v = (torch.randn(n, rows, 16, generator=generator) for _ in range(3))
        ways = (DenseLayout(graph), SparseLayout(graph), CompiledLayout(graph))
        dense, sparse, compiled = (milliseconds(partial(way.attend, q, k, v)) for way in ways)
        per_pair = dense / n**2
        costs.append((sparse / graph.edges.shape[1] / per_pair, compiled / graph.edges.shape[1] / per_pair))
        print(f"{n:>5} {degree:>6} {rows:>5} | {dense:>9.2f} {sparse:>10.2f} {compiled:>12.2f} | {costs[-1][0]:>6.1f} {costs[-1][1]:>6.1f}")
    for which, (name, used) in enumerate((("sparse", SPARSE_EDGE_COST), ("compiled", COMPILED_EDGE_COST))):
        print(f"{name}: median {sorted(cost[which] for cost in costs)[len(costs) // 2]:.1f}; the constant in use is {used}")


if __name__ == "__main__":
    main()

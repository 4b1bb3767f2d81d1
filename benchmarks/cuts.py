"""How far annealing between two sides comes, with long annealings only and with short ones, beside D-Wave's.

`python benchmarks/cuts.py [SECONDS]`. Each has one core. Graphs are our own; told is what is cut, so more is better.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from unittest import mock

import numpy as np
from scipy.spatial import Delaunay

from consformer.baselines.cuts import DWaveAnnealing
from consformer.checker import check
from consformer.csp import CSP
from consformer.families import graphs
from consformer.families.maxcut import problem
from consformer.partners import annealings
from consformer.partners.cuts import CutSearch


def sparse(n: int, count: int, rng: np.random.Generator) -> graphs.Edges:
    ends = np.sort(rng.integers(n, size=(2 * count, 2)), axis=1)
    distinct = np.unique(ends[ends[:, 0] < ends[:, 1]], axis=0)
    return rng.permutation(distinct)[:count]


def planar(n: int, rng: np.random.Generator) -> graphs.Edges:
    """Two triangulations of random points, laid over each other."""
    corners = np.concatenate([rng.permutation(n)[Delaunay(rng.random((n, 2))).simplices] for _ in range(2)])
    return np.unique(np.sort(np.concatenate([corners[:, pair] for pair in ([0, 1], [1, 2], [0, 2])]), axis=1), axis=0)


def cases(rng: np.random.Generator) -> dict[str, CSP]:
    shapes = {
        "torus, 20,000 vertices": (20_000, graphs.torus(100, 200), True),
        "sparse, 20,000 vertices, 30,000 edges": (20_000, sparse(20_000, 30_000, rng), False),
        "sparse, 10,000 vertices, 10,000 edges": (10_000, sparse(10_000, 10_000, rng), False),
        "two planar graphs, 7,000 vertices": (7_000, planar(7_000, rng), False),
        "sparse, 5,000 vertices, 12,500 edges": (5_000, sparse(5_000, 12_500, rng), True),
    }
    found = {}
    for name, (n, edges, signed) in shapes.items():
        weights = rng.choice([-1.0, 1.0], len(edges)) if signed else np.ones(len(edges))
        found[name + (", weights of both signs" if signed else "")] = problem(n, edges, weights, {})
    return found


def ours(shares: tuple[float, float]) -> Callable[[CSP, float, int], list[int]]:
    """With such shares for short annealings."""

    def values(csp: CSP, seconds: float, seed: int) -> list[int]:
        with mock.patch.object(annealings, "SHARES", shares):
            search = CutSearch(csp, seed)
            search.run(seconds=seconds)
        return search.best.values

    return values


def dwave(csp: CSP, seconds: float, seed: int) -> list[int]:
    return list(DWaveAnnealing().solve(csp, seconds, seed).values or [0] * csp.n)


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    ways = {"long only": ours((0.0, 0.0)), "long and short": ours(annealings.SHARES), "D-Wave": dwave}
    print(f"{'cut after ' + f'{seconds:g} seconds, means of two seeds':66}" + "".join(f"{name:>16}" for name in ways))
    for name, csp in cases(np.random.default_rng(0)).items():
        line = f"{name:66}"
        for values in ways.values():
            found = [check(csp, values(csp, seconds, seed)).objective or 0.0 for seed in range(2)]
            line += f"{sum(found) / len(found):>16.1f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()

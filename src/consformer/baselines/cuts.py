"""Rivals for MAXCUT: greedy, Goemans and Williamson's semidefinite relaxation, and D-Wave's samplers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consformer.baselines.base import Answer, Rival
from consformer.csp import CSP
from consformer.families.maxcut import cut_value, edges_of

LARGEST_SDP = 1000  # vertices: one step of the solver decomposes a matrix of that size
NEARLY = 0.95  # of the time that is left: what a last round of annealing is made for
LARGEST_TABU = 5000  # vertices: D-Wave's tabu search keeps matrices of that size, a gigabyte then
HYPERPLANES = 1000
ROUNDING = 0.1  # share of the time for drawing hyperplanes


@dataclass(frozen=True)
class GreedyCut(Rival):
    """One vertex after the other goes to the side where it cuts more.

    >>> from consformer.families.maxcut import problem
    >>> list(GreedyCut().solve(problem(3, np.array([[0, 1], [1, 2]]), np.ones(2), {}), 1.0, 0).values)
    [0, 1, 0]
    """

    name: str = "greedy"
    title: str = "greedy"
    package: str = "numpy"
    module: str = "numpy"

    def solve(self, csp: CSP, seconds: float, seed: int) -> Answer:
        edges, weights = edges_of(csp)
        earlier: list[list[tuple[int, float]]] = [[] for _ in range(csp.n)]
        for one, two, weight in zip(edges.min(1).tolist(), edges.max(1).tolist(), weights.tolist(), strict=True):
            earlier[two].append((one, weight))
        sides: list[int] = []
        for neighbours in earlier:
            pull = sum(weight if sides[vertex] else -weight for vertex, weight in neighbours)  # above 0: more weight on side 1
            sides.append(0 if pull >= 0 else 1)
        return Answer(sides)


@dataclass(frozen=True)
class GoemansWilliamson(Rival):
    """The semidefinite relaxation, solved by SCS in its dual form, and the best of many random hyperplanes."""

    name: str = "goemans-williamson"
    title: str = "Goemans–Williamson SDP (SCS)"
    package: str = "scs"
    module: str = "scs"

    def declines(self, csp: CSP) -> str | None:
        return _too_large(csp, LARGEST_SDP)

    def solve(self, csp: CSP, seconds: float, seed: int) -> Answer:
        began = time.perf_counter()
        relaxed = relaxation(csp, seconds * (1 - ROUNDING))
        size, axes = np.linalg.eigh(relaxed)
        vectors = axes * np.sqrt(np.maximum(size, 0.0))  # rows are the vectors of the vertices
        rng = np.random.default_rng(seed)
        best, value, way = None, -np.inf, []
        for _ in range(HYPERPLANES):
            sides = (vectors @ rng.standard_normal(csp.n) > 0).astype(int).tolist()
            found = cut_value(csp, sides)
            if found > value:
                best, value = sides, found
                way.append((time.perf_counter() - began, found))
            if time.perf_counter() - began > seconds:
                break
        return Answer(best, way=tuple(way))


def relaxation(csp: CSP, seconds: float) -> NDArray[np.float64]:
    """The matrix X of the relaxation: the cut is the sum of w (1 - X_ij) / 2, X is semidefinite and its diagonal is 1.

    The sum is a constant less that of W / 4 times X. The dual is to make the sum of y small where Diag(y) + W / 4 is semidefinite: that
    has only one variable per vertex, and X is what SCS gives for its constraint.
    """
    import scs
    from scipy import sparse

    n, (edges, weights) = csp.n, edges_of(csp)
    columns, rows = np.triu_indices(n)  # the lower triangle, column by column, as SCS wants it
    place = np.zeros((n, n), dtype=np.int64)
    place[rows, columns] = np.arange(len(rows))
    diagonal = place[np.arange(n), np.arange(n)]
    target = np.zeros(len(rows))
    target[place[edges.max(1), edges.min(1)]] = weights / 4 * np.sqrt(2)  # of -C, each pair standing for two entries
    matrix = sparse.csc_matrix((-np.ones(n), (diagonal, np.arange(n))), shape=(len(rows), n))
    data: dict[str, Any] = {"A": matrix, "b": target, "c": np.ones(n)}
    found = scs.SCS(data, {"s": [n]}, verbose=False, time_limit_secs=max(seconds, 1e-2), eps_abs=1e-4, eps_rel=1e-4).solve()
    lower = np.nan_to_num(np.asarray(found["y"])) / np.where(rows == columns, 1.0, np.sqrt(2))
    relaxed = np.zeros((n, n))
    relaxed[rows, columns] = relaxed[columns, rows] = lower
    return relaxed


@dataclass(frozen=True)
class DWaveTabu(Rival):
    """D-Wave's multistart tabu search: one read for the whole time."""

    single = True

    name: str = "dwave-tabu"
    title: str = "dwave-samplers tabu (1 thread)"
    package: str = "dwave-samplers"
    module: str = "dwave.samplers"

    def declines(self, csp: CSP) -> str | None:
        return _too_large(csp, LARGEST_TABU)

    def solve(self, csp: CSP, seconds: float, seed: int) -> Answer:
        from dwave.samplers import TabuSampler

        began = time.perf_counter()
        model = ising(csp)
        left = max(seconds - (time.perf_counter() - began), 0.01)
        found = TabuSampler().sample(model, timeout=int(1000 * left), num_reads=1, seed=seed)
        return Answer(sides_of(found))


@dataclass(frozen=True)
class DWaveAnnealing(Rival):
    """D-Wave's simulated annealing, again and again with twice as many sweeps, in the end with as many as there is time for."""

    single = True

    name: str = "dwave-annealing"
    title: str = "dwave-samplers annealing (1 thread)"
    package: str = "dwave-samplers"
    module: str = "dwave.samplers"
    sweeps: int = 250  # of the first round, and the fewest of the last

    def solve(self, csp: CSP, seconds: float, seed: int) -> Answer:
        from dwave.samplers import SimulatedAnnealingSampler

        began = time.perf_counter()
        model, best, value, way = ising(csp), None, -np.inf, []
        sampler, sweeps, turn = SimulatedAnnealingSampler(), self.sweeps, 0
        while turn == 0 or sweeps >= self.sweeps:
            started = time.perf_counter()
            sides = sides_of(sampler.sample(model, num_reads=1, num_sweeps=sweeps, seed=seed + turn))
            now = time.perf_counter()
            found = cut_value(csp, sides)
            if found > value:
                best, value = sides, found
                way.append((now - began, found))
            sweeps = min(2 * sweeps, int(NEARLY * (seconds - (now - began)) * sweeps / (now - started)))
            turn += 1
        return Answer(best, way=tuple(way))


def ising(csp: CSP) -> Any:
    """The energy whose minimum is the largest cut."""
    import dimod

    edges, weights = edges_of(csp)
    return dimod.BinaryQuadraticModel.from_numpy_vectors(np.zeros(csp.n), (edges[:, 0], edges[:, 1], weights), 0.0, dimod.SPIN)


def sides_of(samples: Any) -> list[int]:
    """The best sample as sides, by vertex."""
    best = samples.first.sample
    return [int(best[vertex] > 0) for vertex in range(len(best))]


def _too_large(csp: CSP, largest: int) -> str | None:
    return f"not run: more than {largest:,} vertices" if csp.n > largest else None

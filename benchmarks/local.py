"""How fast local search moves, on one core, compiled and not, and how far it comes: `python benchmarks/local.py [SECONDS]`.

Of two lines for a problem the first is the search that is taken there, the second the one on the general table. Speeds are moves per
second of processor time. A graph of 200 vertices and density 0.17 is coloured with 9 colours, which are too few, so that the search does
not end; cuts are of random graphs of the shapes of G1, G22 and G81 of Gset.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from consformer import families
from consformer.csp import CSP
from consformer.families import graphs
from consformer.families.coloring import problem as coloring
from consformer.families.maxcut import problem as maxcut
from consformer.hybrid.parts import searcher
from consformer.partners.local import LocalSearch
from consformer.partners.sliced import SlicedSearch


def random_edges(n: int, count: int, rng: np.random.Generator) -> graphs.Edges:
    left, right = np.triu_indices(n, 1)
    chosen = rng.choice(len(left), count, replace=False)
    return np.stack([left[chosen], right[chosen]], 1)


def cases(rng: np.random.Generator) -> dict[str, CSP]:
    graph, torus = random_edges(200, 3383, rng), graphs.torus(100, 200)
    return {
        "200 vertices, 10 colours": coloring(200, graph, 10, {}),
        "200 vertices, 9 colours": coloring(200, graph, 9, {}),
        "sudoku": families.get("sudoku").generate(rng, 1, {"unique": True, "givens": (24, 28)})[0],
        "cut, 800 vertices, 19176 edges": maxcut(800, random_edges(800, 19176, rng), np.ones(19176), {}),
        "cut, 2000 vertices, 19990 edges": maxcut(2000, random_edges(2000, 19990, rng), np.ones(19990), {}),
        "cut, torus of 20000, signed": maxcut(20_000, torus, rng.choice([-1.0, 1.0], len(torus)), {}),
    }


def speed(search: SlicedSearch, seconds: float, at_once: int) -> float:
    """Moves per second of processor time."""
    start, before = time.process_time(), search.moves
    while (spent := time.process_time() - start) < seconds and not search.over:
        search.run(moves=at_once)
    return (search.moves - before) / max(spent, 1e-9)


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    print(f"{'problem':34} {'search':14} {'moves/s':>11} {'plain/s':>8} {'violations':>10} {'objective':>10}")
    for name, csp in cases(np.random.default_rng(0)).items():
        for kind in (searcher(csp), LocalSearch):
            search = kind(csp, 0)
            fast, slow = speed(search, seconds, 2_000), speed(kind(csp, 0, compiled=False), 1.0, 100)
            best = search.best
            objective = csp.offset - best.cost if csp.maximise else best.cost
            print(f"{name:34} {kind.__name__:14} {fast:>11.0f} {slow:>8.0f} {best.violations:>10} {objective:>10g}", flush=True)


if __name__ == "__main__":
    main()

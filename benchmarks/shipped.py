"""What the shipped network reaches on fresh instances, and, with --write, puts the figures into its file.

python benchmarks/shipped.py [--network NAME_OR_FILE] [--quick] [--write]

The instances come from seeds that neither training nor validation uses. Which graphs can be coloured at all is decided by CP-SAT.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from consformer import datasets
from consformer.baselines.cpsat import solve_cpsat
from consformer.csp import CSP
from consformer.evaluation import interval
from consformer.machine import commit
from consformer.memory import keep_freed_memory
from consformer.solving import solve
from consformer.training.checkpoint import load_network, save_network

TEST_SEED = 20_261_115


def measure(network: str, problems: list[CSP], iterations: int) -> tuple[list[bool], float]:
    """Who was solved (by the checker's word), and the seconds it took for all together."""
    start = time.perf_counter()
    results = solve(problems, network=network, iterations=iterations)
    return [result.solved for result in results], time.perf_counter() - start


def colourable(problems: list[CSP], seconds: float) -> list[bool]:
    return [solve_cpsat(problem, time_limit=seconds, workers=2).status == "solved" for problem in problems]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", default="any")
    parser.add_argument("--quick", action="store_true", help="a tenth of the instances")
    parser.add_argument("--write", action="store_true", help="put the figures into the shipped network's file")
    options = parser.parse_args()
    keep_freed_memory()
    network, card = load_network(options.network)
    scale = 10 if options.quick else 1
    boards: dict[str, Any] = {"box": 3}
    unique = boards | {"unique": True}
    sets: list[tuple[str, str, int, dict[str, Any], int]] = [
        ("Sudoku, 31-42 random givens", "sudoku", 500, boards | {"givens": [31, 42]}, 200),
        ("Sudoku, 31-42 givens, one solution", "sudoku", 500, unique | {"givens": [31, 42]}, 200),
        ("Sudoku, 24-30 givens, one solution", "sudoku", 200, unique | {"givens": [24, 30]}, 200),
        ("colouring-5, 50 vertices, the colourable ones", "coloring", 200, {"vertices": [50, 50], "colors": [5, 5]}, 500),
        ("colouring-5, 100 vertices, the colourable ones", "coloring", 100, {"vertices": [100, 100], "colors": [5, 5]}, 500),
        ("colouring-10, 100 vertices, the colourable ones", "coloring", 50, {"vertices": [100, 100], "colors": [10, 10]}, 500),
    ]
    rows = []
    for offset, (name, family, count, params, iterations) in enumerate(sets):
        problems = datasets.load(family, count // scale, TEST_SEED + offset, params)
        solved, seconds = measure(options.network, problems, iterations)
        if family == "coloring":
            possible = [a or b for a, b in zip(solved, colourable(problems, 10.0), strict=True)]
            solved = [found for found, known in zip(solved, possible, strict=True) if known]
        low, high = interval(sum(solved), len(solved))
        share = f"{100 * sum(solved) / max(1, len(solved)):.1f} %"
        bounds = f"[{100 * low:.1f}, {100 * high:.1f}]"
        print(f"{name}: {sum(solved)} of {len(solved)} = {share} {bounds} in {iterations} iterations, {seconds:.0f} s in all", flush=True)
        rows.append(
            {
                "set": name,
                "solved": sum(solved),
                "count": len(solved),
                "share": share,
                "interval": [round(low, 4), round(high, 4)],
                "iterations": iterations,
                "command": "python benchmarks/shipped.py",
                "date": datetime.now(UTC).date().isoformat(),
                "commit": commit(),
            }
        )
    if options.write:
        path = Path(__file__).parents[1] / "src/consformer/weights" / f"{card.name}.safetensors"
        save_network(path, network, replace(card, results={**card.results, "measured": rows}))
        print(f"written to {path.name}")


if __name__ == "__main__":
    main()

"""How fast random problems are drawn, on one core: `python benchmarks/generation.py`.

Prints milliseconds of processor time per problem (the best of several batches: other work on the machine counts little) and the inverse.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch

from consformer import families

CASES: list[tuple[str, dict[str, Any], int]] = [
    ("sudoku", {}, 32),
    ("sudoku", {"box": 2}, 32),
    ("sudoku", {"box": 4}, 16),
    ("sudoku", {"box": 5}, 16),
    ("sudoku", {"unique": True}, 8),
    ("sudoku", {"unique": True, "givens": (24, 28)}, 4),
    ("sudoku", {"unique": True, "box": 4}, 2),
    ("coloring", {}, 32),
    ("coloring", {"vertices": 100}, 32),
    ("coloring", {"vertices": 100, "colors": 10}, 32),
    ("coloring", {"vertices": 200, "colors": 10}, 16),
    ("coloring", {"vertices": (20, 60), "colors": (3, 8), "filter": False}, 32),
    ("nurse", {}, 32),
    ("nurse", {"days": 20}, 32),
    ("maxcut", {}, 32),
    ("maxcut", {"kinds": ("er", "ba", "regular", "geo", "torus"), "weights": "signed"}, 32),
]


def seconds_per_problem(name: str, params: dict[str, Any], batch: int, batches: int = 15) -> float:
    """Processor time of the best of several batches."""
    family, rng = families.get(name), np.random.default_rng(0)
    family.generate(rng, 2, params)  # fills caches
    best = float("inf")
    for _ in range(batches):
        start = time.process_time()
        family.generate(rng, batch, params)
        best = min(best, time.process_time() - start)
    return best / batch


def main() -> None:
    torch.set_num_threads(1)
    print(f"{'family':10} {'ms each':>9} {'per s':>8}  parameters (batch)")
    for name, params, batch in CASES:
        seconds = seconds_per_problem(name, params, batch)
        shown = ", ".join(f"{key}={value}" for key, value in params.items()) or "default"
        print(f"{name:10} {seconds * 1e3:9.3f} {1 / seconds:8.0f}  {shown} ({batch})")


if __name__ == "__main__":
    main()

"""What selection and restarts bring: each setting on the same problems, as solved and violations left.

    python benchmarks/selection.py coloring any --settings select=worst select=bandit restarts=elite

Limits are iterations or processor seconds of each problem, not seconds by the clock: other work on the machine then changes nothing.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import torch

from consformer import families, refine
from consformer.csp import CSP
from consformer.memory import keep_freed_memory
from consformer.result import Result
from consformer.search.select import SELECTORS

SEED = 20_261_117  # of the problems, which no training and no evaluation set uses
SETS: dict[str, tuple[str, dict[str, Any]]] = {
    "coloring": ("coloring", {"vertices": [200, 200], "colors": [10, 10], "kinds": ["er"]}),
    "sudoku": ("sudoku", {"givens": [24, 28], "unique": True}),
}
SETTINGS = [
    "",
    *(f"select={name}" for name in SELECTORS),
    "restarts=elite",
    "restarts=cross",
    "restarts=mixed",
    "patience=luby",
    "patience=adaptive",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", choices=list(SETS))
    parser.add_argument("network")
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=5.0, help="processor seconds of each problem, solved one by one")
    parser.add_argument("--iterations", type=int, help="instead of seconds; all problems together")
    parser.add_argument("--settings", nargs="*", default=SETTINGS, help='such as select=worst,seed=1; "" is the network\'s own')
    asked = parser.parse_args()
    torch.set_num_threads(1)
    keep_freed_memory()
    family, params = SETS[asked.problems]
    problems = families.get(family).generate(np.random.default_rng(SEED), asked.count, params)
    for setting in asked.settings:
        pairs = [pair.split("=", 1) for pair in setting.split(",") if pair]
        options: dict[str, Any] = {name: int(value) if value.isdigit() else value for name, value in pairs}
        began = time.process_time()
        if asked.iterations is None:
            results = [solve(csp, asked.seconds, network=asked.network, **options) for csp in problems]
        else:
            run = refine(problems, network=asked.network, iterations=asked.iterations, **options)
            for _event in run:
                pass
            results = run.results()
        report(setting, results, time.process_time() - began)


def solve(csp: CSP, seconds: float, **options: Any) -> Result:
    """One problem for so many seconds of the processor."""
    run = refine([csp], iterations=1_000_000, **options)
    end = time.process_time() + seconds
    for _event in run:
        if time.process_time() >= end:
            break
    return run.results()[0]


def report(setting: str, results: list[Result], seconds: float) -> None:
    solved, violations = sum(result.solved for result in results), sum(result.violations for result in results)
    iterations = sum(result.effort.iterations for result in results)
    line = (
        f"{setting or '(as it is)':<24} {solved:>3} of {len(results)} solved, {violations:>4} violations left, {iterations:>7} iterations, "
    )
    print(f"{line}{seconds:6.1f} s", flush=True)
    names = list(results[0].effort.strategies)
    counts = {name: [sum(r.effort.strategies[name][what] for r in results) for what in ("used", "paid")] for name in names}
    if counts:
        print("    " + ", ".join(f"{name} paid {paid} of {used}" for name, (used, paid) in counts.items()), flush=True)


if __name__ == "__main__":
    main()

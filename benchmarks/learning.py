"""What training runs reached after how much computing: a table at 10, 30 and 60 core-minutes, and a plot.

consformer train strict-sudoku -o runs/ours
consformer train paper-sudoku -o runs/paper --minutes 60
python benchmarks/learning.py runs/ours runs/paper --plot learning.svg

Figures are the validation of each run: see its recipe for the problems and the iterations.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from consformer.training.checkpoint import told

MARKS = (10, 30, 60)  # core-minutes

Curve = list[tuple[float, dict[str, float]]]  # core-minutes, and what was reached on each validation set


def curve(run: Path) -> Curve:
    lines = (json.loads(line) for line in (run / "log.jsonl").read_text().splitlines())
    return [(line["core_minutes"], line["solved"]) for line in lines if line.get("solved")]


def reached(points: Curve, minutes: float) -> dict[str, float]:
    """The last validation until then."""
    return max((point for point in points if point[0] <= minutes), key=lambda point: point[0], default=(0.0, {}))[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, help="output folders of `consformer train`")
    parser.add_argument("--family", help="draw only validation sets of this family")
    parser.add_argument("--plot", type=Path, help="draw the curves to this file (.png, .svg, .pdf)")
    options = parser.parse_args()
    curves = {run.name: curve(run) for run in options.runs}
    for name, points in curves.items():
        if not points:
            print(f"{name}: not validated yet")
            continue
        for minutes in [mark for mark in MARKS if mark < points[-1][0]]:
            print(f"{name} after {minutes} core-minutes: {', '.join(told(*item) for item in reached(points, minutes).items())}")
        print(f"{name} after {points[-1][0]:.0f} core-minutes, its end: {', '.join(told(*item) for item in points[-1][1].items())}")
    if options.plot is not None:
        draw(curves, options.family, options.plot)


def draw(curves: dict[str, Curve], family: str | None, path: Path) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for name, points in curves.items():
        for problems in points[0][1] if points else []:
            if family is None or problems.startswith(f"{family}/"):
                shares = [100 * solved.get(problems, 0.0) for _, solved in points]
                axes.plot([minutes for minutes, _ in points], shares, marker="o", markersize=3, label=f"{name}: {problems}")
    axes.set_xlabel("core-minutes of training")
    axes.set_ylabel("% of the validation set")
    axes.set_ylim(0, 101)
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.savefig(path)


if __name__ == "__main__":
    main()

"""What training runs reached after how much computing: a table at 10, 30 and 60 core-minutes, and a plot.

consformer train strict-sudoku
consformer train paper-sudoku --minutes 60
python benchmarks/learning.py runs/strict-sudoku runs/paper-sudoku --keep benchmarks/learning --plot learning.svg
python benchmarks/learning.py benchmarks/learning/*.jsonl --markdown

Figures are the validation of each run: see its recipe for the problems and the iterations. What `--keep` keeps are the validations only.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from consformer.training.checkpoint import told

MARKS = (10, 30, 60)  # core-minutes

Curve = list[tuple[float, dict[str, float]]]  # core-minutes, and what was reached on each validation set


def validations(run: Path) -> list[dict[str, Any]]:
    """The lines of a run's log that tell of a validation; of a folder, or of a file that was kept."""
    log = run / "log.jsonl" if run.is_dir() else run
    return [line for line in map(json.loads, log.read_text().splitlines()) if line.get("solved")]


def curve(lines: list[dict[str, Any]]) -> Curve:
    return [(line["core_minutes"], line["solved"]) for line in lines]


def keep(lines: list[dict[str, Any]], path: Path) -> None:
    kept = [{name: line[name] for name in ("step", "steps", "core_minutes", "solved", "time")} for line in lines]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in kept))


def reached(points: Curve, minutes: float) -> dict[str, float]:
    """The last validation until then."""
    return max((point for point in points if point[0] <= minutes), key=lambda point: point[0], default=(0.0, {}))[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, help="output folders of `consformer train`, or files that were kept of them")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the validations of each run there")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--family", help="draw only validation sets of this family")
    parser.add_argument("--plot", type=Path, help="draw the curves to this file (.png, .svg, .pdf)")
    options = parser.parse_args()
    runs = {run.stem: validations(run) for run in options.runs}
    curves = {name: curve(lines) for name, lines in runs.items()}
    if options.keep is not None:
        for name, lines in runs.items():
            keep(lines, options.keep / f"{name}.jsonl")
    print(markdown(curves) if options.markdown else plain(curves))
    if options.plot is not None:
        draw(curves, options.family, options.plot)


def plain(curves: dict[str, Curve]) -> str:
    told_of = []
    for name, points in curves.items():
        if not points:
            told_of.append(f"{name}: not validated yet")
            continue
        for minutes in [mark for mark in MARKS if mark < points[-1][0]]:
            told_of.append(f"{name} after {minutes} core-minutes: {reached_by(points, minutes)}")
        told_of.append(f"{name} after {points[-1][0]:.0f} core-minutes, its end: {reached_by(points, points[-1][0])}")
    return "\n".join(told_of)


def markdown(curves: dict[str, Curve]) -> str:
    head = ["network", *(f"{mark} core-minutes" for mark in MARKS), "its end"]
    rows = [head, ["---"] * len(head)]
    for name, points in curves.items():
        end = points[-1][0] if points else 0.0
        marks = [reached_by(points, mark) if mark < end else "" for mark in MARKS]
        rows.append([f"`{name}`", *marks, f"{reached_by(points, end)} ({end:.0f} core-minutes)" if points else "not validated yet"])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def reached_by(points: Curve, minutes: float) -> str:
    return ", ".join(told(*item) for item in reached(points, minutes).items())


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
    axes.set_xlim(left=0)
    axes.set_ylim(0, 101)
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.savefig(path)


if __name__ == "__main__":
    main()

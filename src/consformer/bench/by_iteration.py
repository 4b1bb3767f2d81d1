"""What a network solves within so many iterations: problems refined together, many at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from consformer.bench.base import Row, Rows
from consformer.bench.figures import logarithmic, share_curve
from consformer.csp import CSP
from consformer.result import Result
from consformer.solving import refine

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NEVER = 10**9  # iterations until a restart


def refined(problems: Sequence[CSP], first: int, network: str, iterations: int, settings: Mapping[str, Any]) -> list[Row]:
    """A row for each problem, the first of which has this index in its set; judged by the checker. Cuts have an objective, too."""
    run = refine(problems, network=network, iterations=iterations, **settings)
    for _event in run:
        pass
    return [_row(first + place, result) for place, result in enumerate(run.results())]


def _row(index: int, result: Result) -> Row:
    row = {"index": index, "solved": result.solved, "violations": result.violations, "iterations": result.effort.iterations}
    return row | ({"objective": result.objective} if result.csp.soft_weight else {})


def within(rows: Rows, iterations: int) -> int:
    """How many were solved in so many iterations.

    >>> within([{"solved": True, "iterations": 3}, {"solved": True, "iterations": 9}, {"solved": False, "iterations": 2}], 5)
    1
    """
    return sum(row["solved"] and row["iterations"] <= iterations for row in rows)


def draw_curve(axes: Axes, rows: Rows, iterations: int, *, label: str, color: str) -> None:
    """The share solved over iterations; what was solved by the random start is drawn at the first."""
    share_curve(axes, [row["iterations"] for row in rows if row["solved"]], len(rows), iterations, label=label, color=color, first=1)


def dress(axes: Axes, iterations: int, title: str) -> None:
    """Axes of such curves."""
    from matplotlib.ticker import PercentFormatter

    logarithmic(axes, "iterations", 1, iterations)
    axes.set_ylim(0, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_title(title, fontsize=10)

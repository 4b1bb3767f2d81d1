"""What the rows of an evaluation say: shares solved with confidence intervals, gaps to the best known, and a plot of both."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from consformer.evaluation.run import Row
from consformer.plots import new_figure

SIZES = (1000, 2000, 3000)  # gaps are averaged in groups of problems with fewer variables than these, and the rest


def interval(solved: int, count: int) -> tuple[float, float]:
    """95 % Wilson score interval of a share.

    >>> low, high = interval(95, 100)
    >>> round(low, 3), round(high, 3)
    (0.888, 0.978)
    """
    if count == 0:
        return 0.0, 1.0
    z, share = 1.96, solved / count
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    return max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half))


@dataclass(frozen=True)
class Share:
    """How many were solved by some mark."""

    mark: float
    solved: int
    count: int

    @property
    def share(self) -> float:
        return self.solved / self.count if self.count else 0.0

    @property
    def bounds(self) -> tuple[float, float]:
        return interval(self.solved, self.count)

    def __str__(self) -> str:
        low, high = self.bounds
        return f"{self.solved} of {self.count} = {100 * self.share:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


@dataclass(frozen=True)
class Summary:
    """The figures of an evaluation."""

    rows: Sequence[Row]
    timed: bool  # problems were solved one by one, so their seconds mean something

    @property
    def total(self) -> Share:
        return Share(math.inf, sum(row.solved for row in self.rows), len(self.rows))

    def by_iteration(self) -> list[Share]:
        return self._by(lambda row: row.iterations, 1.0)

    def by_second(self) -> list[Share]:
        return self._by(lambda row: row.seconds, 0.01)

    def cpsat(self) -> Share | None:
        """What CP-SAT solved of the same problems."""
        found = [row.cpsat["status"] in ("solved", "optimal", "feasible") for row in self.rows if row.cpsat is not None]
        return Share(math.inf, sum(found), len(found)) if found else None

    def against_cpsat(self) -> float | None:
        """Solved over solved by CP-SAT."""
        rival = self.cpsat()
        return self.total.solved / rival.solved if rival is not None and rival.solved else None

    def gaps(self) -> Iterator[tuple[str, int, float]]:
        """Gap in per cent for each group of sizes, apart for problems with negative weights: name, problems, mean gap over mean best."""
        edges = [0, *SIZES, 10**9]
        for signed, (low, high) in itertools.product((False, True), itertools.pairwise(edges)):
            rows = [row for row in self.rows if row.signed == signed and low <= row.variables < high]
            pairs = [(row.best, row.objective) for row in rows if row.best is not None and row.objective is not None]
            if pairs:
                name = f"{low} to {high - 1} variables" if high < 10**9 else f"{low} variables and more"
                gap = 100 * sum(abs(best - found) for best, found in pairs) / sum(abs(best) for best, _ in pairs)
                yield name + (", negative weights too" if signed else ""), len(pairs), gap

    def to_json(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        total, rival = self.total, self.cpsat()
        return {
            "solved": total.solved,
            "count": total.count,
            "share": total.share,
            "interval": total.bounds,
            "by_iteration": [[share.mark, share.solved] for share in self.by_iteration()],
            "by_second": [[share.mark, share.solved] for share in self.by_second()] if self.timed else None,
            "cpsat": None if rival is None else {"solved": rival.solved, "ratio": self.against_cpsat()},
            "gaps": [{"group": name, "count": count, "percent": gap} for name, count, gap in self.gaps()],
        }

    def _by(self, cost: Callable[[Row], float], first: float) -> list[Share]:
        """The share solved at marks 1, 2, 5, 10, ... times `first`, as far as rows reach."""
        costs = sorted(cost(row) for row in self.rows if row.solved)
        end = max((cost(row) for row in self.rows), default=0)
        return [Share(mark, sum(spent <= mark for spent in costs), len(self.rows)) for mark in _marks(first, end)]


def _marks(first: float, end: float) -> Iterator[float]:
    scale = first
    while True:
        for step in (1, 2, 5):
            yield round(scale * step, 10)
            if scale * step >= end:
                return
        scale *= 10


def plot(summary: Summary, title: str, path: Path) -> None:
    """Draw the share solved over iterations, and over seconds where they mean something."""
    rows = summary.rows
    panels: list[tuple[str, list[float], list[float]]] = [
        ("iterations", [row.iterations for row in rows if row.solved], []),
    ]
    if summary.timed:
        rivals = [row.cpsat["seconds"] for row in rows if row.cpsat and row.cpsat["status"] in ("solved", "optimal", "feasible")]
        panels.append(("seconds", [row.seconds for row in rows if row.solved], rivals))
    figure = new_figure((5.5 * len(panels), 3.8))
    for place, (unit, costs, rivals) in enumerate(panels):
        axes = figure.add_subplot(1, len(panels), place + 1)
        for name, found, colour in (("network", costs, "tab:blue"), ("CP-SAT, 2 workers", rivals, "tab:orange")):
            if not found:
                continue
            xs = sorted(max(cost, 1 if unit == "iterations" else 0.001) for cost in found)
            shares = [(i + 1) / len(rows) for i in range(len(xs))]
            lows, highs = zip(*(interval(i + 1, len(rows)) for i in range(len(xs))), strict=True)
            axes.step(xs, shares, where="post", color=colour, label=name)
            axes.fill_between(xs, lows, highs, step="post", alpha=0.2, color=colour, linewidth=0)
        axes.set_xscale("log")
        axes.set_ylim(0, 1.02)
        axes.set_xlabel(unit)
        axes.set_ylabel("share solved")
        axes.grid(alpha=0.3)
        if rivals:
            axes.legend()
    figure.suptitle(title)
    figure.savefig(path, dpi=150)

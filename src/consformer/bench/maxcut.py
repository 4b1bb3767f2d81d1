"""MAXCUT on Gset: gaps to the best known cuts by size of the graph, and over time."""

from __future__ import annotations

import bisect
import math
import statistics
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from consformer.baselines import CPSAT, CUTTING
from consformer.bench.base import About, Plot, Rows
from consformer.bench.comparison import Comparison, circumstances, gap_percent, of, shown, trouble
from consformer.bench.figures import colour, labelled, legend_below, logarithmic
from consformer.bench.tables import Cell, Fixed, Table
from consformer.bench.ways import HYBRID, LOCAL, NETWORK, Way
from consformer.evaluation.summary import SIZES

GROUPS = ("|V| = 800", "|V| = 1,000", "|V| = 2,000", "|V| ≥ 3,000")  # as Gset has them
EDGES = (0, *SIZES, 10**9)
COLUMNS = tuple(f"{name}: gap %" for name in GROUPS)
PUBLISHED = {
    "greedy": ("5.26", "6.64", "6.81", "6.30"),
    "SDP (Goemans–Williamson)": ("3.14", "4.24", None, None),
    "OR-Tools (CP-SAT)": ("1.84", "2.09", "3.38", "3.08"),
    "RUNCSP": ("2.38", "2.90", "3.30", "3.26"),
    "ECO-DQN": ("0.83", "1.01", "1.45", "3.49"),
    "ECORD": ("0.11", "0.16", "0.36", "1.53"),
    "ANYCSP": ("0.02", "0.05", "0.12", "0.42"),
    "the paper's network": ("0.31", "0.34", "0.43", "1.27"),
}
SMALLEST = 0.005  # per cent: the bottom of the picture, where gaps of 0 are drawn
DRAWN = 120  # points in time at which gaps are drawn


class MaxcutBench(Comparison):
    """Graphs with weights of one sign and of both are told apart, as the paper has the former only."""

    name = "maxcut"
    heading = "MAXCUT on Gset"
    place = 40
    command = "consformer bench maxcut --graphs gset/graphs --best-known gset/best_known.csv"
    ways = {
        way.name: way for way in (HYBRID, NETWORK, LOCAL, Way("cpsat", rival=CPSAT), *(Way(r.name, rival=r) for r in CUTTING if r != CPSAT))
    }

    @classmethod
    def tables(cls, about: About, rows: Rows) -> list[Table]:
        """One for unit weights and one for weights of both signs; what was published, which is of the former, has its own."""
        if not rows:
            return []
        published = Table(
            "Published, unit weights",
            ("", *COLUMNS),
            tuple((title, *figures) for title, figures in PUBLISHED.items()),
            "By the paper, with 180 s on its machine, and by those it cites; not measured here.",
        )
        return [*(_table(about, own, signed) for signed in (False, True) if (own := of(rows, signed=signed))), published]

    @classmethod
    def plots(cls, about: About, rows: Rows) -> list[Plot]:
        own = [row for row in rows if row["objective"] is not None and row.get("best")]
        if not own:
            return []
        title = "MAXCUT on Gset: gap to the best known cut over time"
        return [Plot("maxcut", title, lambda figure: _draw(figure, about, own), (8.5, 4.8))]


def _table(about: About, rows: Rows, signed: bool) -> Table:
    body: list[tuple[Cell, ...]] = []
    for variant in shown(rows, MaxcutBench.ways):
        own = of(rows, variant=variant)
        gaps = [gap_percent(group) for group in _groups(own)]
        body.append((MaxcutBench.way(variant).label, *(None if gap is None else Fixed(gap, 3) for gap in gaps), trouble(own) or None))
    groups = [(name, {row["label"] for row in group}) for name, group in zip(GROUPS, _groups(rows), strict=True)]
    counts = ", ".join(f"{len(labels)} with {name}" for name, labels in groups if labels)
    caption = f"{circumstances(about)} Gap: mean distance to the best known cut over the mean best known cut. Graphs: {counts}."
    return Table("Weights of both signs" if signed else "Unit weights", ("", *COLUMNS, "notes"), tuple(body), caption)


def _groups(rows: Rows) -> list[Rows]:
    return [[row for row in rows if low <= row["variables"] < high] for low, high in pairwise(EDGES)]


def gap_at(row: Mapping[str, Any], seconds: float) -> float | None:
    """The gap in per cent of what had been found by then.

    >>> gap_at({"best": 100, "objective": 99, "seconds": 3.0, "way": [[1.0, 90]]}, 2.0)
    10.0
    """
    way = [*row.get("way", ()), [row["seconds"], row["objective"]]]
    place = bisect.bisect_right([when for when, _ in way], seconds)
    if place == 0:
        return None
    best = row["best"]
    return 100 * abs(best - max(found for _, found in way[:place])) / abs(best)


def _draw(figure: Any, about: About, rows: Rows) -> None:
    axes = figure.add_subplot()
    end = about["seconds"]
    variants = shown(rows, MaxcutBench.ways)
    times = [end * 10 ** (-3 * (1 - point / DRAWN)) for point in range(DRAWN + 1)]
    for variant in variants:
        own, color, label = of(rows, variant=variant), colour(variant, variants), MaxcutBench.way(variant).label
        curve = [(seconds, spread) for seconds in times if (spread := _spread(own, seconds)) is not None]
        if any(row.get("way") for row in own) and curve:
            low, middle, high = ([max(spread[place], SMALLEST) for _, spread in curve] for place in range(3))
            xs = [seconds for seconds, _ in curve]
            axes.plot(xs, middle, color=color, label=label, linewidth=1.7)
            axes.fill_between(xs, low, high, color=color, alpha=0.1, linewidth=0)
        elif (ended := _spread(own, math.inf)) is not None:  # it tells only what it ended with, or was never early enough
            when = statistics.median(row["seconds"] for row in own)
            axes.plot([min(max(when, times[0]), end)], [max(ended[1], SMALLEST)], "D", color=color, label=label, markersize=7)
    logarithmic(axes, "seconds", times[0], end * 1.05)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_ylabel("mean gap, % (band: middle half of the graphs)")
    legend_below(figure, labelled(axes))


def _spread(rows: Rows, seconds: float) -> tuple[float, float, float] | None:
    """Lower quartile, mean and upper quartile of the gaps at a time; none until all graphs have one."""
    gaps: Sequence[float] = [gap for row in rows if (gap := gap_at(row, seconds)) is not None]
    if len(gaps) < len(rows):
        return None
    if len(gaps) == 1:
        return gaps[0], gaps[0], gaps[0]
    low, _, high = statistics.quantiles(gaps, n=4, method="inclusive")
    return low, statistics.fmean(gaps), high

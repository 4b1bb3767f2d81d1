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
from consformer.bench.comparison import ABSENT, Comparison, circumstances, counts, fewer, gap_cell, of, shown, trouble
from consformer.bench.figures import BAND, colour, grid, labelled, legend_below, logarithmic, size_of
from consformer.bench.tables import Cell, Table
from consformer.bench.ways import HYBRID, LOCAL, NETWORK, Way
from consformer.csp import CSP
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
AMBIGUOUS = "G23"  # two graphs of this name are in use, with other best cuts
SMALLEST, LARGEST = 0.004, 20.0  # per cent: the bottom of the picture, where gaps of 0 are drawn, and the top
TICKS = {SMALLEST: "0", **{10.0**power: f"{10.0**power:g}" for power in (-2, -1, 0, 1)}}
EARLIEST = 1e-4  # of the time limit: where pictures begin
DRAWN = 120  # points in time at which gaps are drawn
LARGE = 2000  # vertices: graphs from here on have a panel of their own


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
    def asked(cls, about: About, rows: Rows) -> str:
        """Graphs with weights of one sign and of both are asked for apart, so that the command takes the graphs that were measured."""
        signs = [own for signed in (False, True) if (own := of(rows, signed=signed))]
        return " && ".join(super(MaxcutBench, cls).asked(about, own) for own in signs)

    @classmethod
    def command_for(cls, rows: Rows, sets: Sequence[str]) -> str:
        return f"{cls.command} --where weights={'+-1' if rows[0]['signed'] else '+1'}"

    @staticmethod
    def group(csp: CSP) -> int:
        """Which of the sizes that tables tell apart."""
        return bisect.bisect_right(EDGES, csp.n)

    @classmethod
    def tables(cls, about: About, rows: Rows) -> list[Table]:
        """One for unit weights and one for weights of both signs; what was published, which is of the former, has its own."""
        if not rows:
            return []
        published = Table(
            "Published, unit weights",
            ("", *COLUMNS),
            tuple((title, *figures) for title, figures in PUBLISHED.items()),
            "By the paper, with 20 runs of 180 s side by side on its machine, and by those it cites; ours above is one run. Not measured "
            "here.",
        )
        return [*(_table(about, own, signed) for signed in (False, True) if (own := of(rows, signed=signed))), published]

    @classmethod
    def plots(cls, about: About, rows: Rows) -> list[Plot]:
        """Panels apart by size and by sign: solvers that decline large graphs are not compared by small ones with others on all."""
        own = [row for row in rows if row["objective"] is not None and row.get("best")]
        panels = {
            f"{'both signs' if signed else 'unit weights'}, {size}": chosen
            for signed in (False, True)
            for size, low, high in (("up to 1,000 vertices", 0, LARGE), ("2,000 vertices and more", LARGE, 10**9))
            if (chosen := [row for row in of(own, signed=signed) if low <= row["variables"] < high])
        }
        if not panels:
            return []
        title = "MAXCUT on Gset: mean gap to the best known cut over time (bands: the middle half of the graphs)"
        width, height = size_of(len(panels))
        return [Plot("maxcut", title, lambda figure: _draw(figure, about, panels), (max(width, 8.5), height + 0.8))]


def _table(about: About, rows: Rows, signed: bool) -> Table:
    body: list[tuple[Cell, ...]] = []
    for variant in shown(rows, MaxcutBench.ways):
        own = of(rows, variant=variant)
        body.append((MaxcutBench.way(variant).label, *map(gap_cell, _groups(own)), _notes(own, rows)))
    caption = (
        f"{counts(dict(zip(GROUPS, _groups(rows), strict=True)), 'Graphs')} {circumstances(about, rows)} Gap: mean distance to the best "
        "known cut over the mean best known cut; in brackets those of the best and the worst of the graphs."
    )
    return Table("Weights of both signs" if signed else "Unit weights", ("", *COLUMNS, "notes"), tuple(body), caption)


def _notes(own: Rows, rows: Rows) -> str | None:
    """How much is missing, and what went wrong; in a group of which all were declined nothing is compared."""
    there = [row for row in own if row["status"] not in ABSENT]
    groups = zip(GROUPS, _groups(there), _groups(rows), strict=True)
    missing = {name: fewer(mine, theirs, "graphs") for name, mine, theirs in groups if mine or not of(own, status="declined")}
    few = ", ".join(f"{name}: {told}" for name, told in missing.items() if told)
    return "; ".join(filter(None, (few, trouble(own)))) or None


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
    best = float(row["best"])
    return 100 * abs(best - max(float(found) for _, found in way[:place])) / abs(best)


def _draw(figure: Any, about: About, panels: Mapping[str, Rows]) -> None:
    variants = shown([row for rows in panels.values() for row in rows], MaxcutBench.ways)
    legend: dict[str, Any] = {}
    for axes, (heading, rows) in zip(grid(figure, len(panels)), panels.items(), strict=True):
        for variant in variants:
            own = of(rows, variant=variant)
            if own:
                _draw_way(axes, own, about["seconds"], label=MaxcutBench.way(variant).label, color=colour(variant, variants))
        logarithmic(axes, "seconds", about["seconds"] * EARLIEST, about["seconds"])
        axes.set_yscale("log")
        axes.set_yticks(list(TICKS), list(TICKS.values()))
        axes.set_ylim(0.85 * SMALLEST, LARGEST)
        axes.set_ylabel("gap, %")
        count = len({row["label"] for row in rows})
        axes.set_title(f"{heading}: {count} graph{'s' if count > 1 else ''}", fontsize=10)
        legend |= labelled(axes)
    legend_below(figure, legend)


def _draw_way(axes: Any, rows: Rows, end: float, *, label: str, color: str) -> None:
    """A curve with its band; a single point for who tells only what it ended with."""
    times = [end * EARLIEST ** (1 - point / DRAWN) for point in range(DRAWN + 1)]
    curve = [(seconds, spread) for seconds in times if (spread := _spread(rows, seconds)) is not None]
    if any(row.get("way") for row in rows) and curve:
        low, middle, high = ([max(spread[place], SMALLEST) for _, spread in curve] for place in range(3))
        xs = [seconds for seconds, _ in curve]
        axes.plot(xs, middle, color=color, label=label, linewidth=1.7)
        axes.fill_between(xs, low, high, color=color, alpha=BAND, linewidth=0)
    elif (ended := _spread(rows, math.inf)) is not None:
        when = statistics.median(row["seconds"] for row in rows)
        place = min(max(when, times[0]), end)
        axes.plot([place], [max(ended[1], SMALLEST)], "D", color=color, label=label, markersize=6, clip_on=False, zorder=3)


def _spread(rows: Rows, seconds: float) -> tuple[float, float, float] | None:
    """Lower quartile, mean and upper quartile of the gaps at a time; none until all graphs have one."""
    gaps: Sequence[float] = [gap for row in rows if (gap := gap_at(row, seconds)) is not None]
    if len(gaps) < len(rows):
        return None
    if len(gaps) == 1:
        return gaps[0], gaps[0], gaps[0]
    low, _, high = statistics.quantiles(gaps, n=4, method="inclusive")
    return low, statistics.fmean(gaps), high

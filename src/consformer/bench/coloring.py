"""Graph colouring: both tables of the paper and its additional baselines, with today's rivals."""

from __future__ import annotations

from dataclasses import replace

from consformer.baselines import COLOURING
from consformer.bench.base import About, Plot, Rows
from consformer.bench.comparison import Comparison, Line, circumstances, of, share_plot, shown, solved_table
from consformer.bench.tables import Table
from consformer.bench.ways import CPSAT_WAY, HYBRID, NETWORK, Way

SETS = {
    "5 colours": {"coloring-5-50": "50 vertices", "coloring-5-100": "100 vertices"},
    "10 colours": {"coloring-10-100": "100 vertices", "coloring-10-200": "200 vertices"},
}
CPSAT_SECONDS = (10.0, 30.0, 60.0)
OR_TOOLS = {10.0: ("83.08", "57.16", "52.41", "10.25"), 30.0: (None, None, "53.58", "11.16"), 60.0: (None, None, "53.67", "11.66")}
PUBLISHED: dict[str, tuple[str | None, ...]] = {  # coloring-5-50, 5-100, 10-100, 10-200
    "greedy-largest-first": ("32.42", "0.0", "0.75", "0.0"),
    "cpsat-fj": ("82.83", "54.5", "35.66", "6.0"),
    "cpsat-random": ("83.08", "56.91", "49.75", "9.08"),
    "ANYCSP": ("79.17", "34.83", "0.00", "0.00"),
    "the paper's network": ("81.00", "47.33", "52.60", "11.92"),
    "the paper's network, its best pool": (None, "55.67", None, "15.00"),
}


class ColoringBench(Comparison):
    """CP-SAT gets six times the seconds, and what it had solved earlier is seen from its times: longer limits need no runs of their own."""

    name = "coloring"
    heading = "Graph colouring"
    place = 20
    command = "consformer bench coloring"
    known = tuple(name for sets in SETS.values() for name in sets)
    ways = {
        way.name: way
        for way in (
            HYBRID,
            NETWORK,
            replace(CPSAT_WAY, factor=CPSAT_SECONDS[-1] / CPSAT_SECONDS[0]),
            *(Way(rival.name, rival=rival) for rival in COLOURING if rival.name != CPSAT_WAY.name),
        )
    }
    spares = True

    @classmethod
    def tables(cls, about: About, rows: Rows) -> list[Table]:
        """One for each number of colours."""
        caption = (
            f"{circumstances(about, rows)} The network alone is `any`. Published: the paper, 1,200 graphs a set, 10 s unless stated "
            "otherwise, on its machine; it does not say which strategy its greedy is, and NetworkX's default is largest first. Its graphs "
            "cannot be had: ours are drawn by the same recipe from seeds that nothing else uses. Many graphs have no solution; solvers "
            "that cannot prove so are not asked for those that another has proved to have none (they count as not solved). CP-SAT has two "
            f"workers and one run of {about['seconds'] * cls.ways['cpsat'].factor:g} s, from which the shorter times are read off."
        )
        there = [(title, sets) for title, sets in SETS.items() if any(of(rows, set=name) for name in sets)]
        lines = _lines(about, rows)
        return [solved_table(title, sets, lines, rows, caption if title == there[-1][0] else "") for title, sets in there]

    @classmethod
    def plots(cls, about: About, rows: Rows) -> list[Plot]:
        headings = {name: f"{title}, {heading}" for title, sets in SETS.items() for name, heading in sets.items()}
        found = share_plot("coloring", "Graph colouring: share solved over time", headings, cls, rows, about["seconds"])
        return [] if found is None else [found]


def _lines(about: About, rows: Rows) -> list[Line]:
    names = [name for sets in SETS.values() for name in sets]

    def published(title: str) -> dict[str, str]:
        return _by_set(names, PUBLISHED.get(title, ()))

    lines = []
    for variant in shown(rows, ColoringBench.ways):
        way = ColoringBench.way(variant)
        if variant == "cpsat":
            for times in CPSAT_SECONDS:
                seconds = about["seconds"] * times / CPSAT_SECONDS[0]
                lines.append(Line(f"CP-SAT, {seconds:g} s", variant, seconds, _by_set(names, OR_TOOLS[times])))
        else:
            lines.append(Line(way.label, variant, about["seconds"], published(variant)))
    return lines + [Line(title, "", None, published(title)) for title in PUBLISHED if title not in ColoringBench.ways]


def _by_set(names: list[str], figures: tuple[str | None, ...]) -> dict[str, str]:
    return {name: figure for name, figure in zip(names, figures, strict=False) if figure is not None}

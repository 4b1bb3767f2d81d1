"""Which part of the search earns its keep: each alone, all together, and all but one, on the same problems, cores and seconds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from consformer.baselines.graphs import TabuCol
from consformer.bench.base import About, Row, Rows, Unit
from consformer.bench.comparison import (
    ABSENT,
    LATE,
    SOLVED,
    Comparison,
    circumstances,
    fewer,
    gap_cell,
    median_cell,
    of,
    shown,
    trouble,
)
from consformer.bench.tables import Cell, Fixed, Table
from consformer.bench.ways import CPSAT_WAY, HYBRID, LOCAL, NETWORK, WITH_NETWORK, WITHOUT, Way
from consformer.evaluation.sets import ProblemSet
from consformer.evaluation.summary import Share

IDLE = ("without-network", "without-repair")  # of what takes part where there is no local search only


class SearchBench(Comparison):
    """Variants of our own search, CP-SAT, and TabuCol where graphs are to be coloured."""

    name = "search"
    heading = "Does each part earn its keep?"
    place = 90
    command = "consformer bench search coloring-5-100 coloring-10-200 nurse-20 sudoku-hard"
    usual = tuple(way.name for way in (HYBRID, NETWORK, LOCAL, CPSAT_WAY, WITH_NETWORK, *WITHOUT) if way.name not in IDLE)
    ways = {
        way.name: way
        for way in (
            HYBRID,
            NETWORK,
            LOCAL,
            CPSAT_WAY,
            replace(CPSAT_WAY, name="cpsat-6", factor=6.0),
            Way("tabucol", rival=TabuCol()),
            WITH_NETWORK,
            *WITHOUT,
        )
    }

    def __init__(
        self, sets: Sequence[ProblemSet], variants: Sequence[str] = (), seconds: float = 10.0, seed: int = 0, part: str = ""
    ) -> None:
        """`part`: the options by which only a part of a set was taken, as they are to be told with what was measured."""
        super().__init__(sets, variants, seconds, seed)
        self.part = part

    def measure(self, unit: Unit) -> list[Row]:
        return [{**row, **({"part": self.part} if self.part else {})} for row in super().measure(unit)]

    @classmethod
    def tables(cls, about: About, rows: Rows) -> list[Table]:
        """One for each set: what each variant reached."""
        columns = ("variant", "solved, 95 % interval", "proved", "median s", "total s", "late", "gap %", "ended by", "notes")
        tables = []
        for name in dict.fromkeys(row["set"] for row in rows):
            own = of(rows, set=name)
            lines = [line(cls.way(variant), of(own, variant=variant), about["seconds"], own) for variant in shown(own, cls.ways)]
            longer = [
                f"{way.name} has {about['seconds'] * way.factor:g} s." for way in map(cls.way, shown(own, cls.ways)) if way.factor != 1.0
            ]
            ranges = "In brackets besides: the middle half of the seconds" + (", the best and the worst gap." if "best" in own[0] else ".")
            caption = " ".join([f"Problems: {len({row['label'] for row in own})}.", *longer, circumstances(about, own), ranges])
            tables.append(Table(f"{name}, {about['seconds']:g} s each", columns, tuple(lines), caption))
        return tables

    @classmethod
    def command_for(cls, rows: Rows, sets: Sequence[str]) -> str:
        parts = list(dict.fromkeys(row["part"] for row in rows if "part" in row))
        return " ".join(["consformer bench search", *sets, *parts])


def line(way: Way, rows: Rows, seconds: float, all_rows: Rows = ()) -> tuple[Cell, ...]:
    """A line of the table, whose rows are among all of the set; what a solver was not there for does not count."""
    notes = "; ".join(filter(None, (fewer(rows, all_rows), trouble(rows)))) or None
    rows = [row for row in rows if row["status"] not in ABSENT]
    if not rows:
        return (way.name, *[None] * 7, notes)
    solved = [row for row in rows if row["status"] in SOLVED]
    by = Counter(row["by"] for row in rows if row["status"] != "unsolved" and row.get("by") is not None)
    return (
        way.name,
        Share(0, len(solved), len(rows)),
        sum(row["status"] in ("infeasible", "optimal") for row in rows),
        median_cell([row["seconds"] for row in rows]),
        Fixed(sum(row["seconds"] for row in rows), 1),
        sum(row["seconds"] > seconds * way.factor + LATE for row in rows),
        gap_cell(solved),
        ", ".join(f"{name} {count}" for name, count in by.most_common()) or None,
        notes,
    )

"""Which part of the search earns its keep: each alone, all together, and all but one, on the same problems, cores and seconds."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from consformer.baselines.cpsat import CpSat
from consformer.bench.base import About, Benchmark, Row, Rows, Unit
from consformer.bench.tables import Cell, Fixed, Table
from consformer.bench.ways import HYBRID, LOCAL, NETWORK, WITHOUT, Asked, Way
from consformer.evaluation.sets import ProblemSet
from consformer.evaluation.summary import Share

WAYS = {way.name: way for way in (HYBRID, NETWORK, LOCAL, Way("cpsat", rival=CpSat()), Way("cpsat-6", rival=CpSat(), factor=6.0), *WITHOUT)}
USUAL = tuple(name for name in WAYS if name != "cpsat-6")
LATE = 0.1  # seconds over the limit from which a call counts as late


class SearchBench(Benchmark):
    """A row per problem and variant; variants take turns on each problem."""

    name = "search"
    heading = "Does each part earn its keep?"
    place = 90
    command = "consformer bench search coloring-5-100 coloring-10-200 nurse-20 sudoku-hard -o benchmarks/results/bench"
    key = ("set", "label", "variant")

    def __init__(self, sets: Sequence[ProblemSet], variants: Sequence[str] = USUAL, seconds: float = 10.0, seed: int = 0) -> None:
        self.sets, self.variants, self.seconds, self.seed = sets, variants, seconds, seed
        self.about = {"seconds": seconds, "seed": seed, "threads": torch.get_num_threads()}
        self._places = {(each.name, label): (each, place) for each in sets for place, label in enumerate(each.labels)}
        self._asked = Asked()

    def units(self) -> list[Unit]:
        return [
            Unit((name, label, variant), self.seconds * WAYS[variant].factor) for name, label in self._places for variant in self.variants
        ]

    def prepare(self) -> None:
        for each in self.sets:
            self._asked.prepare([WAYS[name] for name in self.variants], each.problems[0])

    def close(self) -> None:
        self._asked.close()

    def measure(self, unit: Unit) -> list[Row]:
        name, label, variant = map(str, unit.key)
        problems, place = self._places[name, label]
        csp = problems.problems[place]
        best = problems.best[place] if problems.best else None
        return [{"variables": csp.n, "best": best, **self._asked.row(WAYS[variant], csp, self.seconds, self.seed)}]

    @classmethod
    def tables(cls, about: About, rows: Rows) -> list[Table]:
        """One for each set: what each variant reached."""
        columns = ("variant", "solved, 95 % interval", "proved", "median s", "total s", "late", "gap %", "ended by")
        tables = []
        for name in dict.fromkeys(row["set"] for row in rows):
            own = [row for row in rows if row["set"] == name]
            lines = [line(way, chosen, about["seconds"]) for way in WAYS.values() if (chosen := _of(own, way.name))]
            tables.append(Table(f"{name}, {about['seconds']:g} s each", columns, tuple(lines)))
        return tables


def line(way: Way, rows: Rows, seconds: float) -> tuple[Cell, ...]:
    """A line of the table."""
    solved = [row for row in rows if row["status"] in ("solved", "optimal")]
    by = Counter(row["by"] for row in rows if row["status"] != "unsolved" and row.get("by") is not None)
    gap = gap_percent(solved)
    return (
        way.name,
        Share(0, len(solved), len(rows)),
        sum(row["status"] in ("infeasible", "optimal") for row in rows),
        Fixed(statistics.median(row["seconds"] for row in rows), 3),
        Fixed(sum(row["seconds"] for row in rows), 1),
        sum(row["seconds"] > seconds * way.factor + LATE for row in rows),
        None if gap is None else Fixed(gap, 3),
        ", ".join(f"{name} {count}" for name, count in by.most_common()) or None,
    )


def gap_percent(rows: Sequence[Mapping[str, Any]]) -> float | None:
    """The mean distance to the best known over the mean best known, in per cent, where there are any.

    >>> gap_percent([{"best": 200, "objective": 199}, {"best": 100, "objective": 98}])
    1.0
    """
    known = [(row["best"], row["objective"]) for row in rows if row["best"] is not None and row["objective"] is not None]
    size = sum(abs(best) for best, _ in known)
    return 100 * sum(abs(best - found) for best, found in known) / size if size else None


def _of(rows: Rows, variant: str) -> list[Mapping[str, Any]]:
    return [row for row in rows if row["variant"] == variant]

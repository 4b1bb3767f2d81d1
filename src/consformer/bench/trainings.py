"""What benchmarks that train their own networks share: variants of a recipe, each trained under the same budget, then measured."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from consformer import datasets
from consformer.bench.base import About, Benchmark, Row, Rows, Unit
from consformer.bench.by_iteration import refined, within
from consformer.bench.tables import Percent
from consformer.bench.trained import Budget
from consformer.csp import CSP
from consformer.evaluation import load_set
from consformer.training.checkpoint import read_card
from consformer.training.recipe import Recipe

CORE_MINUTES = 4.0
QUICK_CORE_MINUTES = 0.1
AS_BEFORE = "The networks of the table before, which were not trained on such problems; all else as there."
TRAINING = "training"  # in the place of a set: the row that tells how a variant was trained


@dataclass(frozen=True)
class Variant:
    """A network to be trained."""

    task: str  # what it is trained on, as in the key of rows
    name: str  # within the task
    recipe: Recipe
    ways: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {"": {}})
    """settings of the search that it is measured with, by name, where they are not the recipe's"""


@dataclass(frozen=True)
class Problems:
    """Problems to measure on: the first of a named set, or some that are drawn for the purpose from a seed that nothing else uses."""

    name: str
    title: str
    seconds: float  # that a problem and iteration take, about
    draw: tuple[str, int, Mapping[str, Any]] | None = None  # family, seed, parameters
    most: int = 10**6  # problems that are measured, whatever is asked for

    def count(self, asked: int) -> int:
        return min(asked, self.most)

    def load(self, asked: int) -> Sequence[CSP]:
        if self.draw is None:
            return load_set(self.name).problems[: self.count(asked)]
        family, seed, params = self.draw
        return datasets.load(family, self.count(asked), seed, params)


SMALL_BOARDS = Problems("sudoku-4x4", "4×4 boards", 0.0003, ("sudoku", 20_261_231, {"box": 2, "givens": [4, 6], "unique": True}))
BOARDS = Problems("sudoku", "Sudoku, 31–42 givens", 0.003)
HARD_BOARDS = Problems("sudoku-hard", "Sudoku, 24–30 givens", 0.003)
GRAPHS = Problems("coloring-5-50", "colouring-5, 50 vertices", 0.0015)
LARGER_GRAPHS = Problems("coloring-5-100", "colouring-5, 100 vertices", 0.003)
_RANDOM_800 = {"vertices": [800, 800], "density": [0.06, 0.06], "kinds": ["er"]}  # as the first of Gset
CUTS = Problems("maxcut-800", "MAXCUT, 800 vertices", 0.03, ("maxcut", 20_261_232, _RANDOM_800), most=10)


class Trainings(Benchmark, registered=False):
    """Units are variants: trained (or taken from the cache), then measured on the sets of their task."""

    usually = {"core_minutes": CORE_MINUTES, "count": 50, "iterations": 500, "seed": 0, "jobs": 1}
    key = ("task", "variant")
    tests: ClassVar[Mapping[str, Sequence[Problems]]]  # by task

    def __init__(
        self, *, core_minutes: float | None = None, count: int = 50, iterations: int = 500, seed: int = 0, quick: bool = False
    ) -> None:
        """`quick` trains small networks for seconds on 4×4 boards."""
        usual = QUICK_CORE_MINUTES if quick else CORE_MINUTES
        self.core_minutes, self.quick, self.seed = usual if core_minutes is None else core_minutes, quick, seed
        self.count, self.iterations = (min(count, 50), min(iterations, 100)) if quick else (count, iterations)
        self.about = {"core_minutes": self.core_minutes, "count": self.count, "iterations": self.iterations, "seed": seed}

    @classmethod
    @abstractmethod
    def made(cls, quick: bool) -> Sequence[Variant]:
        """The variants."""

    @cached_property
    def _variants(self) -> dict[tuple[str, str], Variant]:
        return {(variant.task, variant.name): variant for variant in self.made(self.quick)}

    def units(self) -> Sequence[Unit]:
        found = []
        for key, variant in self._variants.items():
            training = 0.0 if Budget(variant.recipe, self.core_minutes).ready else 60 * self.core_minutes
            each = sum(test.seconds * test.count(self.count) for test in self.tests[variant.task])
            found.append(Unit(key, training + each * self.iterations * len(variant.ways)))
        return found

    def measure(self, unit: Unit) -> list[Row]:
        variant = self._variants[str(unit.key[0]), str(unit.key[1])]
        budget = Budget(variant.recipe, self.core_minutes)
        for _minutes in budget.run():
            pass
        told = read_card(budget.network).training
        rows: list[Row] = [{"set": TRAINING, **{name: told[name] for name in ("steps", "samples", "core_minutes")}}]
        for test in self.tests[variant.task]:
            problems = test.load(self.count)
            for way, settings in variant.ways.items():
                asked = {**settings, "seed": self.seed}
                found = refined(problems, 0, str(budget.network), self.iterations, asked)
                rows += [{"set": test.name, "way": way, **row} for row in found]
        return rows

    @classmethod
    def budget_told(cls, about: About, rows: Rows) -> str:
        """The budget, and what came of it, for captions."""
        steps = [row["samples"] for row in rows if row["set"] == TRAINING]
        between = " to ".join(f"{count:,}" for count in sorted({min(steps), max(steps)})) if steps else "no"
        return (
            f"Every network was trained for {about['core_minutes']:g} minutes on one core ({between} samples): this budget is ours; the "
            "paper's networks were trained for 6 to 10 hours on a GPU, so the published shares are of networks that are much further. Each "
            "was trained once: intervals are those of the problems, not of trainings. Problems are drawn by the paper's recipe, they are "
            "not its own."
        )


def recipe_told(about: About, task: str) -> str:
    """The recipe that variants of a task start from, for captions."""
    name = {"coloring-5": "token-coloring-5", "maxcut": "token-maxcut"}.get(task, "token-sudoku")
    small = ", made smaller for a quick look" if about.get("quick") else ""
    return f"the recipe `{name}` (the paper's architecture{small})"


def share(rows: Rows, task: str, variant: str, test: str, iterations: int, way: str = "") -> Percent | None:
    """What a variant solved of a set, if it was measured."""
    own = [row for row in rows if (row["task"], row["variant"], row["set"], row.get("way")) == (task, variant, test, way)]
    return Percent(within(own, iterations), len(own)) if own else None

"""The paper's table on Gumbel-softmax: how logits become soft values in training, with noise or without, and how sharp."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from consformer.bench.base import About, Plot, Rows
from consformer.bench.by_iteration import NEVER, draw_curve, dress
from consformer.bench.positions import SMALL
from consformer.bench.tables import Fixed, Table
from consformer.bench.trained import budgeted
from consformer.bench.trainings import (
    BOARDS,
    GRAPHS,
    HARD_BOARDS,
    LARGER_GRAPHS,
    SMALL_BOARDS,
    TestSet,
    Trainings,
    Variant,
    recipe_told,
    share,
)
from consformer.training.loss import LossSettings
from consformer.training.recipe import StateSettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RELAXATIONS = {"gumbel": "Gumbel-softmax", "softmax": "softmax"}
TAUS = (0.1, 1.0)
SHARES = {"sudoku": 0.5, "coloring-5": 0.3, "sudoku-4x4": 0.5}  # the paper's p, in training and in solving
DECODERS = {"greedy": "most likely", "sample": "drawn"}
COLOURS = {("gumbel", 0.1): "tab:blue", ("gumbel", 1.0): "tab:cyan", ("softmax", 0.1): "tab:red", ("softmax", 1.0): "tab:orange"}
# Per cent solved, as published; its harder boards are RRN's, with 17 to 34 givens.
PAPER: Mapping[str, Mapping[tuple[str, float], float]] = {
    BOARDS.name: {("gumbel", 0.1): 100.0, ("gumbel", 1.0): 100.0, ("softmax", 0.1): 100.0, ("softmax", 1.0): 100.0},
    HARD_BOARDS.name: {("gumbel", 0.1): 77.74, ("gumbel", 1.0): 83.71, ("softmax", 0.1): 85.67, ("softmax", 1.0): 73.72},
    GRAPHS.name: {("gumbel", 0.1): 78.16, ("gumbel", 1.0): 76.91, ("softmax", 0.1): 77.33, ("softmax", 1.0): 74.91},
    LARGER_GRAPHS.name: {("gumbel", 0.1): 42.5, ("gumbel", 1.0): 41.08, ("softmax", 0.1): 42.66, ("softmax", 1.0): 35.33},
}


class Gumbel(Trainings):
    """Both relaxations at both temperatures, on boards and on graphs; each network gives its most likely values, and drawn ones."""

    name = "gumbel"
    heading = "Gumbel-softmax or softmax"
    place = 70
    command = "consformer bench gumbel --jobs 2"
    tests = {"sudoku": (BOARDS, HARD_BOARDS), "coloring-5": (GRAPHS, LARGER_GRAPHS), "sudoku-4x4": (SMALL_BOARDS,)}

    @classmethod
    def made(cls, quick: bool) -> Sequence[Variant]:
        """The paper's penalty and p; a temperature as an input would say nothing here."""
        plans = [("sudoku-4x4", "token-sudoku")] if quick else [("sudoku", "token-sudoku"), ("coloring-5", "token-coloring-5")]
        found = []
        for task, base in plans:
            p = SHARES[task]
            for relaxation in RELAXATIONS:
                for tau in TAUS:
                    # The highest of logits with Gumbel noise is a draw at temperature 1, whatever τ is.
                    plain = {
                        "p": p,
                        "temperature": 1.0 if relaxation == "gumbel" else tau,
                        "select": "uniform",
                        "redraw": 0,
                        "restart": NEVER,
                    }
                    ways = {decoder: {**plain, "decode": decoder} for decoder in DECODERS}
                    recipe = budgeted(
                        base,
                        f"{task}-{variant_name(relaxation, tau)}",
                        config={"see_temperature": False, **(SMALL if quick else {})},
                        params={"box": 2, "givens": [4, 9]} if quick else None,
                        state=StateSettings(p=(p, p), temperature=(1.0, 1.0)),
                        loss=LossSettings(kind="penalty", relaxation="gumbel" if relaxation == "gumbel" else "softmax", tau=tau),
                    )
                    found.append(Variant(task, variant_name(relaxation, tau), recipe, ways))
        return found

    @classmethod
    def tables(cls, about: About, rows: Rows) -> list[Table]:
        return [
            _table(cls.budget_told(about, own), about, own, task, test)
            for task, tests in cls.tests.items()
            for test in tests
            if (own := [row for row in rows if row["task"] == task])
        ]

    @classmethod
    def plots(cls, about: About, rows: Rows) -> list[Plot]:
        panels = [(task, test) for task, tests in cls.tests.items() for test in tests if any(row["set"] == test.name for row in rows)]
        if not panels:
            return []
        title = f"By the relaxation in training, {about['core_minutes']:g} core-minutes each"
        return [Plot("gumbel", title, partial(_draw, about, rows, panels), (2.2 + 3.6 * len(panels), 3.8))]


def variant_name(relaxation: str, tau: float) -> str:
    return f"{relaxation}-{tau:g}"


def _table(told: str, about: About, rows: Rows, task: str, test: TestSet) -> Table:
    lines: list[tuple[Any, ...]] = []
    published = PAPER.get(test.name, {})
    for relaxation, title in RELAXATIONS.items():
        for tau in TAUS:
            found = [share(rows, task, variant_name(relaxation, tau), test.name, about["iterations"], way) for way in DECODERS]
            theirs = (Fixed(published[relaxation, tau]),) if published else ()
            lines.append((title, Fixed(tau, 1), *found, *theirs))
    where = " on RRN's boards with 17 to 34 givens" if test is HARD_BOARDS else ""
    columns = ["relaxation", "τ", *(f"values {name}" for name in DECODERS.values()), *([f"published{where}"] if published else [])]
    caption = (
        f"Per cent solved in {about['iterations']:,} iterations, 95 % intervals, {about['count']} problems. {told} Penalty (squared), p = "
        f"{SHARES[task]:g} and uniform selection are the paper's; networks and learning rate are those of {recipe_told(about, task)}, "
        "where the network is also told what each value costs, because the paper's own recipe learns too slowly for such a budget. It is "
        "not published how values are taken in solving, so both ways are measured; they are drawn as in training, with Gumbel noise or "
        "from the softmax at τ."
    )
    return Table(test.title, tuple(columns), tuple(lines), caption)


def _draw(about: About, rows: Rows, panels: Sequence[tuple[str, TestSet]], figure: Figure) -> None:
    for place, (task, test) in enumerate(panels):
        axes = figure.add_subplot(1, len(panels), place + 1)
        for (relaxation, tau), colour in COLOURS.items():
            key = (task, variant_name(relaxation, tau), test.name, "greedy")
            own = [row for row in rows if (row["task"], row["variant"], row["set"], row.get("way")) == key]
            if own:
                draw_curve(axes, own, about["iterations"], label=f"{RELAXATIONS[relaxation]}, τ = {tau:g}", color=colour)
        dress(axes, about["iterations"], f"{test.title}, values most likely")
        if place == 0:
            axes.legend(fontsize=8)

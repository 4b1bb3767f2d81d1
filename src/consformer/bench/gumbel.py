"""The paper's table on Gumbel-softmax: how logits become soft values in training, with noise or without, and how sharp."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from consformer.bench.base import About, Plot, Row, Rows, Unit
from consformer.bench.by_iteration import NEVER, draw_curve, dress
from consformer.bench.comparison import of
from consformer.bench.figures import grid, labelled, legend_below, quiet, size_of
from consformer.bench.positions import SMALL
from consformer.bench.tables import Cell, Fixed, Mean, Percent, Table
from consformer.bench.trained import budgeted
from consformer.bench.trainings import (
    AS_BEFORE,
    BOARDS,
    CUTS,
    GRAPHS,
    HARD_BOARDS,
    LARGER_GRAPHS,
    SMALL_BOARDS,
    Problems,
    Trainings,
    Variant,
    recipe_told,
    share,
)
from consformer.solving import solve
from consformer.training.loss import LossSettings
from consformer.training.recipe import StateSettings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

REFERENCE, REFERENCE_SECONDS = "local search", 10.0  # what gaps of cuts are to, in the place of a variant
RELAXATIONS = {"gumbel": "Gumbel-softmax", "softmax": "softmax"}
TAUS = (0.1, 1.0)
SHARES = {"sudoku": 0.5, "coloring-5": 0.3, "maxcut": 1.0, "sudoku-4x4": 0.5}  # the paper's p, in training and in solving
DECODERS = {"greedy": "most likely", "sample": "drawn"}
COLOURS = {("gumbel", 0.1): "tab:blue", ("gumbel", 1.0): "tab:cyan", ("softmax", 0.1): "tab:red", ("softmax", 1.0): "tab:orange"}
# As published: per cent solved (its harder boards are RRN's, with 17 to 34 givens), and for cuts the mean gap to the best known.
PAPER: Mapping[str, Mapping[tuple[str, float], float]] = {
    BOARDS.name: {("gumbel", 0.1): 100.0, ("gumbel", 1.0): 100.0, ("softmax", 0.1): 100.0, ("softmax", 1.0): 100.0},
    HARD_BOARDS.name: {("gumbel", 0.1): 77.74, ("gumbel", 1.0): 83.71, ("softmax", 0.1): 85.67, ("softmax", 1.0): 73.72},
    GRAPHS.name: {("gumbel", 0.1): 78.16, ("gumbel", 1.0): 76.91, ("softmax", 0.1): 77.33, ("softmax", 1.0): 74.91},
    LARGER_GRAPHS.name: {("gumbel", 0.1): 42.5, ("gumbel", 1.0): 41.08, ("softmax", 0.1): 42.66, ("softmax", 1.0): 35.33},
    CUTS.name: {("gumbel", 0.1): 24.44, ("gumbel", 1.0): 102.89, ("softmax", 0.1): 123.11, ("softmax", 1.0): 126.56},
}

NOT_MEASURED: Mapping[str, tuple[float, ...]] = {  # published for sets that these trainings are not measured on, in the order of COLOURS
    "colouring-10, 100 vertices, % solved": (52.60, 53.25, 53.66, 53.0),
    "colouring-10, 200 vertices, % solved": (11.92, 12.75, 12.92, 12.75),
    "cuts, |V| = 1,000, mean gap in edges": (18.22, 44.0, 58.33, 56.89),
    "cuts, |V| = 2,000, mean gap in edges": (47.0, 119.33, 123.67, 135.11),
    "cuts, |V| ≥ 3,000, mean gap in edges": (155.88, 187.0, 287.38, 305.25),
}


class Gumbel(Trainings):
    """Both relaxations at both temperatures, on boards, colourings and cuts; each network gives its most likely values, and drawn ones."""

    name = "gumbel"
    heading = "Gumbel-softmax or softmax"
    place = 70
    command = "consformer bench gumbel"
    tests = {"sudoku": (BOARDS, HARD_BOARDS), "coloring-5": (GRAPHS, LARGER_GRAPHS), "maxcut": (CUTS,), "sudoku-4x4": (SMALL_BOARDS,)}

    @classmethod
    def made(cls, quick: bool) -> Sequence[Variant]:
        """The paper's penalty and p; a temperature as an input would say nothing here."""
        found = []
        for task in ["sudoku-4x4"] if quick else ["sudoku", "coloring-5", "maxcut"]:
            base = "token-sudoku" if quick else f"token-{task}"
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

    def units(self) -> Sequence[Unit]:
        reference = [] if self.quick else [Unit(("maxcut", REFERENCE), REFERENCE_SECONDS * CUTS.count(self.count))]
        return [*super().units(), *reference]

    def measure(self, unit: Unit) -> list[Row]:
        if unit.key[1] != REFERENCE:
            return super().measure(unit)
        found = [solve(csp, method="local", time_limit=REFERENCE_SECONDS, seed=self.seed) for csp in CUTS.load(self.count)]
        return [{"set": CUTS.name, "way": REFERENCE, "index": index, "objective": each.objective} for index, each in enumerate(found)]

    @classmethod
    def tables(cls, about: About, rows: Rows) -> list[Table]:
        found = [
            _table(cls.budget_told(about, own) if test is tests[0] else None, about, own, task, test)
            for task, tests in cls.tests.items()
            for test in tests
            if (own := of(rows, task=task))
        ]
        columns = ("", *(f"{RELAXATIONS[relaxation]}, τ = {tau:g}" for relaxation, tau in COLOURS))
        body: list[tuple[Cell, ...]] = [(title, *map(Fixed, figures)) for title, figures in NOT_MEASURED.items()]
        rest = Table("Published only", columns, tuple(body), "What the paper has besides; it would take trainings of their own.")
        return [*found, rest] if found else []

    @classmethod
    def plots(cls, about: About, rows: Rows) -> list[Plot]:
        panels = [(task, test) for task, tests in cls.tests.items() for test in tests if any(row["set"] == test.name for row in rows)]
        if not panels:
            return []
        title = f"By the relaxation in training, {about['core_minutes']:g} core-minutes each; values most likely, of cuts drawn ones, too"
        return [Plot("gumbel", title, partial(_draw, about, rows, panels), size_of(len(panels)))]


def variant_name(relaxation: str, tau: float) -> str:
    return f"{relaxation}-{tau:g}"


def _table(told: str | None, about: About, rows: Rows, task: str, test: Problems) -> Table:
    lines: list[tuple[Any, ...]] = []
    published = PAPER.get(test.name, {})
    cell = _gap if test is CUTS else _solved
    for relaxation, title in RELAXATIONS.items():
        for tau in TAUS:
            found = [cell(about, rows, task, variant_name(relaxation, tau), test, way) for way in DECODERS]
            theirs = (Fixed(published[relaxation, tau]),) if published else ()
            lines.append((title, Fixed(tau, 1), *found, *theirs))
    where = {HARD_BOARDS.name: ", on RRN's boards with 17 to 34 givens", CUTS.name: ", gap to the best known of Gset"}.get(test.name, "")
    columns = ["relaxation", "τ", *(f"values {name}" for name in DECODERS.values()), *([f"published{where}"] if published else [])]
    if told is None:
        return Table(test.title, tuple(columns), tuple(lines), AS_BEFORE)
    counted = (
        f"Mean gap to the best cut of a random graph with 6 % of all edges by anyone here or by local search in {REFERENCE_SECONDS:g} s,"
        if test is CUTS
        else "Per cent solved"
    )
    caption = (
        f"{counted} in {about['iterations']:,} iterations, 95 % intervals, {test.count(about['count'])} problems. {told} Squared penalty, "
        f"p = {SHARES[task]:g} and uniform selection are the paper's; networks and learning rate are those of {recipe_told(about, task)}, "
        "where the network is also told what each value costs, because the paper's own recipe learns too slowly for such a budget. It is "
        "not published how values are taken in solving, so both ways are measured; they are drawn as in training, with Gumbel noise or "
        "from the softmax at τ."
    )
    return Table(test.title + (": mean gap in edges" if test is CUTS else ""), tuple(columns), tuple(lines), caption)


def _solved(about: About, rows: Rows, task: str, variant: str, test: Problems, way: str) -> Percent | None:
    return share(rows, task, variant, test.name, about["iterations"], way)


def _gap(about: About, rows: Rows, task: str, variant: str, test: Problems, way: str) -> Mean | None:
    found = gaps(rows, task, variant, test, way)
    return Mean.of(found) if found else None


def gaps(rows: Rows, task: str, variant: str, test: Problems, way: str) -> list[float]:
    """How far the cuts of a variant are from the best that local search or any of them found of the same graph."""
    best: dict[int, float] = {}
    for row in rows:
        if row["set"] == test.name:
            best[row["index"]] = max(best.get(row["index"], row["objective"]), row["objective"])
    return [best[row["index"]] - row["objective"] for row in _own(rows, task, variant, test, way)]


def _own(rows: Rows, task: str, variant: str, test: Problems, way: str) -> list[Mapping[str, Any]]:
    return of(rows, task=task, variant=variant, set=test.name, way=way)


def _draw(about: About, rows: Rows, panels: Sequence[tuple[str, Problems]], figure: Figure) -> None:
    for axes, (task, test) in zip(grid(figure, len(panels)), panels, strict=True):
        if test is CUTS:
            _draw_gaps(axes, rows, task, test)
            continue
        for (relaxation, tau), colour in COLOURS.items():
            own = _own(rows, task, variant_name(relaxation, tau), test, "greedy")
            if own:
                draw_curve(axes, own, about["iterations"], label=f"{RELAXATIONS[relaxation]}, τ = {tau:g}", color=colour)
        dress(axes, about["iterations"], test.title)
        axes.set_ylabel("solved")
    legend_below(figure, labelled(figure.axes[0]))


def _draw_gaps(axes: Axes, rows: Rows, task: str, test: Problems) -> None:
    for at, ((relaxation, tau), colour) in enumerate(COLOURS.items()):
        for side, way in enumerate(DECODERS):
            found = gaps(rows, task, variant_name(relaxation, tau), test, way)
            if found:
                mean = Mean.of(found)
                axes.bar(at + 0.4 * side - 0.2, mean.value, 0.36, yerr=mean.half, capsize=2, color=colour, alpha=1 if side == 0 else 0.5)
    axes.set_xticks(range(len(COLOURS)), [f"{relaxation}\nτ = {tau:g}" for relaxation, tau in COLOURS], fontsize=8)
    axes.set_title(f"{test.title} (pale: drawn)", fontsize=10)
    axes.set_ylabel("gap, edges")
    quiet(axes)

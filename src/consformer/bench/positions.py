"""The paper's tables on position encodings: what a network is told of where variables stand (APE) and of which belong together (RPE)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from consformer.bench.base import About, Plot, Rows
from consformer.bench.comparison import of
from consformer.bench.tables import Fixed, Percent, Table
from consformer.bench.trained import budgeted
from consformer.bench.trainings import (
    AS_BEFORE,
    BOARDS,
    GRAPHS,
    LARGER_GRAPHS,
    SMALL_BOARDS,
    Problems,
    Trainings,
    Variant,
    recipe_told,
    share,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

APE = {"none": "none", "flat": "1-D", "full": "2-D"}
RPE = {"none": "none", "learned": "learned", "mask": "mask"}
SMALL = {"values": 4, "width": 48, "layers": 3}  # networks for a quick look
# Per cent solved in 1,000 iterations, by (RPE, APE), as published.
PAPER: Mapping[str, Mapping[tuple[str, str], float]] = {
    BOARDS.name: {
        ("none", "none"): 0.0,
        ("none", "flat"): 0.0,
        ("none", "full"): 99.9,
        ("learned", "none"): 98.7,
        ("learned", "flat"): 97.1,
        ("learned", "full"): 98.2,
        ("mask", "none"): 99.8,
        ("mask", "flat"): 99.5,
        ("mask", "full"): 99.8,
    },
    GRAPHS.name: {
        ("none", "none"): 1.58,
        ("none", "flat"): 1.25,
        ("learned", "none"): 78.0,
        ("learned", "flat"): 77.33,
        ("mask", "none"): 75.67,
        ("mask", "flat"): 77.0,
    },
    LARGER_GRAPHS.name: {
        ("none", "none"): 0.0,
        ("none", "flat"): 0.0,
        ("learned", "none"): 12.5,
        ("learned", "flat"): 0.25,
        ("mask", "none"): 52.25,
        ("mask", "flat"): 51.92,
    },
}


class Positions(Trainings):
    """All encodings on boards; on graphs, whose vertices have no second dimension, all but 2-D."""

    name = "positions"
    heading = "What the network is told of positions"
    place = 60
    command = "consformer bench positions"
    tests = {"sudoku": (BOARDS,), "coloring-5": (GRAPHS, LARGER_GRAPHS), "sudoku-4x4": (SMALL_BOARDS,)}

    @classmethod
    def made(cls, quick: bool) -> Sequence[Variant]:
        """The network must find out what belongs together from the encodings, so it is not told what each value costs."""
        plans: list[tuple[str, str, Sequence[str]]] = [
            ("sudoku", "token-sudoku", list(APE)),
            ("coloring-5", "token-coloring-5", ["none", "flat"]),
        ]
        if quick:
            plans = [("sudoku-4x4", "token-sudoku", list(APE))]
        found = []
        for task, base, absolute in plans:
            for relation in RPE:
                for positions in absolute:
                    name = variant_name(relation, positions)
                    config = {"positions": positions, "relation": relation, "see_conflicts": False, **(SMALL if quick else {})}
                    params = {"box": 2, "givens": [4, 9]} if quick else None
                    found.append(Variant(task, name, budgeted(base, f"{task}-{name}", config=config, params=params)))
        return found

    @classmethod
    def tables(cls, about: About, rows: Rows) -> list[Table]:
        return [
            _table(cls.budget_told(about, own) if test is tests[0] else None, about, own, task, test)
            for task, tests in cls.tests.items()
            for test in tests
            if (own := of(rows, task=task))
        ]

    @classmethod
    def plots(cls, about: About, rows: Rows) -> list[Plot]:
        panels = [(task, test) for task, tests in cls.tests.items() for test in tests if any(row["set"] == test.name for row in rows)]
        if not panels:
            return []
        title = f"Solved in {about['iterations']:,} iterations, {about['core_minutes']:g} core-minutes of training each"
        return [Plot("positions", title, partial(_draw, about, rows, panels), (2.2 + 3.4 * len(panels), 3.6))]


def variant_name(relation: str, positions: str) -> str:
    return f"rpe-{relation}-ape-{positions}"


def _table(told: str | None, about: About, rows: Rows, task: str, test: Problems) -> Table:
    published = PAPER.get(test.name, {})
    kinds = [kind for kind in APE if any(row["variant"].endswith(f"ape-{kind}") for row in rows)]
    lines: list[tuple[Any, ...]] = []
    for relation in RPE:
        measured = [share(rows, task, variant_name(relation, kind), test.name, about["iterations"]) for kind in kinds]
        theirs = [_published(published, relation, kind) for kind in kinds]
        lines.append((RPE[relation], *measured, *(theirs if published else ())))
    columns = ["RPE", *(f"APE {APE[kind]}" for kind in kinds), *(f"published, APE {APE[kind]}" for kind in kinds if published)]
    if told is None:
        return Table(test.title, tuple(columns), tuple(lines), AS_BEFORE)
    caption = (
        f"Per cent solved in {about['iterations']:,} iterations, 95 % intervals, {about['count']} problems. {told} The networks are those "
        f"of {recipe_told(about, task)}, trained as block samplers, but are not told what each value costs, so that only the encodings say "
        "what belongs together; they search as the recipe says, which always updates what is in conflict. Published: in 1,000 iterations."
    )
    return Table(test.title, tuple(columns), tuple(lines), caption)


def _published(table: Mapping[tuple[str, str], float], relation: str, kind: str) -> Fixed | None:
    return Fixed(table[relation, kind]) if (relation, kind) in table else None


def _draw(about: About, rows: Rows, panels: Sequence[tuple[str, Problems]], figure: Figure) -> None:
    """A coloured field for each pair of encodings, with the published figure small below."""
    for place, (task, test) in enumerate(panels):
        axes = figure.add_subplot(1, len(panels), place + 1)
        kinds = [kind for kind in APE if any(row["task"] == task and row["variant"].endswith(f"ape-{kind}") for row in rows)]
        found = [[share(rows, task, variant_name(relation, kind), test.name, about["iterations"]) for kind in kinds] for relation in RPE]
        axes.imshow([[_height(cell) for cell in line] for line in found], cmap="Blues", vmin=0, vmax=1, aspect="auto")
        for i, relation in enumerate(RPE):
            for j, kind in enumerate(kinds):
                cell, theirs = found[i][j], PAPER.get(test.name, {}).get((relation, kind))
                ink = "white" if _height(cell) > 0.55 else "black"
                axes.text(j, i, "–" if cell is None else f"{100 * _height(cell):.0f} %", ha="center", va="center", color=ink, fontsize=12)
                if theirs is not None:
                    axes.text(j, i + 0.28, f"published {theirs:g}", ha="center", va="center", color=ink, fontsize=7)
        axes.set_xticks(range(len(kinds)), [f"APE {APE[kind]}" for kind in kinds])
        axes.set_yticks(range(len(RPE)), [f"RPE {name}" for name in RPE.values()] if place == 0 else [""] * len(RPE))
        axes.set_title(test.title, fontsize=10)
        axes.tick_params(length=0)


def _height(cell: Percent | None) -> float:
    return cell.solved / cell.count if cell is not None else 0.0

"""The paper's figure on the size of the subset: share solved against iterations, by p, the share of the variables that are updated."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from consformer.bench.base import About, Benchmark, Plot, Row, Rows, Unit
from consformer.bench.by_iteration import NEVER, draw_curve, dress, refined, within
from consformer.bench.comparison import ABSENT, SOLVED, of
from consformer.bench.figures import grid, labelled, legend_below, size_of
from consformer.bench.identity import identified
from consformer.bench.tables import Percent, Table
from consformer.bench.ways import Asked, cpsat_way
from consformer.evaluation import ProblemSet, load_set
from consformer.evaluation.summary import Share

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHARES = {
    "1.0": "tab:blue",
    "0.9": "tab:orange",
    "0.7": "tab:green",
    "0.5": "tab:red",
    "0.3": "tab:purple",
    "0.1": "tab:brown",
}  # and colours
SETS = {"sudoku": "Sudoku, 31–42 givens", "coloring-5-50": "colouring-5, 50 vertices"}
TEMPERATURES = {"sudoku": 0.25, "coloring-5-50": 0.15}  # near what `any` likes there, but the same in every iteration
COSTS = {"sudoku": 0.004, "coloring-5-50": 0.0004}  # seconds that a problem and iteration take, about
MARKS = (1, 5, 10, 20, 50, 100, 200, 500)
PORTION = 50  # problems refined together
CEILING = "CP-SAT"  # in the place of p: what can be solved at all
CPSAT_SECONDS = 10.0
PAPER = {
    "sudoku": "about 20 % at p = 1.0, which stays there; near 100 % at 0.9, 0.7 and 0.5 within 50 iterations",
    "coloring-5-50": "65 % at p = 1.0 soon, which stays there; smaller p are better after 50 iterations",
}


class Selection(Benchmark):
    """Units are portions of a set; the values of p take turns on each."""

    name = "selection"
    heading = "How many variables to update at once"
    place = 50
    command = "consformer bench selection"
    usually = {"network": "any", "iterations": 500, "seed": 0, "jobs": 1}
    usual_count = 100
    key = ("set", "p", "portion")

    def __init__(
        self, network: str = "any", *, count: int = usual_count, iterations: int = 500, seed: int = 0, quick: bool = False
    ) -> None:
        self.network, self.count, self.iterations, self.seed = network, count, iterations, seed
        self.portion, self._asked = PORTION, Asked()
        if quick:
            self.count, self.iterations, self.portion = min(count, 20), min(iterations, 50), 20
        self.about = {**identified(network), "iterations": self.iterations, "seed": seed, "portion": self.portion}

    def close(self) -> None:
        self._asked.close()

    @cached_property
    def _sets(self) -> dict[str, ProblemSet]:
        return {name: load_set(name) for name in SETS}

    def units(self) -> Sequence[Unit]:
        found = []
        for name, each in COSTS.items():
            for portion in range(-(-min(self.count, len(self._sets[name].problems)) // self.portion)):
                found += [Unit((name, p, portion), each * self.iterations * self.portion) for p in SHARES]
                if name != "sudoku":  # all boards can be solved
                    found.append(Unit((name, CEILING, portion), 0.3 * self.portion))
        return found

    def measure(self, unit: Unit) -> list[Row]:
        name, p, portion = str(unit.key[0]), str(unit.key[1]), int(unit.key[2])
        first = portion * self.portion
        problems = self._sets[name].problems[first : first + self.portion]
        if p == CEILING:
            found = [self._asked.row(cpsat_way(), csp, CPSAT_SECONDS, self.seed) for csp in problems]
            return [{"index": first + place, "solved": row["status"] in SOLVED, **row} for place, row in enumerate(found)]
        settings = {
            "p": p,
            "temperature": TEMPERATURES[name],
            "select": "uniform",
            "redraw": 0,
            "restart": NEVER,
            "seed": self.seed + portion,
        }
        return refined(problems, first, self.network, self.iterations, settings)

    @classmethod
    def tables(cls, about: About, rows: Rows) -> list[Table]:
        return [cls._table(about, name, of(rows, set=name)) for name in SETS if _sharing(rows, name)]

    @classmethod
    def _table(cls, about: About, name: str, rows: Rows) -> Table:
        marks = [mark for mark in MARKS if mark <= about["iterations"]]
        lines: list[tuple[Any, ...]] = []
        for p in SHARES:
            own = of(rows, p=p)
            if own:
                lines.append((p, *(Percent(within(own, mark), len(own)) for mark in marks)))
        caption = (
            f"`{about['network']}` alone, one candidate, T = {TEMPERATURES[name]} throughout, each free variable chosen with probability "
            f"p as in the paper, no restarts; per cent of {len({row['index'] for row in rows})} problems solved with 95 % intervals. The "
            "network is the one that ships, and only solving "
            f"has another p; the paper seems to have trained one for each. The paper's figure, published: {PAPER[name]}. "
            "Problems are drawn by the paper's recipe, they are not its own."
        )
        ceiling = [row for row in of(rows, p=CEILING) if row["status"] not in ABSENT]
        if ceiling:
            share = Share(0, sum(row["solved"] for row in ceiling), len(ceiling))
            caption += f" CP-SAT finds a solution within {CPSAT_SECONDS:g} s for {share}."
        return Table(SETS[name], ("p", *(f"{mark} iterations" for mark in marks)), tuple(lines), caption)

    @classmethod
    def plots(cls, about: About, rows: Rows) -> list[Plot]:
        names = [name for name in SETS if _sharing(rows, name)]
        if not names:
            return []
        return [
            Plot(
                "selection",
                "Share solved by the share p of the variables that an iteration updates",
                partial(_draw, about, rows),
                size_of(len(names)),
            )
        ]


def _sharing(rows: Rows, name: str) -> bool:
    return any(row["set"] == name and row["p"] != CEILING for row in rows)


def _draw(about: About, rows: Rows, figure: Figure) -> None:
    names = [name for name in SETS if _sharing(rows, name)]
    panels = grid(figure, len(names))
    for axes, name in zip(panels, names, strict=True):
        for p, color in SHARES.items():
            own = of(rows, set=name, p=p)
            if own:
                draw_curve(axes, own, about["iterations"], label=f"p = {p}", color=color)
        ceiling = [row["solved"] for row in of(rows, set=name, p=CEILING) if row["status"] not in ABSENT]
        if ceiling:
            axes.axhline(sum(ceiling) / len(ceiling), color="0.4", ls="--", lw=1, label=f"CP-SAT, {CPSAT_SECONDS:g} s")
        dress(axes, about["iterations"], SETS[name])
    panels[0].set_ylabel("solved")
    legend_below(figure, labelled(panels[-1]))

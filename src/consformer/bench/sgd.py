"""The paper's table on direct gradient descent: satisfied constraints of a Sudoku when the penalty is minimised without a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from consformer import datasets
from consformer.baselines.sgd import RATES, descend, satisfied
from consformer.bench.base import About, Benchmark, Plot, Row, Rows, Unit
from consformer.bench.comparison import of
from consformer.bench.figures import quiet
from consformer.bench.identity import identified
from consformer.bench.tables import Fixed, Mean, Percent, Table
from consformer.csp import CSP
from consformer.solving import refine

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MISSING = (19, 33, 41, 47, 51, 55)  # the last two are not in the paper's table
PAPER: Mapping[int, float] = {19: 26.8, 33: 25.8, 41: 24.5, 47: 21.8}
CONSTRAINTS = 27
METHODS = {"sgd": "gradient descent", "adam": "Adam", "network": "network"}
COLOURS = {"sgd": "tab:orange", "adam": "tab:red", "network": "tab:blue"}
NETWORK_ITERATIONS = 500
SEED = 20_261_221  # of the boards, which nothing else uses
PORTION = 50


class Sgd(Benchmark):
    """Units are portions of the boards with so many missing cells."""

    name = "sgd"
    heading = "Gradient descent without a network"
    place = 85
    command = "consformer bench sgd"
    usually = {"network": "any", "steps": 10_000, "seed": 0, "jobs": 1}
    usual_count = 100
    key = ("missing", "method", "portion")

    def __init__(self, network: str = "any", *, count: int = usual_count, steps: int = 10_000, seed: int = 0, quick: bool = False) -> None:
        self.network, self.seed, self.portion = network, seed, PORTION
        self.count, self.steps = count, steps
        if quick:
            self.count, self.steps, self.portion = min(count, 10), min(steps, 1000), 10
        self.about = {**identified(network), "steps": self.steps, "seed": seed, "portion": self.portion, "rates": RATES}

    def units(self) -> Sequence[Unit]:
        portions = range(-(-self.count // self.portion))
        each = {"sgd": 0.0035 * self.steps, "adam": 0.0035 * self.steps, "network": 0.1 * self.portion}
        return [Unit((missing, method, portion), each[method]) for missing in MISSING for portion in portions for method in METHODS]

    def measure(self, unit: Unit) -> list[Row]:
        missing, method, portion = int(unit.key[0]), str(unit.key[1]), int(unit.key[2])
        problems = self._boards(missing, portion)
        if method == "network":
            held = self._by_network(problems, self.seed + portion)
        else:
            held = [end.satisfied for end in descend(problems, steps=self.steps, optimiser=method, seed=self.seed + portion)]
        first = portion * self.portion
        return [{"index": first + place, "satisfied": each, "solved": each == CONSTRAINTS} for place, each in enumerate(held)]

    def _boards(self, missing: int, portion: int) -> list[CSP]:
        params = {"box": 3, "givens": [81 - missing, 81 - missing], "unique": True}
        return datasets.load("sudoku", self.portion, SEED + 1000 * missing + portion, params)

    def _by_network(self, problems: Sequence[CSP], seed: int) -> list[int]:
        run = refine(problems, network=self.network, iterations=NETWORK_ITERATIONS, seed=seed)
        for _event in run:
            pass
        return [satisfied(result.csp, result.assignment)[0] for result in run.results()]

    @classmethod
    def tables(cls, about: About, rows: Rows) -> list[Table]:
        if not rows:
            return []
        count = max((row["index"] + 1 for row in rows), default=0)
        titles = [METHODS[method] if method != "network" else f"network `{about['network']}`" for method in METHODS]
        holding = [_line(rows, missing, _mean) for missing in MISSING]
        solved = [_line(rows, missing, _solved) for missing in MISSING]
        caption = (
            f"Logits of every empty cell, started at random, minimise the paper's penalty (softmax, squared) for {about['steps']:,} "
            f"steps; learning rates {about['rates']['sgd']:g} and {about['rates']['adam']:g}, chosen on other boards. Means over up to "
            f"{count} boards with one solution, ± a 95 % interval. The network has {NETWORK_ITERATIONS} iterations. Published: 10 runs, "
            "optimiser settings not told, boards of SATNet, which cannot be had: ours are generated. 51 and 55 missing cells are not in "
            "the paper's table."
        )
        return [
            Table(
                f"Satisfied all-different constraints of {CONSTRAINTS}",
                ("missing cells", *titles, "published: gradient descent"),
                tuple((*line, Fixed(PAPER[line[0]], 1) if line[0] in PAPER else None) for line in holding if any(line[1:])),
                caption,
            ),
            Table(
                "Boards solved, %",
                ("missing cells", *titles),
                tuple(line for line in solved if any(line[1:])),
                "The same runs, 95 % intervals.",
            ),
        ]

    @classmethod
    def plots(cls, about: About, rows: Rows) -> list[Plot]:
        return (
            [Plot("sgd", f"Satisfied constraints of {CONSTRAINTS}: the penalty minimised without a network", partial(_draw, about, rows))]
            if rows
            else []
        )


def _line(rows: Rows, missing: int, told: Any) -> tuple[Any, ...]:
    groups = [of(rows, missing=missing, method=method) for method in METHODS]
    return (missing, *(told(group) if group else None for group in groups))


def _mean(rows: Rows) -> Mean:
    return Mean.of([row["satisfied"] for row in rows])


def _solved(rows: Rows) -> Percent:
    return Percent(sum(row["solved"] for row in rows), len(rows))


def _draw(about: About, rows: Rows, figure: Figure) -> None:
    axes = figure.add_subplot()
    for method, title in METHODS.items():
        points = []
        for missing in MISSING:
            held = [row["satisfied"] for row in of(rows, missing=missing, method=method)]
            if held:
                mean = Mean.of(held)
                points.append((missing, mean.value, mean.half))
        if points:
            xs, ys, halves = map(list, zip(*points, strict=True))
            label = (
                f"network {about['network']}, {NETWORK_ITERATIONS} iterations"
                if method == "network"
                else f"{title}, {about['steps']:,} steps"
            )
            axes.plot(xs, ys, "o-", color=COLOURS[method], label=label)
            low = [y - half for y, half in zip(ys, halves, strict=True)]
            high = [min(y + half, CONSTRAINTS) for y, half in zip(ys, halves, strict=True)]
            axes.fill_between(xs, low, high, color=COLOURS[method], alpha=0.15, lw=0)
    axes.plot(list(PAPER), list(PAPER.values()), "x--", color="0.5", lw=1, label="gradient descent, published")
    axes.axhline(CONSTRAINTS, color="0.8", lw=1, zorder=0)
    axes.set_xlabel("missing cells")
    axes.set_ylabel("satisfied constraints, mean")
    quiet(axes)
    axes.legend(fontsize=8, loc="lower left")

"""The paper's table on multi-start: pools of candidates refined together, each pool with the same time."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import torch

from consformer.bench.base import About, Benchmark, Plot, Row, Rows, Unit
from consformer.bench.comparison import ABSENT, HOPELESS, SOLVED, of, trouble
from consformer.bench.figures import labelled, legend_below, quiet
from consformer.bench.identity import identified
from consformer.bench.tables import Fixed, Percent, Table
from consformer.bench.ways import Asked, cpsat_way
from consformer.csp import CSP
from consformer.errors import UnknownNameError
from consformer.evaluation import ProblemSet, load_set
from consformer.evaluation.summary import interval
from consformer.solving import solve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POOLS = (1, 2, 5, 10, 20, 50, 100)
SETS = {
    "coloring-5-50": "colouring-5, 50 vertices",
    "coloring-5-100": "colouring-5, 100 vertices",
    "coloring-10-100": "colouring-10, 100 vertices",
    "coloring-10-200": "colouring-10, 200 vertices",
}
USUAL = ("coloring-5-100", "coloring-10-200")  # those of the paper's table
CPSAT = "CP-SAT"  # in the place of a pool
# Per cent solved in 10 seconds and iterations of each candidate, by pool, as published.
PAPER: Mapping[str, Mapping[str, tuple[float, int | None]]] = {
    "coloring-5-100": {
        "1": (47.33, 2310),
        "2": (43.42, 2213),
        "10": (50.92, 1634),
        "50": (55.17, 1613),
        "100": (55.67, 892),
        CPSAT: (57.16, None),
    },
    "coloring-10-200": {
        "1": (11.92, 1490),
        "2": (13.67, 1445),
        "5": (13.92, 1064),
        "10": (14.42, 1150),
        "50": (15.0, 806),
        "100": (13.25, 229),
        CPSAT: (10.25, None),
    },
}


class Multistart(Benchmark):
    """Units are one problem with one pool, which take turns on each problem, after CP-SAT; what that proves infeasible is spared."""

    name = "multistart"
    heading = "Several candidates side by side"
    place = 80
    command = "consformer bench multistart"
    usually = {"network": "any", "seed": 0, "jobs": 1}
    key = ("set", "index", "pool")

    def __init__(
        self,
        network: str = "any",
        *,
        sets: Sequence[str] = USUAL,
        pools: Sequence[int] = POOLS,
        count: int = 30,
        seconds: float = 10.0,
        seed: int = 0,
        quick: bool = False,
    ) -> None:
        for name in sets:
            if name not in SETS:
                raise UnknownNameError("set", name, list(SETS))
        self.network, self.names, self.pools, self.seed = network, sets, pools, seed
        self.count, self.seconds = (min(count, 6), min(seconds, 1.0)) if quick else (count, seconds)
        self._asked = Asked()
        self._hopeless: set[tuple[str, str]] = set()  # set and index
        self.about = {**identified(network), "seconds": self.seconds, "seed": seed, "threads": torch.get_num_threads()}

    @cached_property
    def _sets(self) -> dict[str, ProblemSet]:
        return {name: load_set(name).mixed(seed=0).first(self.count) for name in self.names}

    def units(self) -> Sequence[Unit]:
        entrants = [CPSAT, *map(str, self.pools)]
        return [
            Unit((name, int(label), pool), self.seconds)
            for name, chosen in self._sets.items()
            for label in chosen.labels
            for pool in entrants
        ]

    def prepare(self) -> None:
        """Have compiled code and ortools loaded."""
        csp = next(iter(self._sets.values())).problems[0]
        for pool in (str(self.pools[0]), CPSAT):
            self._solved(csp, pool, 1.0)

    def close(self) -> None:
        self._asked.close()

    def recall(self, rows: Rows) -> None:
        self._hopeless = {(row["set"], str(row["index"])) for row in rows if row["status"] == "infeasible"}

    def measure(self, unit: Unit) -> list[Row]:
        name, label, pool = map(str, unit.key)
        if pool != CPSAT and (name, label) in self._hopeless:
            return [{"solved": False, "status": HOPELESS, "iterations": None, "seconds": 0.0}]
        chosen = self._sets[name]
        row = self._solved(chosen.problems[chosen.labels.index(label)], pool, self.seconds)
        if row["status"] == "infeasible":
            self._hopeless.add((name, label))
        return [row]

    def _solved(self, csp: CSP, pool: str, seconds: float) -> Row:
        if pool == CPSAT:
            row = self._asked.row(cpsat_way(), csp, seconds, self.seed)
            return {"solved": row["status"] in SOLVED, **row}
        began = time.perf_counter()
        result = solve(csp, method="network", network=self.network, pool=int(pool), time_limit=seconds, seed=self.seed)
        return {
            "solved": result.solved,
            "status": result.status,
            "violations": result.violations,
            "iterations": result.effort.iterations,
            "seconds": round(time.perf_counter() - began, 4),
        }

    @classmethod
    def asked(cls, about: About, rows: Rows) -> str:
        """With the most graphs that were taken of a set, and the time limit."""
        names = dict.fromkeys(row["set"] for row in rows)
        count = max((len({row["index"] for row in of(rows, set=name)}) for name in names), default=0)
        sets = [] if set(names) == set(USUAL) else list(names)
        pools = [int(name) for name in _pools(rows)]
        chosen = [] if pools == list(POOLS) else [f"--pool {pool}" for pool in pools]
        return " ".join([super().asked(about, rows), *sets, f"--count {count}", f"--time-limit {about['seconds']:g}", *chosen])

    @classmethod
    def tables(cls, about: About, rows: Rows) -> list[Table]:
        return [_table(about, name, own) for name in SETS if (own := of(rows, set=name))]

    @classmethod
    def plots(cls, about: About, rows: Rows) -> list[Plot]:
        names = [name for name in SETS if any(row["set"] == name and row["pool"] != CPSAT for row in rows)]
        if not names:
            return []
        title = f"Pools of candidates, {about['seconds']:g} s each"
        return [Plot("multistart", title, partial(_draw, about, rows, names), (4.6 * len(names) + 0.6, 6.2))]


def _pools(rows: Rows) -> list[str]:
    return sorted({row["pool"] for row in rows if row["pool"] != CPSAT}, key=int)


def _per_candidate(rows: Rows) -> float | None:
    """Iterations of each candidate in the whole time, where that was not cut short by a solution."""
    spent = [row["iterations"] for row in rows if not row["solved"] and row["iterations"] is not None]
    return statistics.mean(spent) if spent else None


def _table(about: About, name: str, rows: Rows) -> Table:
    published = PAPER.get(name, {})
    lines: list[tuple[Any, ...]] = []
    for pool in [*_pools(rows), CPSAT]:
        own = of(rows, pool=pool)
        if not own:
            continue
        counted = [row for row in own if row["status"] not in ABSENT]
        solved = Percent(sum(row["solved"] for row in counted), len(counted)) if counted else None
        each = None if pool == CPSAT else _per_candidate(own)
        tries = (None, None) if each is None else (Fixed(each, 0), Fixed(each * int(pool), 0))
        theirs, count = published.get(pool, (None, None))
        lines.append((pool, solved, *tries, *((None if theirs is None else Fixed(theirs), count) if published else ())))
    caption = (
        f"{len({row['index'] for row in rows})} graphs. `{about['network']}` alone with its own settings, {about['seconds']:g} s for each "
        "graph and pool. Threads in all: "
        f"{about['threads']}, graphs at a time: {about.get('jobs', 1)}; CP-SAT has as many workers as each of these has threads. Solved "
        "in per cent of all graphs, 95 % intervals; pools are not asked for graphs that CP-SAT has proved before to have no solution. "
        "Iterations are those of the graphs that they were asked for and did not solve, which had the whole time (not the same graphs for "
        "all pools)."
    )
    if trouble(of(rows, pool=CPSAT)):
        caption += f" CP-SAT: {trouble(of(rows, pool=CPSAT))}."
    if published:
        caption += " Published: 10 s on the paper's machine, other graphs of the same recipe, 1,200 of them."
    columns = ["candidates", "solved", "iterations of each candidate", "of all together"]
    return Table(SETS[name], (*columns, *(("published: solved, %", "published: iterations") if published else ())), tuple(lines), caption)


def _draw(about: About, rows: Rows, names: Sequence[str], figure: Figure) -> None:
    for place, name in enumerate(names):
        own = of(rows, set=name)
        top, below = (figure.add_subplot(2, len(names), place + 1 + len(names) * line) for line in (0, 1))
        pools = _pools(own)
        groups = [of(own, pool=pool) for pool in pools]
        solved = [(sum(row["solved"] for row in group), len(group)) for group in groups]
        shares = [100 * won / count for won, count in solved]
        bounds = [interval(won, count) for won, count in solved]
        places = [int(pool) for pool in pools]
        reach = [[share - 100 * low, 100 * high - share] for share, (low, high) in zip(shares, bounds, strict=True)]
        top.errorbar(
            places, shares, yerr=list(zip(*reach, strict=True)), fmt="o-", color="tab:blue", capsize=3, elinewidth=0.8, label="measured"
        )
        rival = [row["solved"] for row in of(own, pool=CPSAT) if row["status"] not in ABSENT]
        if rival:
            top.axhline(100 * sum(rival) / len(rival), color="tab:orange", lw=1.2, label="CP-SAT, measured")
        spent = [(int(pool), each) for pool, group in zip(pools, groups, strict=True) if (each := _per_candidate(group)) is not None]
        if spent:
            below.plot(*zip(*spent, strict=True), "o-", color="tab:blue")
        published = [(int(pool), share, count) for pool, (share, count) in PAPER.get(name, {}).items() if count is not None]
        if published:
            top.plot(
                [each[0] for each in published], [each[1] for each in published], "x--", color="0.5", lw=1, label="paper, published (10 s)"
            )
            below.plot([each[0] for each in published], [each[2] for each in published], "x--", color="0.5", lw=1)
        top.set_title(SETS[name], fontsize=10)
        top.set_ylim(0, min(102, 1.15 * 100 * max(high for _, high in bounds)))
        top.set_ylabel("solved, %")
        below.set_yscale("log")
        below.set_xlabel("candidates")
        below.set_ylabel("iterations of each candidate")
        for axes in (top, below):
            _dress(axes, places)
    legend_below(figure, labelled(figure.axes[0]))


def _dress(axes: Any, places: Sequence[int]) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axes.set_xscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:,g}"))
    axes.set_xticks(places, [str(each) for each in places])
    axes.xaxis.set_minor_formatter(NullFormatter())
    quiet(axes)

"""Solvers on the same problems, cores and seconds: what the benchmarks that compare them share."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from consformer.bench import identity
from consformer.bench.base import SIDE_BY_SIDE, About, Benchmark, Plot, Row, Rows, Unit
from consformer.bench.figures import EARLIEST, banded, colour, grid, labelled, legend_below, logarithmic, share_curve, size_of
from consformer.bench.tables import Cell, Percent, Spread, Table
from consformer.bench.ways import Asked, Way, network_way
from consformer.csp import CSP
from consformer.errors import UnknownNameError
from consformer.evaluation.sets import ProblemSet, signed
from consformer.machine import cores

SOLVED = ("solved", "optimal")
LATE = 0.1  # seconds over the limit from which a call counts as late
FAILED = ("overran", "crashed")
ABSENT = ("missing", "declined")  # it was not there for the problem
HOPELESS = "hopeless"  # not asked: it was proved that there is no solution


class Comparison(Benchmark, registered=False):
    """A row per problem and way to solve it; ways take turns on each problem, so that noise meets all of them."""

    key = ("set", "label", "variant")
    ways: ClassVar[Mapping[str, Way]]  # by name, in the order of tables; those that prove first where `spares`
    usual: ClassVar[tuple[str, ...]] = ()  # ways that are taken when none are named; none: all
    known: ClassVar[tuple[str, ...]] = ()  # the sets that are taken when none are named; none: there are no names for them
    spares: ClassVar[bool] = False  # who cannot prove anything is not asked for problems without a solution

    def __init__(self, sets: Sequence[ProblemSet], variants: Sequence[str] = (), seconds: float = 10.0, seed: int = 0) -> None:
        """`variants`: names of ways, or network:NAME; all when there are none."""
        self.sets, self.seconds, self.seed = sets, seconds, seed
        self.chosen = [self.way(name) for name in variants or self.ways]
        self.chosen.sort(key=lambda way: self.spares and not way.proves)
        self.about = {"seconds": seconds, "seed": seed, "cores": cores(), "threads": torch.get_num_threads()}
        self._places = {(each.name, label): (each, place) for each in sets for place, label in enumerate(each.labels)}
        self._asked = Asked()
        self._hopeless: set[tuple[str, str]] = set()

    @classmethod
    def way(cls, name: str) -> Way:
        """The way of that name."""
        kind, _, network = name.partition(":")
        if kind == "network" and network:
            return network_way(network)
        if name not in cls.ways:
            raise UnknownNameError("variant", name, [*cls.ways, "network:NAME"])
        return cls.ways[name]

    @classmethod
    def asked(cls, about: About, rows: Rows) -> str:
        """With the time limit, the variants unless they are the usual ones, and how many problems were taken of a set. Sets of which
        other variants were asked, or another number, have a command of their own."""
        groups: dict[tuple[frozenset[str], int], list[Mapping[str, Any]]] = {}
        for name in dict.fromkeys(row["set"] for row in rows):
            own = of(rows, set=name)
            alike = frozenset(row["variant"] for row in own), len({row["label"] for row in own})
            groups.setdefault(alike, []).extend(own)
        return " && ".join(cls._asked_at_once(about, own) for own in groups.values())

    @classmethod
    def _asked_at_once(cls, about: About, rows: Rows) -> str:
        sets, variants = (list(dict.fromkeys(row[name] for row in rows)) for name in ("set", "variant"))
        count = len({row["label"] for row in of(rows, set=sets[0])})
        chosen = [f"--variant {name}" for name in variants] if set(variants) != set(cls.usual or cls.ways) else []
        seed = [f"--seed {about['seed']}"] if about.get("seed") else []
        return " ".join([cls.command_for(rows, sets), f"--count {count}", f"--time-limit {about['seconds']:g}", *seed, *chosen])

    @classmethod
    def command_for(cls, rows: Rows, sets: Sequence[str]) -> str:
        """The command that measures these sets, which are named unless they are all there are."""
        return " ".join([cls.command, *(() if not cls.known or set(sets) == set(cls.known) else sets)])

    def units(self) -> list[Unit]:
        return [
            Unit((name, label, way.name), self.seconds * way.factor, single=way.rival is not None and way.rival.single)
            for name, label in self._places
            for way in self.chosen
        ]

    def recall(self, rows: Rows) -> None:
        self._hopeless = {(row["set"], row["label"]) for row in rows if row["status"] == "infeasible"}

    def prepare(self) -> None:
        for each in self.sets:
            self._asked.prepare(self.chosen, min(each.problems, key=lambda csp: csp.n))

    def close(self) -> None:
        self._asked.close()

    def measure(self, unit: Unit) -> list[Row]:
        name, label, variant = map(str, unit.key)
        problems, place = self._places[name, label]
        csp, way = problems.problems[place], self.way(variant)
        row = self._row(name, label, csp, way)
        if row["status"] == "infeasible":
            self._hopeless.add((name, label))
        signs = {"signed": signed(csp)} if problems.best and problems.best[place] is not None else {}
        return [{"variables": csp.n, **self._identity(name, label, way), **signs, **row}]

    def differing(self, row: Mapping[str, Any]) -> str | None:
        if (row["set"], row["label"]) not in self._places:
            return None
        way = next((each for each in self.chosen if each.name == row["variant"]), None)  # what is not asked for now may be gone
        return identity.differing(row, self._identity(row["set"], row["label"], way))

    def _identity(self, name: str, label: str, way: Way | None) -> dict[str, Any]:
        problems, place = self._places[name, label]
        best = problems.best[place] if problems.best else None
        own = identity.entries(problems.problems[place], None if way is None else way.asks)
        return own if best is None else {**own, "best": best}

    def _row(self, name: str, label: str, csp: CSP, way: Way) -> Row:
        if self.spares and not way.proves and (name, label) in self._hopeless:
            return {"status": HOPELESS, "violations": None, "objective": None, "seconds": 0.0}
        return self._asked.row(way, csp, self.seconds, self.seed)


def of(rows: Rows, **entries: Any) -> list[Mapping[str, Any]]:
    """The rows with these entries.

    >>> of([{"set": "a", "n": 1}, {"set": "b", "n": 2}], set="b")
    [{'set': 'b', 'n': 2}]
    """
    return [row for row in rows if all(row[name] == value for name, value in entries.items())]


def gap_percent(rows: Rows) -> float | None:
    """The mean distance to the best known over the mean best known, in per cent, where there are any.

    >>> gap_percent([{"best": 200, "objective": 199}, {"best": 100, "objective": 98}])
    1.0
    """
    known = [(row["best"], row["objective"]) for row in rows if row.get("best") is not None and row["objective"] is not None]
    size = sum(abs(best) for best, _ in known)
    return 100 * sum(abs(best - found) for best, found in known) / size if size else None


def gap_cell(rows: Rows) -> Spread | None:
    """The gap, and those of the best and the worst of the problems.

    >>> print(gap_cell([{"best": 200, "objective": 200}, {"best": 100, "objective": 97}]))
    1.000 [0.000–3.000]
    """
    gaps = [gap for row in rows if (gap := gap_percent([row])) is not None]
    gap = gap_percent(rows)
    return None if gap is None else Spread(gap, min(gaps), max(gaps))


def trouble(rows: Rows) -> str:
    """What went wrong, and how often, with the reason where it is the same for all.

    >>> trouble([{"status": "solved"}, {"status": "overran", "reason": "killed after 15.0 s"}])
    'overran 1 (killed after 15.0 s)'
    """
    found = Counter((row["status"], row.get("reason", "")) for row in rows if row["status"] in FAILED + ABSENT)
    words = []
    for (status, reason), count in found.most_common():
        told = reason if status in ABSENT else f"{status} {count}" + (f" ({reason})" if reason else "")
        words.append(f"{told}: {count}" if status == "declined" else told)
    return ", ".join(words)


def shown(rows: Rows, ways: Mapping[str, Way]) -> list[str]:
    """Names of the ways in the order of tables; networks by name come after the one that is chosen by itself."""
    order = list(ways)
    return sorted({row["variant"] for row in rows}, key=lambda name: (order.index(name.partition(":")[0]), name))


@dataclass(frozen=True)
class Line:
    """A line of a table of shares solved: who, within how many seconds, and what was published, by set."""

    title: str
    variant: str = ""  # none: published only
    seconds: float | None = None  # counts what was solved within them; none: whatever the limit was
    published: Mapping[str, str] | None = None


def solved_table(title: str, sets: Mapping[str, str], lines: Sequence[Line], rows: Rows, caption: str) -> Table:
    """Shares solved, a column per set (name: heading) for what was measured and another for what was published."""
    body = []
    for line in lines:
        own = of(rows, variant=line.variant)
        published = line.published or {}
        if own or (published and not line.variant):
            measured = [share_solved(of(own, set=name), line.seconds) for name in sets]
            notes = "; ".join(filter(None, (behind(own, rows, sets) if own else "", trouble(own))))
            body.append((line.title, *measured, *(published.get(name) for name in sets), notes or None))
    counted = " ".join(filter(None, (counts({heading: of(rows, set=name) for name, heading in sets.items()}), caption)))
    return Table(title, side_by_side(list(sets.values()), "% solved"), tuple(body), counted)


def counts(groups: Mapping[str, Rows], what: str = "Problems") -> str:
    """How many problems each group has, for captions.

    >>> counts({"small": [{"label": 1}, {"label": 1}, {"label": 2}], "large": []})
    'Problems: 2 (small).'
    """
    told = [f"{len({row['label'] for row in group})} ({heading})" for heading, group in groups.items() if group]
    return f"{what}: {', '.join(told)}." if told else ""


def behind(own: Rows, rows: Rows, sets: Mapping[str, str]) -> str:
    """Where one was measured on fewer problems than others were so far: shares of other problems are not to be compared.

    >>> rows = [{"set": "a", "label": n, "variant": v} for n, v in [(1, "x"), (2, "x"), (1, "y")]]
    >>> behind(rows[2:], rows, {"a": "large graphs"})
    'large graphs: 1 of 2 problems only'
    """
    missing = {sets[name]: fewer(of(own, set=name), of(rows, set=name)) for name in sets}
    return ", ".join(f"{heading}: {told}" for heading, told in missing.items() if told)


def fewer(own: Rows, rows: Rows, what: str = "problems") -> str:
    """That one was measured on fewer problems than all together, if so."""
    count, most = (len({row["label"] for row in each}) for each in (own, rows))
    return f"{count} of {most} {what} only" if count < most else ""


def side_by_side(headings: Sequence[str], unit: str) -> tuple[str, ...]:
    """Columns of a table in which what was measured and what was published are never mixed."""
    return ("", *(f"{heading}: {unit}" for heading in headings), *(f"{heading}, published" for heading in headings), "notes")


def share_solved(rows: Rows, seconds: float | None = None) -> Percent | None:
    """How many were solved (within so many seconds) of those that the solver was there for."""
    asked = [row for row in rows if row["status"] not in ABSENT]
    if not asked:
        return None
    return Percent(sum(row["status"] in SOLVED and (seconds is None or row["seconds"] <= seconds + LATE) for row in asked), len(asked))


def medians_table(title: str, sets: Mapping[str, str], benchmark: type[Comparison], rows: Rows) -> Table:
    """Median seconds by set of whatever came of it, for who was there, and the middle half."""
    body: list[tuple[Cell, ...]] = []
    for variant in shown(rows, benchmark.ways):
        times = [[row["seconds"] for row in of(rows, variant=variant, set=name) if row["status"] not in ABSENT] for name in sets]
        medians = [median_cell(own) for own in times]
        if any(times):
            body.append((benchmark.way(variant).label, *medians))
    return Table(title, ("", *sets.values()), tuple(body), "In brackets: the middle half.")


def median_cell(numbers: Sequence[float]) -> Spread | None:
    """The median, and where the middle half lies.

    >>> print(median_cell([1.0, 2.0, 3.0, 4.0, 50.0]))
    3.000 [2.000–4.000]
    """
    if not numbers:
        return None
    middle = statistics.quantiles(numbers, n=4, method="inclusive") if len(numbers) > 1 else [numbers[0]] * 3
    return Spread(statistics.median(numbers), middle[0], middle[-1])


def share_plot(name: str, title: str, sets: Mapping[str, str], benchmark: type[Comparison], rows: Rows, end: float) -> Plot | None:
    """The share solved over seconds, a panel per set; None where nothing was measured."""
    there = [(each, heading) for each, heading in sets.items() if of(rows, set=each)]
    if not there:
        return None

    def draw(figure: Any) -> None:
        variants = shown(rows, benchmark.ways)
        ways, bands = {variant: benchmark.way(variant) for variant in variants}, banded(variants)
        legend: dict[str, Any] = {}
        for axes, (each, heading) in zip(grid(figure, len(there)), there, strict=True):
            for variant in variants:
                own = [row for row in of(rows, set=each, variant=variant) if row["status"] not in ABSENT]
                if own:
                    costs = [row["seconds"] for row in own if row["status"] in SOLVED and row["seconds"] <= end + LATE]
                    label, color = ways[variant].label, colour(variant, variants)
                    share_curve(axes, costs, len(own), end, label=label, color=color, band=variant in bands)
            everyone = {row["label"] for row in of(rows, set=each)}
            solved = {row["label"] for row in of(rows, set=each) if row["status"] in SOLVED}
            axes.axhline(len(solved) / len(everyone), color="black", linestyle=":", linewidth=1, label="solved by anyone, in any time")
            logarithmic(axes, "seconds", EARLIEST, end)
            axes.set_title(heading, fontsize=10)
            axes.set_ylabel("share solved")
            legend |= labelled(axes)
        legend_below(figure, legend)

    return Plot(name, f"{title} (bands, of some: 95 % intervals)", draw, size_of(len(there)))


def circumstances(about: About, rows: Rows) -> str:
    """How all were measured, for captions."""
    count = about["cores"]
    beside = " (those with one thread side by side)" if any(row.get(SIDE_BY_SIDE) for row in rows) else ""
    return (
        f"{about['seconds']:g} s for each problem unless stated otherwise, {count} core{'s' if count > 1 else ''}, seed {about['seed']}; "
        f"solvers one after the other on each problem{beside}, every answer looked at by the checker."
    )

"""Which part of the search earns its keep: each alone, all together, and all but one, on the same problems, cores and seconds."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from consformer.baselines.cpsat import solve_cpsat
from consformer.bench.record import Record
from consformer.csp import CSP
from consformer.evaluation.sets import ProblemSet
from consformer.evaluation.summary import interval
from consformer.hybrid import PARTS
from consformer.solving import solve

WORKERS = 2  # of CP-SAT alone
COLUMNS = ("variant", "solved, 95 % interval", "proved", "median s", "total s", "gap %", "ended by")


@dataclass(frozen=True)
class Variant:
    """A way to solve."""

    name: str
    method: str  # of `solve`; "rival": CP-SAT as anyone would call it, in this process
    without: tuple[str, ...] = ()
    factor: float = 1.0  # times the time limit that the others have


VARIANTS = {
    variant.name: variant
    for variant in (
        Variant("hybrid", "hybrid"),
        Variant("network", "network"),
        Variant("local", "local"),
        Variant("cpsat", "rival"),
        Variant("cpsat-6", "rival", factor=6.0),
        *(Variant(f"without-{part}", "hybrid", (part,)) for part in PARTS),
    )
}
USUAL = tuple(name for name in VARIANTS if name != "cpsat-6")


@dataclass(frozen=True)
class Answer:
    """What a variant made of a problem, checked."""

    status: str
    violations: int | None
    objective: float | None
    seconds: float
    by: str | None  # the part that found it or proved it
    parts: Mapping[str, tuple[float, int]]  # seconds and improvements


def answer(csp: CSP, variant: Variant, seconds: float, seed: int) -> Answer:
    """Solve a problem in one of the ways; `seconds` is its time limit, and what is measured is the whole call."""
    began = time.perf_counter()
    if variant.method == "rival":
        found = solve_cpsat(csp, time_limit=seconds * variant.factor, workers=WORKERS, seed=seed)
        status = {"unknown": "unsolved", "feasible": "solved"}.get(found.status, found.status)
        return Answer(status, None if found.values is None else 0, found.objective, time.perf_counter() - began, "CP-SAT", {})
    result = solve(csp, method=variant.method, without=variant.without, time_limit=seconds * variant.factor, seed=seed)
    taken, account = time.perf_counter() - began, result.effort.account
    parts = {} if account is None else {part.name: (round(part.seconds, 4), part.improvements) for part in account.parts}
    by = "network" if account is None else result.proof.by if result.proof else account.winner
    return Answer(result.status, result.violations, result.objective, taken, by, parts)


class SearchBench:
    """Iterate over it for a row per problem and variant; variants take turns on each problem, so that noise meets all of them."""

    def __init__(self, problems: ProblemSet, variants: Sequence[str], seconds: float, seed: int, folder: Path | None) -> None:
        self.problems, self.variants, self.seconds, self.seed = problems, variants, seconds, seed
        about = {"bench": "search", "set": problems.name, "count": len(problems.problems), "seconds": seconds, "seed": seed}
        path = None if folder is None else folder / f"search-{problems.name}.jsonl"
        self.record = Record(path, about | {"threads": torch.get_num_threads()}, ("index", "variant"))

    def __len__(self) -> int:
        return len(self.problems.problems) * len(self.variants)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        done = self.record.done
        for index, csp in enumerate(self.problems.problems):
            for name in self.variants:
                if (index, name) not in done:
                    yield self._measure(index, csp, VARIANTS[name])

    def warm_up(self) -> None:
        """Have compiled code loaded and processes' files cached before anything is measured."""
        csp = self.problems.problems[0]
        for name in self.variants:
            answer(csp, VARIANTS[name], 0.5, self.seed)

    def _measure(self, index: int, csp: CSP, variant: Variant) -> dict[str, Any]:
        found = answer(csp, variant, self.seconds, self.seed)
        best = self.problems.best[index] if self.problems.best else None
        row = {
            "index": index,
            "variant": variant.name,
            "label": self.problems.labels[index],
            "variables": csp.n,
            "status": found.status,
            "violations": found.violations,
            "objective": found.objective,
            "best": best,
            "seconds": round(found.seconds, 4),
            "by": found.by,
            "parts": found.parts,
        }
        self.record.add(row)
        return row


@dataclass(frozen=True)
class Line:
    """A variant in the table of a set."""

    variant: str
    count: int
    solved: int
    proved: int  # infeasible, or optimal
    median: float  # seconds
    total: float
    late: int  # calls that took more than 0.1 seconds over the limit
    gap: float | None  # per cent, where best known values are there
    by: Mapping[str, int]  # how often each part ended it

    @property
    def share(self) -> str:
        low, high = interval(self.solved, self.count)
        return f"{self.solved} of {self.count} = {100 * self.solved / max(self.count, 1):.1f} % [{100 * low:.1f}, {100 * high:.1f}]"

    def cells(self, nothing: str = "") -> list[str]:
        """What stands under `COLUMNS`."""
        by = ", ".join(f"{name} {count}" for name, count in sorted(self.by.items(), key=lambda item: -item[1]))
        gap = nothing if self.gap is None else f"{self.gap:.3f}"
        return [self.variant, self.share, str(self.proved), f"{self.median:.3f}", f"{self.total:.1f}", gap, by or nothing]


def lines(rows: Sequence[Mapping[str, Any]], seconds: float) -> list[Line]:
    """The table of a set: what each variant reached."""
    found = []
    for name in VARIANTS:
        own = [row for row in rows if row["variant"] == name]
        if own:
            found.append(_line(name, own, seconds * VARIANTS[name].factor))
    return found


def _line(name: str, rows: Sequence[Mapping[str, Any]], limit: float) -> Line:
    solved = [row for row in rows if row["status"] in ("solved", "optimal")]
    known = [(row["best"], row["objective"]) for row in solved if row["best"] is not None and row["objective"] is not None]
    size = sum(abs(best) for best, _ in known)
    gap = 100 * sum(abs(best - value) for best, value in known) / size if size else None
    by: dict[str, int] = {}
    for row in rows:
        if row["status"] != "unsolved" and row["by"] is not None:
            by[row["by"]] = by.get(row["by"], 0) + 1
    return Line(
        variant=name,
        count=len(rows),
        solved=len(solved),
        proved=sum(row["status"] in ("infeasible", "optimal") for row in rows),
        median=statistics.median(row["seconds"] for row in rows),
        total=sum(row["seconds"] for row in rows),
        late=sum(row["seconds"] > limit + 0.1 for row in rows),
        gap=gap,
        by=by,
    )


def markdown(title: str, found: Sequence[Line]) -> str:
    """The table as Markdown."""
    head = f"**{title}**\n\n| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|\n"
    return head + "".join(f"| {' | '.join(line.cells(nothing='–'))} |\n" for line in found)

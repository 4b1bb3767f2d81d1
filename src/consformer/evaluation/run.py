"""Running an evaluation: problem after problem, each result recorded as soon as it is there, so that it can be stopped and resumed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from consformer.baselines.cpsat import solve_cpsat
from consformer.csp import CSP
from consformer.errors import InputError
from consformer.evaluation.sets import ProblemSet
from consformer.machine import commit, machine
from consformer.result import Result
from consformer.solving import solve
from consformer.training.checkpoint import locate, read_card

TOGETHER = 64  # problems refined together when iterations are what counts


@dataclass(frozen=True)
class Limits:
    """How each problem is solved; None: what the network's file says."""

    iterations: int | None = None
    seconds: float | None = None
    """for each problem by itself; without it, problems are solved many at a time"""
    pool: int = 1
    p: str | None = None
    temperature: str | None = None
    select: str | None = None
    redraw: bool | None = None
    decode: str | None = None
    restart: int | None = None
    seed: int = 0


@dataclass(frozen=True)
class Row:
    """What became of a problem."""

    index: int
    label: str
    variables: int
    solved: bool
    violations: int
    objective: float | None
    best: float | None  # best known objective
    iterations: int
    seconds: float
    cpsat: dict[str, Any] | None = None  # status, objective and seconds of CP-SAT on the same problem

    @property
    def gap(self) -> float | None:
        """How far from the best known objective, in per cent of it."""
        if self.best is None or self.objective is None:
            return None
        return 100 * abs(self.best - self.objective) / abs(self.best)


class Evaluation:
    """Iterate over it for a `Row` per problem; `rows` are all there are so far, those of an earlier sitting among them."""

    def __init__(self, problems: ProblemSet, network: str, limits: Limits, record: Path | None = None, cpsat: float | None = None) -> None:
        self.problems, self.network, self.limits, self.cpsat = problems, network, limits, cpsat
        self.record = record
        self.header = {
            "network": read_card(network).name,
            "weights": hashlib.sha256(locate(network).read_bytes()).hexdigest()[:16],
            "set": problems.name,
            "count": len(problems.problems),
            "limits": asdict(limits),
            "cpsat": cpsat,
        }
        self.rows: list[Row] = [] if record is None else self._resume(record)

    def __iter__(self) -> Iterator[Row]:
        done = {row.index for row in self.rows}
        waiting = [index for index in range(len(self.problems.problems)) if index not in done]
        step = TOGETHER if self.limits.seconds is None else 1
        for start in range(0, len(waiting), step):
            for row in self._solve(waiting[start : start + step]):
                self.rows.append(row)
                self._note(asdict(row))
                yield row

    def _solve(self, indices: list[int]) -> Iterator[Row]:
        limits = asdict(self.limits)
        seconds = limits.pop("seconds")
        problems = [self.problems.problems[index] for index in indices]
        for index, result in zip(indices, solve(problems, network=self.network, time_limit=seconds, **limits), strict=True):
            yield self._row(index, result)

    def _row(self, index: int, result: Result) -> Row:
        best = self.problems.best
        return Row(
            index,
            self.problems.labels[index],
            result.csp.n,
            result.solved,
            result.violations,
            result.objective,
            best[index] if best else None,
            result.effort.iterations,
            round(result.effort.seconds, 4),
            None if self.cpsat is None else _cpsat(result.csp, self.cpsat),
        )

    def _resume(self, record: Path) -> list[Row]:
        if not record.exists():
            record.parent.mkdir(parents=True, exist_ok=True)
            self._note(self.header | {"machine": machine(), "commit": commit(), "date": datetime.now(UTC).date().isoformat()})
            return []
        lines = record.read_text().splitlines()
        try:
            header, *rows = [dict(json.loads(line)) for line in lines]
            found = [Row(**row) for row in rows]
        except (ValueError, TypeError):
            raise InputError("is no record of an evaluation, or it is damaged; name another file", source=record) from None
        for key, value in json.loads(json.dumps(self.header)).items():
            if header.get(key) != value:
                told = f"holds an evaluation with another {key} ({header.get(key)!r}, not {value!r}); name another file to start anew"
                raise InputError(told, source=record)
        return found

    def _note(self, document: dict[str, Any]) -> None:
        if self.record is not None:
            with self.record.open("a") as file:
                file.write(json.dumps(document) + "\n")


def _cpsat(csp: CSP, seconds: float) -> dict[str, Any]:
    found = solve_cpsat(csp, time_limit=seconds, workers=2)
    return {"status": found.status, "objective": found.objective, "seconds": round(found.seconds, 4)}

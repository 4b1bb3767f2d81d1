"""Running an evaluation: problem after problem, each result recorded as soon as it is there, so that it can be stopped and resumed."""

from __future__ import annotations

import hashlib
import json
import signal
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from multiprocessing import get_context
from multiprocessing.pool import Pool
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import torch

from consformer.baselines.cpsat import solve_cpsat
from consformer.csp import CSP
from consformer.errors import ConsformerError, InputError
from consformer.evaluation.sets import ProblemSet, signed
from consformer.machine import commit, machine
from consformer.memory import keep_freed_memory
from consformer.networks import Network
from consformer.result import Result
from consformer.solving import refine, solve
from consformer.training.checkpoint import Card, load_network

TOGETHER = 32  # problems refined together when iterations are what counts


@dataclass(frozen=True)
class Limits:
    """How each problem is solved; None: what the network's file says."""

    iterations: int | None = None
    seconds: float | None = None
    """for each problem by itself; without it, problems are solved many at a time"""
    pool: int | None = None
    p: str | None = None
    temperature: str | None = None
    select: str | None = None
    redraw: str | None = None
    decode: str | None = None
    restart: int | None = None
    restarts: str | None = None
    patience: str | None = None
    depth: int | None = None
    seed: int = 0


@dataclass(frozen=True)
class Outcome:
    """What the network made of a problem."""

    solved: bool
    violations: int | None  # none: it was not asked, there is no solution
    objective: float | None
    iterations: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Row(Outcome):
    """What became of a problem."""

    index: int
    label: str
    variables: int
    signed: bool = False  # some weights are negative
    best: float | None = None  # best known objective
    cpsat: dict[str, Any] | None = None  # status, objective and seconds of CP-SAT on the same problem


@dataclass(frozen=True)
class Rival:
    """Whether and how CP-SAT is measured on the same problems."""

    seconds: float
    """its time limit for each, with two workers"""
    record: Path | None = None
    """an evaluation of another network on the same problems, whose figures of CP-SAT are taken over"""


class Evaluation:
    """Iterate over it for a `Row` per problem; `rows` are all there are so far, those of an earlier sitting among them.

    CP-SAT comes first: what it proves to have no solution the network is not asked for.
    """

    def __init__(
        self,
        problems: ProblemSet,
        network: str,
        limits: Limits,
        record: Path | None = None,
        rival: Rival | None = None,
        jobs: int = 1,
        workers: int = 1,
    ) -> None:
        """`jobs` problems are solved at a time; or one, by as many `workers` with seeds of their own, of which the best counts."""
        if workers > 1 and (jobs > 1 or limits.seconds is None):
            raise ConsformerError("several workers race on one problem at a time: that needs a time limit, and no jobs beside it")
        self.problems, self.network, self.limits, self.rival, self.jobs, self.workers = problems, network, limits, rival, jobs, workers
        self.record = record
        model, card = load_network(network)
        self.header = {
            "network": card.name,
            "weights": fingerprint(model, card),
            "set": problems.name,
            "count": len(problems.problems),
            "limits": asdict(limits),
            "cpsat": rival and rival.seconds,
            "jobs": jobs,
            **({"workers": workers} if workers > 1 else {}),
        }
        self.rows: list[Row] = []
        self.rivals: dict[int, dict[str, Any]] = {}  # what CP-SAT found, by index
        if record is not None:
            self._resume(record)
        if rival is not None and rival.record is not None:
            self._take_over(rival.record)

    def __iter__(self) -> Iterator[Row]:
        for _ in self.measure_rival():
            pass
        done = {row.index for row in self.rows}
        waiting = [index for index in range(len(self.problems.problems)) if index not in done]
        for index in [index for index in waiting if self._hopeless(index)]:
            waiting.remove(index)
            yield self._keep(self._row(index, Outcome(False, None, None, 0, 0.0)))
        for index, outcome in self._outcomes(waiting):
            yield self._keep(self._row(index, outcome))

    def measure_rival(self) -> Iterator[int]:
        """CP-SAT on every problem that it was not yet measured on; how many are done, one after the other."""
        if self.rival is None:
            return
        for index, csp in enumerate(self.problems.problems):
            if index not in self.rivals:
                found = solve_cpsat(csp, time_limit=self.rival.seconds, workers=2)
                self.rivals[index] = {"status": found.status, "objective": found.objective, "seconds": round(found.seconds, 4)}
                self._note({"index": index, "cpsat": self.rivals[index]})
                yield len(self.rivals)

    def _outcomes(self, waiting: list[int]) -> Iterator[tuple[int, Outcome]]:
        if self.workers > 1:
            yield from self._raced(waiting)
            return
        together = TOGETHER if self.limits.seconds is None else 1
        orders = [
            ([(index, self.problems.problems[index]) for index in waiting[start : start + together]], self.network, self.limits)
            for start in range(0, len(waiting), together)
        ]
        if self.jobs == 1:
            for order in orders:
                yield from _outcomes(order)
            return
        with _processes(self.jobs) as processes:
            for found in processes.imap_unordered(_outcomes, orders):
                yield from found

    def _raced(self, waiting: list[int]) -> Iterator[tuple[int, Outcome]]:
        over = get_context("spawn").Event()
        with _processes(self.workers, over) as processes:
            for index in waiting:
                over.clear()
                csp, seed = self.problems.problems[index], self.limits.seed
                orders = [(csp, self.network, replace(self.limits, seed=seed + worker)) for worker in range(self.workers)]
                yield index, min(processes.imap_unordered(_race, orders), key=partial(_rank, csp))

    def _hopeless(self, index: int) -> bool:
        return self.rivals.get(index, {}).get("status") == "infeasible"

    def _row(self, index: int, outcome: Outcome) -> Row:
        csp, best = self.problems.problems[index], self.problems.best
        return Row(
            index=index,
            label=self.problems.labels[index],
            variables=csp.n,
            signed=signed(csp),
            best=best[index] if best else None,
            cpsat=self.rivals.get(index),
            **asdict(outcome),
        )

    def _keep(self, row: Row) -> Row:
        self.rows.append(row)
        self._note(asdict(row))
        return row

    def _resume(self, record: Path) -> None:
        if not record.exists():
            record.parent.mkdir(parents=True, exist_ok=True)
            self._note(self.header | {"machine": machine(), "commit": commit(), "date": datetime.now(UTC).date().isoformat()})
            return
        header, self.rivals, self.rows = read_record(record)
        for key, value in json.loads(json.dumps(self.header)).items():
            if _given(header.get(key)) != _given(value):
                told = f"holds an evaluation with another {key} ({header.get(key)!r}, not {value!r}); name another file to start anew"
                raise InputError(told, source=record)

    def _take_over(self, record: Path) -> None:
        header, rivals, _ = read_record(record)
        for key in ("set", "count", "cpsat"):
            if header.get(key) != self.header[key]:
                raise InputError(
                    f"cannot be taken over: it has another {key} ({header.get(key)!r}, not {self.header[key]!r})", source=record
                )
        self.rivals = rivals | self.rivals

    def _note(self, document: dict[str, Any]) -> None:
        if self.record is not None:
            with self.record.open("a") as file:
                file.write(json.dumps(document) + "\n")


def _rank(csp: CSP, outcome: Outcome) -> tuple[float, float, float]:
    """Smaller is better: violations, then the objective, then seconds."""
    objective = outcome.objective or 0.0
    return outcome.violations or 0, -objective if csp.maximise else objective, outcome.seconds


def _given(entry: Any) -> Any:
    """Limits without those that are not given, so that a record goes on after a new one was thought of."""
    return {key: value for key, value in entry.items() if value is not None} if isinstance(entry, dict) else entry


def fingerprint(network: Network, card: Card) -> str:
    """Changes with what a network says: its weights, and the settings it likes."""
    digest = hashlib.sha256(json.dumps([dict(card.search), dict(card.soft_search), dict(card.tight_search)]).encode())
    for name, tensor in sorted(network.state_dict().items()):
        digest.update(name.encode() + tensor.numpy().tobytes())
    return digest.hexdigest()[:16]


def read_record(record: Path) -> tuple[dict[str, Any], dict[int, dict[str, Any]], list[Row]]:
    """Header, CP-SAT's results by index, and rows of a record."""
    try:
        header, *lines = [dict(json.loads(line)) for line in record.read_text().splitlines()]
        rivals = {line["index"]: dict(line["cpsat"]) for line in lines if line.get("cpsat") is not None}
        return header, rivals, [Row(**line) for line in lines if "label" in line]
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", source=record) from error
    except (ValueError, TypeError, KeyError):
        raise InputError("is no record of an evaluation, or it is damaged; name another file", source=record) from None


# --- in a process of its own --------------------------------------------------------------------------------------


_over: Event | None = None  # set when a problem that several processes race on is solved


def _processes(count: int, over: Event | None = None) -> Pool:
    """Processes that share the cores; leaving the context ends them."""
    return get_context("spawn").Pool(count, _prepare, (max(1, torch.get_num_threads() // count), over))


def _prepare(threads: int, over: Event | None) -> None:
    global _over
    _over = over
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that gave the order stops this one
    keep_freed_memory()
    torch.set_num_threads(threads)


def _outcomes(order: tuple[list[tuple[int, CSP]], str, Limits]) -> list[tuple[int, Outcome]]:
    problems, network, limits = order
    results = solve([csp for _, csp in problems], method="network", network=network, **_settings(limits))
    return [(index, _outcome(result)) for (index, _), result in zip(problems, results, strict=True)]


def _race(order: tuple[CSP, str, Limits]) -> Outcome:
    """Solve until another process has."""
    assert _over is not None
    csp, network, limits = order
    run = refine([csp], network=network, **_settings(limits))
    for _event in run:
        if _over.is_set():
            break
    (result,) = run.results()
    if result.solved and not csp.soft_weight:
        _over.set()
    return _outcome(result)


def _settings(limits: Limits) -> dict[str, Any]:
    settings = asdict(limits)
    return {"time_limit": settings.pop("seconds"), **settings}


def _outcome(result: Result) -> Outcome:
    effort = result.effort
    return Outcome(result.solved, result.violations, result.objective, effort.iterations, round(effort.seconds, 4))

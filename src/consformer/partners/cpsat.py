"""CP-SAT beside the network: it looks for solutions and proofs in a process of its own, and is asked now and then what it has found."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Self

import numpy as np

from consformer.constraints.cp import CpStatement
from consformer.csp import CSP
from consformer.errors import ConsformerError
from consformer.partners.process import CpSatProcess, Event, Job
from consformer.partners.stating import checked_cost, state

Status = Literal["running", "solved", "optimal", "feasible", "infeasible", "unknown", "failed"]


@dataclass(frozen=True)
class Found:
    """A solution: all hard constraints hold, which was checked."""

    values: list[int]  # value indices
    cost: float  # of the violated soft constraints


class Prover:
    """CP-SAT at work on one problem. It starts at once, runs beside the caller, and ends when told to, within 0.1 seconds.

    `seconds` is the time it has, stating the problem included; `hint` is an assignment to start from. Wrong arguments raise; whatever goes
    wrong later is the status "failed" and a `reason`, for it is only a partner, and the solve goes on without it.

    >>> from consformer import Model, all_different
    >>> model = Model()
    >>> model.add(all_different(model.variables(3, values=[0, 1])))
    >>> with Prover(model.compile()) as prover:
    ...     while prover.status == "running":
    ...         found = prover.poll()
    >>> prover.status
    'infeasible'
    """

    def __init__(
        self, csp: CSP, *, workers: int = 1, seed: int = 0, hint: Sequence[int] | None = None, seconds: float | None = None
    ) -> None:
        self.csp, self.workers, self.seed = csp, workers, seed
        self._deadline = None if seconds is None else time.perf_counter() + seconds
        self._status: Status = "running"
        self.reason = ""  # of a failure
        self.best: Found | None = None
        self.bound: float | None = None  # no solution costs less; None: not known
        self._stated: CpStatement | None = None
        self._process = CpSatProcess()  # gets ready while the problem is stated
        try:
            self._stated = state(csp, self._deadline, clauses=True)
            self._start(hint)
        except TimeoutError:
            self._finish("unknown")
        except BaseException:
            self.close()
            raise

    @property
    def status(self) -> Status:
        """running; solved: a solution was found and there is nothing to optimise; optimal: the best one was; feasible: one was when time
        ran out or it was closed; infeasible: there is none, proven; unknown: time ran out or it was closed; failed: see `reason`.

        It is as of the last `poll`.
        """
        return self._status

    def poll(self) -> list[Found]:
        """The solutions found since the last call, each better than those before; returns at once."""
        if self._status != "running":
            return []
        found: list[Found] = []
        for event in self._process.events():
            if self._status == "running":
                self._hear(event, found)
        if self._status == "running" and self._deadline is not None and time.perf_counter() >= self._deadline:
            self._finish("unknown" if self.best is None else "feasible")
        return found

    def hint(self, values: Sequence[int]) -> None:
        """Start again from an assignment, if still running: what CP-SAT has learnt is lost, its best solution and bound are kept here."""
        if self._status == "running":
            self._process.close()
            self._process = CpSatProcess()
            self._start(values)

    def close(self) -> None:
        """End it at once; nothing happens when it has ended."""
        if self._status == "running":
            self._finish("unknown" if self.best is None else "feasible")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _start(self, hint: Sequence[int] | None) -> None:
        assert self._stated is not None
        text = self._stated.text() + (self._stated.hint(hint) if hint is not None else "")
        left = None if self._deadline is None else self._deadline - time.perf_counter()
        self._process.send(Job(text, self.csp.n, self.workers, self.seed, left))

    def _hear(self, event: Event, found: list[Found]) -> None:
        header, payload = event
        if header["event"] == "failed":
            self._fail(header["reason"])
            return
        if payload:
            self._take(np.frombuffer(payload, dtype=np.int32).tolist(), found)
        if header["event"] == "bound":
            self._raise_bound(header["bound"])
        if header["event"] == "end" and self._status == "running":
            self._conclude(header["status"], header["bound"])

    def _take(self, values: list[int], found: list[Found]) -> None:
        try:
            cost = checked_cost(self.csp, values)
        except ConsformerError as error:
            self._fail(str(error))
            return
        if self.best is None or cost < self.best.cost:
            self.best = Found(values, cost)
            found.append(self.best)

    def meets(self, cost: float) -> bool:
        """Whether its bound proves that nothing costs less than this."""
        if self.bound is None or self._stated is None or self._stated.unit is None:
            return False
        return cost < self.bound + self._stated.unit / 2

    def _raise_bound(self, bound: float) -> None:
        assert self._stated is not None
        cost = self._stated.cost_of(bound)
        self.bound = cost if self.bound is None else max(self.bound, cost)

    def _conclude(self, code: str, bound: float) -> None:
        assert self._stated is not None
        if self._stated.optimising and code in ("OPTIMAL", "FEASIBLE"):
            self._raise_bound(bound)
        if self._stated.optimising:
            code = "FEASIBLE" if code == "OPTIMAL" and self._stated.unit is None else code  # optimal up to rounding is no proof
            ends: dict[str, Status] = {"OPTIMAL": "optimal", "FEASIBLE": "feasible", "INFEASIBLE": "infeasible"}
        else:
            ends = {"OPTIMAL": "solved", "FEASIBLE": "solved", "INFEASIBLE": "infeasible"}
        self._finish(ends.get(code, "unknown"))

    def _fail(self, reason: str) -> None:
        self.reason = reason
        self._finish("failed")

    def _finish(self, status: Status) -> None:
        self._status = status
        self._process.close()

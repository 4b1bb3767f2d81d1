"""A solver at work on one problem in a process of its own, asked now and then what it has found."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Self

from consformer.csp import CSP
from consformer.errors import ConsformerError
from consformer.partners.process import CPSAT, Event, Program, SolverProcess
from consformer.partners.stating import checked_cost

Status = Literal["running", "solved", "optimal", "feasible", "infeasible", "unknown", "failed"]


@dataclass(frozen=True)
class Found:
    """A solution: all hard constraints hold, which was checked."""

    values: list[int]  # value indices
    cost: float  # of the violated soft constraints


class Beside(ABC):
    """It starts at once, runs beside the caller, and ends when told to, within 0.1 seconds.

    `seconds` is the time it has, stating the problem included. Wrong arguments raise; whatever goes wrong later is the status "failed" and
    a `reason`, for it is only a partner, and the solve goes on without it.
    """

    program: Program = CPSAT

    def __init__(self, csp: CSP, seconds: float | None = None) -> None:
        self.csp = csp
        self._deadline = None if seconds is None else time.perf_counter() + seconds
        self._status: Status = "running"
        self.reason = ""  # of a failure
        self.best: Found | None = None
        self._process = SolverProcess(self.program)  # gets ready while the problem is stated

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
            if self._status == "running" and event[0]["event"] == "failed":
                self._fail(event[0]["reason"])
            elif self._status == "running":
                self._hear(event, found)
        if self._status == "running" and self._deadline is not None and time.perf_counter() >= self._deadline:
            self._give_up()
        return found

    def stop(self) -> None:
        """Have it end, without waiting for that; `close` does."""
        self._process.stop()

    def close(self) -> None:
        """End it at once; nothing happens when it has ended."""
        if self._status == "running":
            self._give_up()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @abstractmethod
    def _hear(self, event: Event, found: list[Found]) -> None:
        """What the solver tells; what it found goes to `found`."""

    def _take(self, values: Sequence[int], found: list[Found]) -> None:
        """A solution, if it is one and better than those before."""
        try:
            cost = checked_cost(self.csp, values, self.program.label)
        except ConsformerError as error:
            self._fail(str(error))
            return
        if self.best is None or cost < self.best.cost:
            self.best = Found(list(values), cost)
            found.append(self.best)

    def _fail(self, reason: str) -> None:
        self.reason = reason
        self._finish("failed")

    def _give_up(self) -> None:
        self._finish("unknown" if self.best is None else "feasible")

    def _finish(self, status: Status) -> None:
        self._status = status
        self._process.close()

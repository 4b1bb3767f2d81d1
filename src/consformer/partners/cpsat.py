"""CP-SAT beside the network: it looks for solutions and proofs in a process of its own, and is asked now and then what it has found."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from consformer.constraints.cp import CpStatement
from consformer.csp import CSP
from consformer.partners.beside import Beside, Found, Status
from consformer.partners.process import CpSatJob, Event, SolverProcess
from consformer.partners.stating import state


class Prover(Beside):
    """CP-SAT at work on one problem; `hint` is an assignment to start from.

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
        super().__init__(csp, seconds)
        self.workers, self.seed = workers, seed
        self.bound: float | None = None  # no solution costs less; None: not known
        self._stated: CpStatement | None = None
        try:
            self._stated = state(csp, self._deadline, clauses=True)
            self._start(hint)
        except TimeoutError:
            self._finish("unknown")
        except BaseException:
            self.close()
            raise

    def hint(self, values: Sequence[int]) -> None:
        """Start again from an assignment, if still running: what CP-SAT has learnt is lost, its best solution and bound are kept here."""
        if self._status == "running":
            self._process.close()
            self._process = SolverProcess()
            self._start(values)

    def _start(self, hint: Sequence[int] | None) -> None:
        assert self._stated is not None
        text = self._stated.text() + (self._stated.hint(hint) if hint is not None else "")
        left = None if self._deadline is None else self._deadline - time.perf_counter()
        self._process.send(CpSatJob(text, self.csp.n, self.workers, self.seed, left))

    def _hear(self, event: Event, found: list[Found]) -> None:
        header, payload = event
        if payload:
            self._take(np.frombuffer(payload, dtype=np.int32).tolist(), found)
        if header["event"] == "bound":
            self._raise_bound(header["bound"])
        if header["event"] == "end" and self._status == "running":
            self._conclude(header["status"], header["bound"])

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

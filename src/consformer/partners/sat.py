"""A SAT solver beside the network, for problems in which variables must differ: it learns from every contradiction, and proves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from consformer.csp import CSP
from consformer.errors import ModelError
from consformer.partners import clauses
from consformer.partners.beside import Beside, Found
from consformer.partners.clauses import Clauses
from consformer.partners.process import SAT, Event


@dataclass(frozen=True)
class SatJob:
    """Clauses to satisfy."""

    clauses: Clauses

    def header(self) -> dict[str, Any]:
        return {}

    def payload(self) -> bytes:
        return self.clauses.literals.tobytes()


class SatSearch(Beside):
    """CaDiCaL at work on one problem.

    >>> from consformer import Model, all_different
    >>> model = Model()
    >>> model.add(all_different(model.variables(3, values=[0, 1])))
    >>> with SatSearch(model.compile()) as search:
    ...     while search.status == "running":
    ...         found = search.poll()
    >>> search.status
    'infeasible'
    """

    program = SAT

    @staticmethod
    def fits(csp: CSP) -> bool:
        """Whether it can be used: only differences, nothing to optimise, and not too many of them."""
        return clauses.fits(csp)

    def __init__(self, csp: CSP, *, seconds: float | None = None) -> None:
        if not self.fits(csp):
            raise ModelError("the SAT solver takes single problems of differences only, not too many, and nothing to optimise")
        super().__init__(csp, seconds)
        try:
            self._clauses = clauses.state(csp)
            self._process.send(SatJob(self._clauses))
        except MemoryError:
            self._fail("its clauses do not fit into memory")
        except BaseException:
            self.close()
            raise

    def _hear(self, event: Event, found: list[Found]) -> None:
        header, payload = event
        if header["status"] == "INFEASIBLE":
            self._finish("infeasible")
            return
        self._take(self._clauses.values(np.frombuffer(payload, dtype=np.int32), self.csp.n), found)
        if self._status == "running":
            self._finish("solved")

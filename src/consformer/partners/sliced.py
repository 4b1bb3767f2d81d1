"""What local searches have in common: they go on in slices, with an eye on the clock."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from consformer.csp import CSP
from consformer.errors import ModelError

SLICE = 0.01  # seconds of moves between looks at the clock
FIRST_SLICE = 64  # moves; then as many as fit


@dataclass(frozen=True)
class Best:
    """The best assignment so far."""

    values: list[int]
    violations: int  # of hard constraints
    cost: float  # of soft ones


class SlicedSearch(ABC):
    """A local search on one problem: `run` goes on where the last one stopped.

    The same seed gives the same values after the same number of moves, however they were cut into slices.
    """

    code: ClassVar[str]
    """The compiled module that it needs."""
    joins: ClassVar[bool] = False
    """Whether it takes what is better in what others have found, and keeps what is better in its own best."""

    def __init__(self, csp: CSP) -> None:
        if csp.parts:
            raise ModelError("local search takes one problem at a time: search the instances of a union one by one")
        self.csp = csp
        self._slice = float(FIRST_SLICE)

    @property
    @abstractmethod
    def moves(self) -> int:
        """Done so far."""

    @property
    @abstractmethod
    def values(self) -> list[int]:
        """Where the search is."""

    @property
    @abstractmethod
    def best_values(self) -> list[int]:
        """The best so far: fewest hard violations, then least soft cost."""

    @property
    @abstractmethod
    def over(self) -> bool:
        """Whether nothing more will come: nothing could be better, or no variable can move."""

    @abstractmethod
    def restart_from(self, values: Sequence[int]) -> None:
        """Go on from other values, now or when it next begins anew; the best gets no worse."""

    @abstractmethod
    def _advance(self, moves: int) -> int:
        """Make about so many moves, fewer when there is nothing left to do; gives how many."""

    @abstractmethod
    def _key(self) -> tuple[float, float]:
        """How good the best is: violations and cost, in units of its own."""

    @property
    def best(self) -> Best:
        """The best assignment so far, and how good it is."""
        values = torch.tensor(self.best_values)[None]
        return Best(values[0].tolist(), int(self.csp.violations(values)), float(self.csp.cost(values)))

    def run(self, moves: int | None = None, seconds: float | None = None, stop: Callable[[], bool] | None = None) -> bool:
        """Search until so many moves are made, time is over, `stop()` says so or nothing can be better; gives whether the best improved."""
        before, start = self._key(), time.perf_counter()
        left = moves
        while left is None or left > 0:
            elapsed = time.perf_counter() - start
            if (seconds is not None and elapsed >= seconds) or (stop is not None and stop()):
                break
            room = SLICE if seconds is None else min(SLICE, seconds - elapsed)
            count = max(int(self._slice * room / SLICE), 1)
            count = count if left is None else min(count, left)
            done = self._advance(count)
            took = time.perf_counter() - start - elapsed
            self._slice = min(max(done * SLICE / max(took, 1e-7), 1.0), 4 * max(self._slice, 1.0))
            left = None if left is None else left - done
            if done < count:  # there is nothing left to do
                break
        return self._key() < before


def checked_values(csp: CSP, values: Sequence[int]) -> NDArray[np.int64]:
    """Values to start from: fixed variables have theirs, others must be in their domain."""
    given, domain = csp.given.numpy(), csp.domain.numpy()
    found = np.where(given >= 0, given, np.asarray(values, dtype=np.int64)) if len(values) == csp.n else None
    if found is None:
        raise ModelError(f"{csp.n} variables need {csp.n} values, not {len(values)}")
    inside = (found >= 0) & (found < csp.m) & domain[np.arange(csp.n), np.clip(found, 0, csp.m - 1)]
    if not inside.all():
        raise ModelError(f"the value of {csp.name(int(np.flatnonzero(~inside)[0]))} is not in its domain")
    return found

"""Local search: a rival of the network that needs no training, and a partner that polishes what it found."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from consformer.compiled.local import state as kernel
from consformer.csp import CSP
from consformer.errors import ModelError
from consformer.partners.statement import initial_state

SLICE = 0.01  # seconds of moves between looks at the clock
FIRST_SLICE = 64  # moves; then as many as fit


@dataclass(frozen=True)
class Best:
    """The best assignment so far."""

    values: list[int]
    violations: int  # of hard constraints
    cost: float  # of soft ones


class LocalSearch:
    """Tabu search on one problem, in slices: `run` goes on where the last one stopped.

    Hard problems are repaired as TabuCol does, with weights that grow on what stays violated; where there are soft constraints, annealing
    and one-move tabu search take turns from the best so far. The same seed and number of moves give the same values, however they were cut
    into slices; `compiled=False` makes the same moves without compiled code, for tests.

    >>> from consformer import Model, all_different
    >>> model = Model()
    >>> x = model.variables((4, 4), values=range(4))
    >>> model.add([all_different(x[i]) for i in range(4)], [all_different(x[:, i]) for i in range(4)])
    >>> search = LocalSearch(model.compile(), seed=0)
    >>> search.run(moves=10_000), search.best.violations
    (True, 0)
    """

    def __init__(self, csp: CSP, seed: int = 0, values: Sequence[int] | None = None, *, compiled: bool = True) -> None:
        if csp.parts:
            raise ModelError("local search takes one problem at a time: search the instances of a union one by one")
        self.csp = csp
        self._begin, self._advance = _moves(csp, compiled)
        self.state = initial_state(csp, seed)
        self._slice = float(FIRST_SLICE)
        if values is not None:
            self.state.variable[:-1, kernel.VALUE] = self._checked(values)
        self._begin(self.state, int(values is None))

    @property
    def moves(self) -> int:
        """Done so far."""
        return int(self.state.numbers[kernel.MOVES])

    @property
    def values(self) -> list[int]:
        """Where the search is."""
        return self.state.variable[:-1, kernel.VALUE].tolist()  # type: ignore[no-any-return]

    @property
    def best(self) -> Best:
        """The best assignment so far: fewest hard violations, then least soft cost."""
        values = torch.from_numpy(self.state.kept[kernel.BEST])[None]
        return Best(values[0].tolist(), int(self.csp.violations(values)), float(self.csp.cost(values)))

    @property
    def solved(self) -> bool:
        """Whether nothing could be better: no violation, no cost."""
        return self._key() == (0, 0)

    @property
    def over(self) -> bool:
        """Whether nothing more will come: nothing could be better, or no variable can move."""
        return self.solved or not self.state.numbers[kernel.FREE]

    def restart_from(self, values: Sequence[int]) -> None:
        """Go on from other values; what was best stays best."""
        self.state.variable[:-1, kernel.VALUE] = self._checked(values)
        self._begin(self.state, 0)

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
            done = self._advance(self.state, count)
            took = time.perf_counter() - start - elapsed
            self._slice = min(max(count * SLICE / max(took, 1e-7), 1.0), 4 * max(self._slice, 1.0))
            left = None if left is None else left - done
            if done < count:  # there is nothing left to do
                break
        return self._key() < before

    def _key(self) -> tuple[int, int]:
        numbers = self.state.numbers
        return int(numbers[kernel.BEST_VIOLATIONS]), int(numbers[kernel.BEST_COST])

    def _checked(self, values: Sequence[int]) -> NDArray[np.int64]:
        """Values to start from: fixed variables have theirs, others must be in their domain."""
        given, domain = self.csp.given.numpy(), self.csp.domain.numpy()
        found = np.where(given >= 0, given, np.asarray(values, dtype=np.int64)) if len(values) == self.csp.n else None
        if found is None:
            raise ModelError(f"{self.csp.n} variables need {self.csp.n} values, not {len(values)}")
        inside = (found >= 0) & (found < self.csp.m) & domain[np.arange(self.csp.n), np.clip(found, 0, self.csp.m - 1)]
        if not inside.all():
            raise ModelError(f"the value of {self.csp.name(int(np.flatnonzero(~inside)[0]))} is not in its domain")
        return found


Moves = Callable[[kernel.State, int], int]


def _moves(csp: CSP, compiled: bool) -> tuple[Moves, Moves]:
    """How to begin and to advance. They are imported here, because loading the compiler takes time."""
    if any(constraint.local() is None for constraint in csp.constraints):
        from consformer.partners.general import GeneralMoves

        general = GeneralMoves(csp)
        return general.begin, general.advance
    from consformer.compiled.local import moves

    if compiled:
        return moves.begin, moves.advance
    from consformer.compiled.local.plain import plain

    twins = plain(moves)
    return twins["begin"], twins["advance"]

"""Local search where all there is are wishes between pairs of variables with two values: cuts, spin glasses, two-sided assignments.

Annealing needs only one number for every variable there, and is some ten times as fast as on the table that other problems want.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from consformer import compiled
from consformer.compiled.local.state import OTHER, WEIGHT
from consformer.constraints.local import Pairs
from consformer.csp import CSP
from consformer.errors import ModelError
from consformer.partners.annealings import Annealing, Annealings
from consformer.partners.sliced import SlicedSearch, checked_values
from consformer.partners.statement import scrambled, soft_scale, stated_pairs

CHANCES = 1024


class CutSearch(SlicedSearch):
    """Annealing on one problem, slow and quick in turns; wherever it leads, the best so far takes what is better there, region by region.

    >>> from consformer import Model
    >>> model = Model()
    >>> x = model.variables(4, values=["left", "right"])
    >>> model.add([x[i] != x[(i + 1) % 4] for i in range(4)], soft=1.0)
    >>> search = CutSearch(model.compile(), seed=0)
    >>> search.run(moves=1000), search.best.cost
    (True, 0.0)
    """

    code = "cuts"
    joins = True

    @staticmethod
    def fits(csp: CSP) -> bool:
        """Whether it can be used: two values, soft pairs only, and a compiler."""
        if csp.parts or csp.m != 2 or not csp.soft_weight or not compiled.available():
            return False
        return all(bool(constraint.soft.all()) and isinstance(constraint.local(), Pairs) for constraint in csp.constraints)

    def __init__(self, csp: CSP, seed: int = 0, *, compiled: bool = True) -> None:
        if not self.fits(csp):
            raise ModelError("annealing between two sides takes single problems with two values and soft pairs only")
        super().__init__(csp)
        from consformer.compiled import cuts  # only now: it loads the compiler

        self._kernel, self._sweep, self._join = cuts, cuts.advance, cuts.join
        if not compiled:
            from consformer.compiled.local.plain import plain

            twins = plain(cuts)
            self._sweep, self._join = twins["advance"], twins["join"]
        self._rng = np.random.default_rng(seed)
        self._random = np.array([scrambled(seed)], np.uint64)
        self._chances = -np.log((np.arange(CHANCES) + 0.5) / CHANCES)
        given = csp.given.numpy()
        allowed = csp.domain.numpy() & ((given < 0)[:, None] | (given[:, None] == np.arange(2)))
        self._choice = np.flatnonzero(allowed.all(1)).astype(np.uint32)
        pairs = stated_pairs(csp, soft_scale(csp), hard=0)
        self._first, self._other = pairs["first"].astype(np.uint32), np.ascontiguousarray(pairs["pair"][:, OTHER], np.uint32)
        self._one = np.repeat(np.arange(csp.n), np.diff(self._first))
        weight = pairs["pair"][:, WEIGHT].astype(np.float64)  # whole numbers, so that sums are exact; less than nothing: wanted together
        self._double = 2 * weight
        self._even = float(np.abs(weight).sum()) / 4  # the cost when half of the pairs, which stand here twice, are as they should be
        self._pull = math.sqrt(float(np.square(weight).sum()) / max(csp.n, 1))
        self._done = 0
        self._numbers = np.zeros(6)
        self._side = np.where(allowed[:, 0], 1.0, -1.0)
        self._side[self._choice] = self._rng.choice([-1.0, 1.0], len(self._choice))
        self._best = self._side.copy()
        self._joining = np.zeros(csp.n, np.bool_), np.zeros(csp.n, np.uint32), len(self._choice) == csp.n
        self._look()
        self._numbers[cuts.BEST_COST] = self._numbers[cuts.COST]
        self._annealings = Annealings(self._rng, len(self._choice))
        self._begin(self._annealings.first())

    @property
    def moves(self) -> int:
        return self._done

    @property
    def values(self) -> list[int]:
        return _values(self._side)

    @property
    def best_values(self) -> list[int]:
        return _values(self._best)

    @property
    def over(self) -> bool:
        return not len(self._choice) or self._numbers[self._kernel.BEST_COST] <= 0

    def restart_from(self, values: Sequence[int]) -> None:
        sides = np.where(checked_values(self.csp, values) == 0, 1.0, -1.0)  # a long annealing is not broken off for it
        self._join(self._first, self._other, self._double, sides, self._best, *self._joining, self._numbers, self._random)

    def _advance(self, moves: int) -> int:
        numbers, kernel, done = self._numbers, self._kernel, 0
        while done < moves and not self.over:
            if numbers[kernel.SWEEP] >= numbers[kernel.LENGTH]:
                self._begin(self._annealings.following(self._done, float(numbers[kernel.BEST_COST])))
            left = int(numbers[kernel.LENGTH] - numbers[kernel.SWEEP]) * len(self._choice) - int(numbers[kernel.PLACE])
            count = min(left, moves - done)
            pairs, found = (self._first, self._other, self._double, self._choice), (self._side, self._gain, self._best)
            self._sweep(*pairs, *found, *self._joining, self._chances, numbers, self._random, count)
            done += count
            self._done += count
        return done

    def _key(self) -> tuple[float, float]:
        return 0, float(self._numbers[self._kernel.BEST_COST])

    def _begin(self, annealing: Annealing) -> None:
        if annealing.from_best:
            self._side[:] = self._best
            self._look()
        numbers, kernel = self._numbers, self._kernel
        numbers[kernel.SWEEP], numbers[kernel.LENGTH], numbers[kernel.HEAT] = 0, annealing.sweeps, annealing.heat * self._pull

    def _look(self) -> None:
        """Work out gains and cost from the sides."""
        self._gain = self._gains(self._side)
        self._numbers[self._kernel.COST] = self._cost(self._gain)

    def _gains(self, sides: NDArray[np.float64]) -> NDArray[np.float64]:
        pulls = sides[self._one] * sides[self._other] * self._double / 2
        return np.bincount(self._one, weights=pulls, minlength=self.csp.n).astype(np.float64, copy=False)

    def _cost(self, gains: NDArray[np.float64]) -> float:
        return self._even + float(gains.sum()) / 4


def _values(sides: NDArray[np.float64]) -> list[int]:
    return np.where(sides > 0, 0, 1).tolist()  # type: ignore[no-any-return]

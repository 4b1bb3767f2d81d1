"""Which annealing between two sides comes next: where it begins, how hot and for how long."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

SHORTEST = 64  # sweeps of the first annealing

# Long ones: some forget the best, some begin at it, too cold to forget it. They take up to a quarter of all moves so far; how long is
# drawn from so many powers of two. Temperatures are told in units of what pulls at a variable.
AGAIN, SPREAD = 0.5, 4
WARM, HOT = (0.1, 0.3), (0.35, 0.55)
# Short ones change the best here and there, and what is better is taken; how hot is best depends on the problem.
LEVELS = 4  # powers of two, from the shortest
HEATS, NEAR = (0.05, 0.6), 0.05  # any of these, or as hot as the last one that was of use was, give or take so much
ANY = 0.25  # how often it is any
SHARES = (0.4, 0.9)  # of the moves that short ones have, by what they gain
MEMORY = 2.0  # power by which what was gained fades: when twice as many moves are done, a quarter of it counts


class Annealing(NamedTuple):
    """How to anneal."""

    sweeps: int
    heat: float  # at first
    from_best: bool  # or from wherever the last one ended


class Annealings:
    """Long and short ones take turns, each kind with a share of the moves that grows with what it gains."""

    def __init__(self, rng: np.random.Generator, variables: int) -> None:
        self._rng, self._variables = rng, max(variables, 1)
        self.short, self._heat = False, 0.0  # the last one
        self._useful = sum(WARM) / 2  # heat of the last short one that was
        self._done, self._cost = 0, math.inf  # when it began
        self._gained, self._spent = np.zeros(2), np.zeros(2)  # by long and short ones of late
        self._owed = 0.0  # moves to short ones

    def first(self) -> Annealing:
        return self._long(0)

    def following(self, done: int, cost: float) -> Annealing:
        """The next one, when so many moves are done in all and the best costs so much."""
        self._learn(done, cost)
        self.short = self._owed > 0
        if not self.short:
            return self._long(done)
        rng = self._rng
        near = self._useful + rng.uniform(-NEAR, NEAR)
        self._heat = rng.uniform(*HEATS) if rng.random() < ANY else min(max(near, HEATS[0]), HEATS[1])
        return Annealing(SHORTEST << int(rng.integers(LEVELS)), self._heat, from_best=True)

    def _long(self, done: int) -> Annealing:
        slowest = done / 4 / (SHORTEST * self._variables)
        level = max(int(math.log2(max(slowest, 1))) - int(self._rng.integers(SPREAD)), 0)
        from_best = done > 0 and self._rng.random() < AGAIN
        return Annealing(SHORTEST << level, self._rng.uniform(*(WARM if from_best else HOT)), from_best)

    def _learn(self, done: int, cost: float) -> None:
        moves, gained = done - self._done, self._cost - cost if self._cost < math.inf else 0.0
        self._done, self._cost = done, cost
        if self.short and gained > 0:
            self._useful = self._heat
        fading = max(0.0, 1 - MEMORY * moves / max(done, 1))
        self._gained, self._spent = self._gained * fading, self._spent * fading
        self._gained[int(self.short)] += gained
        self._spent[int(self.short)] += moves
        worth = (self._gained + 1e-9) / (self._spent + 1.0)  # when nothing is gained by either, both are worth a try
        share = float(np.clip(worth[1] / worth.sum(), *SHARES))
        self._owed += moves * (share - self.short)
        self._owed = min(max(self._owed, -done / 8), done / 8)

"""Moves for kinds that do not state themselves to local search: `conflicts` is asked after every move. Slow, and right for any kind."""

from __future__ import annotations

import numpy as np
import torch

from consformer.compiled.local import state as kernel
from consformer.compiled.local.plain import plain
from consformer.csp import CSP
from consformer.partners.statement import soft_scale


class GeneralMoves:
    """`begin` and `advance` as in `consformer.compiled.local.moves`, on the same state, of which pairs, counts and tree stay unused."""

    def __init__(self, csp: CSP) -> None:
        self.csp, self.scale = csp, soft_scale(csp)
        self.helpers = plain()

    def begin(self, s: kernel.State, at_random: int) -> int:
        numbers = s.numbers
        if at_random:
            for i in s.kept[kernel.CHOICE, : numbers[kernel.FREE]].tolist():
                s.variable[i, kernel.VALUE] = self.helpers["random_value"](s, i, False)
        s.tabu[:] = 0
        self._look(s)
        numbers[kernel.PEAK_VIOLATIONS], numbers[kernel.PEAK_COST] = numbers[kernel.VIOLATIONS], numbers[kernel.COST]
        numbers[kernel.STALE] = 0
        numbers[kernel.PEAK_CHANGED] = numbers[kernel.BEST_CHANGED] = -1
        self.helpers["write_down"](s)
        return 0

    def advance(self, s: kernel.State, moves: int) -> int:
        numbers, m = s.numbers, self.csp.m
        done = 0
        while done < moves and (numbers[kernel.BEST_VIOLATIONS] or numbers[kernel.BEST_COST]) and numbers[kernel.FREE]:
            if numbers[kernel.STALE] >= numbers[kernel.PATIENCE]:
                s.variable[:-1, kernel.VALUE] = s.kept[kernel.BEST]
                self.helpers["kick"](s, 1 + self.helpers["draw"](s.random, numbers[kernel.STRENGTH]))
                self.begin(s, 0)
            numbers[kernel.MOVES] += 1
            done += 1
            move = self._pick(s)
            if move < 0:
                numbers[kernel.STALE] += 1
                continue
            i, b = divmod(move, m)
            a = int(s.variable[i, kernel.VALUE])
            s.tabu[i, a] = numbers[kernel.MOVES] + 2 + self.helpers["draw"](s.random, 10)
            s.variable[i, kernel.VALUE] = b
            self._look(s)
            self.helpers["judge"](s, i, a)
            if numbers[kernel.PENDING]:
                self.helpers["write_down"](s)
        return done

    def _look(self, s: kernel.State) -> None:
        """Evaluate the values as they are."""
        values = torch.from_numpy(s.variable[:-1, kernel.VALUE].copy())[None]
        probs = self.csp.one_hot(values).double()
        cost = torch.zeros_like(probs)
        for constraint in self.csp.constraints:
            weight = torch.where(constraint.soft, constraint.weight * self.scale, float(s.numbers[kernel.STEP]))
            cost += constraint.conflicts(probs, weight)
        s.table[:] = np.where(s.table >= kernel.FORBIDDEN, kernel.FORBIDDEN, np.rint(cost[0].numpy()).astype(np.int64))
        s.numbers[kernel.VIOLATIONS] = int(self.csp.violations(values))
        s.numbers[kernel.COST] = round(float(self.csp.cost(values)) * self.scale)

    def _pick(self, s: kernel.State) -> int:
        """The best move of a variable that could be better off, ties broken at random; -1: there is none."""
        n, value = self.csp.n, s.variable[:-1, kernel.VALUE]
        own = s.table[np.arange(n), value]
        offers = s.table - own[:, None]
        offers[(s.tabu > s.numbers[kernel.MOVES]) | (own == 0)[:, None] | (s.variable[:-1, kernel.MOVABLE] == 0)[:, None]] = (
            kernel.FORBIDDEN
        )
        offers[np.arange(n), value] = kernel.FORBIDDEN
        least = offers.min()
        if least >= kernel.FORBIDDEN >> 1:
            return -1
        best = np.flatnonzero(offers == least)
        return int(best[self.helpers["draw"](s.random, len(best))])

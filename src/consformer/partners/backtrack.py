"""Backtracking with propagation: at once right on small puzzles and rosters, and a proof where there is no solution.

For problems all of whose hard constraints say that variables differ, which is what puzzles, colourings and rosters are made of. It is no
match for CP-SAT on hard problems, but where little search is needed it is done before another process has started.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from consformer import compiled
from consformer.csp import CSP
from consformer.errors import ModelError
from consformer.partners.differences import allowed, kinds, needing, pairs, stated
from consformer.search.restart import luby

MOST_VALUES = 64  # a domain is a word of bits
MOST_VARIABLES = 20_000  # every node looks at all of them
MOST_EDGES = 2_000_000
MOST_STATED = 4 * MOST_EDGES  # pairs as constraints state them, some of them more than once
SLICE_WORK = 2_000_000  # edges looked at between two looks at the clock, at most
FIRST_RUN = 500  # nodes of the first run; later ones are longer


class Backtracking:
    """A resumable depth-first search over a single problem, restarted with what it learned about which variables are difficult.

    >>> from consformer import Model, all_different
    >>> model = Model()
    >>> x = model.variables((2, 2), values=["a", "b"])
    >>> model.add(all_different(x[0, :]), all_different(x[1, :]), all_different(x[:, 0]), all_different(x[:, 1]))
    >>> search = Backtracking(model.compile())
    >>> search.run(nodes=10)
    'solved'
    """

    @staticmethod
    def fits(csp: CSP) -> bool:
        """Whether it can be used: only differences, nothing to optimise, few enough values, and a compiler."""
        if csp.m > MOST_VALUES or csp.n > MOST_VARIABLES or not compiled.available():
            return False
        return stated(csp) <= MOST_STATED and csp.only_differences and csp.graph.edges.shape[1] <= MOST_EDGES

    def __init__(self, csp: CSP, seed: int = 0) -> None:
        if not self.fits(csp):
            raise ModelError(
                f"backtracking takes single problems of differences only, with at most {MOST_VARIABLES} variables and {MOST_VALUES} values "
                "and nothing to optimise"
            )
        self.csp, self.status, self.nodes = csp, "open", 0
        edges = pairs(csp)
        self._first = np.searchsorted(edges[0], np.arange(csp.n + 1)).astype(np.int64)
        self._other = np.ascontiguousarray(edges[1])
        self._scopes = _scopes(csp)
        self._weight = 1 + np.diff(self._first) / max(1, edges.shape[1])  # ties go to the variable with most neighbours
        self._random = np.array([(2 * seed + 1) * 0x9E3779B97F4A7C15 % 2**64], dtype=np.uint64)
        self._root = _bits(csp)
        self._last = np.zeros(csp.n, np.uint64)
        self._begin()
        self._settle()
        self._alike = _alike(self._root, csp.m)
        self._runs, self._left = 1, FIRST_RUN

    def run(self, nodes: int | None = None, seconds: float | None = None, stop: Callable[[], bool] = lambda: False) -> str:
        """Go on: `solved`, `infeasible`, or `open` when the nodes or the time are over; can be called again."""
        from consformer.compiled import backtrack  # only now: it loads the compiler

        end = math.inf if seconds is None else time.perf_counter() + seconds
        left = math.inf if nodes is None else nodes
        at_once = max(1, SLICE_WORK // (self.csp.n + len(self._other) + 1))
        while self.status == "open" and left > 0 and time.perf_counter() < end and not stop():
            portion = int(min(at_once, left, self._left))
            before = self._sizes[3]
            code = backtrack.advance(*self._structure(), *self._state, self._random, portion)
            self.nodes, left, self._left = self.nodes + int(self._sizes[3] - before), left - portion, self._left - portion
            if code != backtrack.OPEN:
                self.status = "solved" if code == backtrack.SOLVED else "infeasible"
            elif self._left == 0:
                self._runs += 1
                self._left = FIRST_RUN * int(luby(torch.tensor(self._runs - 1)))
                self._begin()
        return self.status

    @property
    def values(self) -> list[int]:
        """The solution, once there is one."""
        if self.status != "solved":
            raise ModelError("there is no solution yet")
        return [int(bits).bit_length() - 1 for bits in self._domain]

    def _structure(self) -> tuple[NDArray[Any], ...]:
        return self._domain, self._first, self._other, *self._scopes, self._alike

    def _begin(self) -> None:
        """Back to the root."""
        n, changes = self.csp.n, self.csp.n * self.csp.m + 1
        single = self._root & (self._root - np.uint64(1)) == 0
        self._domain, self._undecided = self._root.copy(), np.flatnonzero(~single)
        self._taken = np.array([np.bitwise_or.reduce(self._root[single], initial=np.uint64(0))], np.uint64)
        self._sizes = np.zeros(4, np.int64)  # as `advance` has them: the last is the number of nodes
        self._state = (
            np.zeros(changes, np.int64),  # the trail: which domain changed,
            np.zeros(changes, np.uint64),  # and what it was
            self._weight,
            self._undecided,
            self._taken,
            self._last,
            np.zeros(n + 1, np.int64),  # by depth: variable,
            np.zeros(n + 1, np.uint64),  # values not tried yet,
            np.zeros(n + 1, np.int64),  # length of the trail,
            np.zeros(n + 1, np.uint64),  # values in use
            self._sizes,
            np.zeros(2 * n + 1, np.int64),
            np.zeros(max(1, len(self._scopes[0]) - 1), np.bool_),
        )

    def _settle(self) -> None:
        """Follow what the fixed variables imply, once for all runs."""
        from consformer.compiled import backtrack

        trail, trail_bits, *_, sizes, queue, dirty = self._state
        for i in np.flatnonzero(self._root & (self._root - np.uint64(1)) == 0):
            head = (self._domain, self._first, self._other, *self._scopes)
            sizes[0] = 0
            if not backtrack.assign(i, self._root[i], *head, trail, trail_bits, sizes, queue, dirty):
                self.status = "infeasible"
                return
        self._root = self._domain.copy()
        self._begin()


def _bits(csp: CSP) -> NDArray[np.uint64]:
    """[n] the domains as words."""
    powers = np.uint64(1) << np.arange(csp.m, dtype=np.uint64)
    words: NDArray[np.uint64] = (allowed(csp) * powers).sum(1, dtype=np.uint64)
    return words


def _scopes(csp: CSP) -> tuple[NDArray[np.int64], ...]:
    """Scopes that need every value, as slices and members, and the way back from variables to them."""
    first, member = needing(csp)
    owner = np.repeat(np.arange(len(first) - 1), np.diff(first))
    order = np.argsort(member, kind="stable")
    return first, member, np.searchsorted(member[order], np.arange(csp.n + 1)).astype(np.int64), np.ascontiguousarray(owner[order])


def _alike(domains: NDArray[np.uint64], m: int) -> NDArray[np.uint64]:
    """[m] for every value those that are interchangeable with it."""
    kind = kinds((domains[:, None] >> np.arange(m, dtype=np.uint64)) & np.uint64(1))
    powers = np.uint64(1) << np.arange(m, dtype=np.uint64)
    same: NDArray[np.uint64] = ((kind[:, None] == kind[None]) * powers).sum(1, dtype=np.uint64)
    return same

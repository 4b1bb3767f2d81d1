"""Local search where all there is are pairs that must differ: colourings, rosters, squares.

Tabu moves need only the number of neighbours with each value there, and are several times as fast as on the table that other problems want.
Runs of them begin in turn at random, and at what two good assignments have in common, as in evolutionary search for colourings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consformer import compiled
from consformer.csp import CSP
from consformer.errors import ModelError
from consformer.partners.differences import allowed, neighbours, stated
from consformer.partners.sliced import SlicedSearch, checked_values
from consformer.partners.statement import scrambled

Places = NDArray[np.uint32]

MOST_PAIRS, MOST_CELLS = 4_000_000, 100_000_000
SHORTEST, LENGTHS = 40, 4  # moves of a run for each variable that can move; it may be as long, or twice, or ... so many lengths
LEAST_LENGTH, MOST_LENGTH = 1_000, 500_000_000
GENERATIONS = 10  # after which one of the two parents is a good one from before
OFFERS = 4096
CHUNK = 4_000_000  # cells looked at together, so that choosing values takes little memory


class MemeticSearch(SlicedSearch):
    """Two parents have two children, each improved by a run of tabu moves, who are the next parents; of those before, the best two are kept
    for a while and come back, so that the two do not become one.

    >>> from consformer import Model, all_different
    >>> model = Model()
    >>> x = model.variables((4, 4), values=range(4))
    >>> model.add([all_different(x[i]) for i in range(4)], [all_different(x[:, i]) for i in range(4)])
    >>> search = MemeticSearch(model.compile(), seed=0)
    >>> search.run(moves=10_000), search.best.violations
    (True, 0)
    """

    code = "differences"

    @staticmethod
    def fits(csp: CSP) -> bool:
        """Whether it can be used: only differences, not too many of them, nothing to optimise, and a compiler."""
        return compiled.available() and csp.n * csp.m <= MOST_CELLS and stated(csp) <= MOST_PAIRS and csp.only_differences

    def __init__(self, csp: CSP, seed: int = 0, values: Sequence[int] | None = None, *, compiled: bool = True) -> None:
        if not self.fits(csp):
            raise ModelError("memetic search takes single problems of differences only, not too many, and nothing to optimise")
        super().__init__(csp)
        from consformer.compiled import differences  # only now: it loads the compiler

        self._kernel, self._begin, self._descend, self._move = differences, differences.begin, differences.descend, differences.advance
        if not compiled:
            from consformer.compiled.local.plain import plain

            twins = plain(differences)
            self._begin, self._descend, self._move = twins["begin"], twins["descend"], twins["advance"]
        n = csp.n
        self._rng = np.random.default_rng(seed)
        self._random = np.array([scrambled(seed)], np.uint64)
        self._allowed = allowed(csp)
        self._choices = self._allowed.sum(1)
        self._alike = bool((self._allowed == self._allowed[:, :1]).all())  # nothing but its name tells a value from another
        movable = self._choices > 1
        first, other = neighbours(csp)
        self._first, self._other = first.astype(np.uint32), other.astype(np.uint32)
        self._cost = np.where(self._allowed, 0, differences.FORBIDDEN).astype(np.int32).ravel()
        self._until = np.zeros(n * csp.m, np.int32)
        self._place = np.where(movable, differences.CALM, differences.FIXED).astype(np.int32)
        self._offers = np.zeros(OFFERS, np.int32)
        self._value, self._conflict, self._peak, self._changed = (np.zeros(size, np.uint32) for size in (n, n, n, 2 * n))
        self._numbers = np.zeros(5, np.int64)
        self._done, self._generation = 0, 0
        self._free = int(movable.sum())
        self._length = self._run_length()
        self._parents: list[tuple[int, Places]] = []
        self._children: list[tuple[int, Places]] = []
        self._elite: tuple[int, Places] | None = None  # the best of this cycle,
        self._earlier: tuple[int, Places] | None = None  # and of the one before
        self._anew() if values is None else self._start(checked_values(csp, values).astype(np.uint32))
        self._best = self._peak.copy()
        self._least = int(self._numbers[differences.LEAST])
        self._over = not bool(movable.any())

    @property
    def moves(self) -> int:
        return self._done

    @property
    def values(self) -> list[int]:
        return self._value.tolist()

    @property
    def best_values(self) -> list[int]:
        return self._best.tolist()

    @property
    def over(self) -> bool:
        return self._over or self._least == 0

    def restart_from(self, values: Sequence[int]) -> None:
        self._start(checked_values(self.csp, values).astype(np.uint32))
        self._look()

    def _advance(self, moves: int) -> int:
        numbers, kernel, done = self._numbers, self._kernel, 0
        while done < moves and not self.over:
            if numbers[kernel.NOW] >= self._length:
                self._next()
            count = min(self._length - int(numbers[kernel.NOW]), moves - done)
            made = self._move(*self._arrays(), self._offers, self._random, count)
            done, self._done = done + made, self._done + made
            self._look()
        return done

    def _key(self) -> tuple[float, float]:
        return self._least, 0.0

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        graph = (self._first, self._other)
        return *graph, self._value, self._cost, self._until, self._place, self._conflict, self._peak, self._changed, self._numbers

    def _start(self, values: Places) -> None:
        self._value[:] = values
        self._begin(*self._arrays())

    def _look(self) -> None:
        """Keep the best of this run if it is the best of all."""
        least = int(self._numbers[self._kernel.LEAST])
        if least < self._least:
            self._least, self._best = least, self._peak.copy()

    def _run_length(self) -> int:
        """Short runs are best on some problems and long ones on others, so it is drawn."""
        return min(max(SHORTEST * self._free << int(self._rng.integers(LENGTHS)), LEAST_LENGTH), MOST_LENGTH)

    def _anew(self) -> None:
        """From random values, one variable after the other takes a value that costs least."""
        self._start(self._at_random(np.arange(self.csp.n)))
        self._descend(self._first, self._other, self._value, self._cost, self._place, self._random)
        self._begin(*self._arrays())

    def _at_random(self, variables: NDArray[np.int64]) -> Places:
        """Values that these variables may have."""
        rank = (self._rng.random(len(variables)) * self._choices[variables]).astype(np.int64)  # which of those
        found = np.empty(len(variables), np.uint32)
        rows = max(CHUNK // max(self.csp.m, 1), 1)
        for at in range(0, len(variables), rows):
            chunk = slice(at, at + rows)
            found[chunk] = (self._allowed[variables[chunk]].cumsum(1, dtype=np.int32) <= rank[chunk, None]).sum(1)
        return found

    def _next(self) -> None:
        """A run is over: begin the next one."""
        ended = int(self._numbers[self._kernel.LEAST]), self._peak.copy()
        if self._elite is None or ended[0] < self._elite[0]:
            self._elite = ended
        (self._children if len(self._parents) == 2 else self._parents).append(ended)
        if len(self._children) == 2:
            self._parents, self._children = self._children, []
            self._generation += 1
            self._length = self._run_length()
            if self._generation % GENERATIONS == 0:
                if self._earlier is not None:
                    self._parents[0] = self._earlier
                self._earlier, self._elite = self._elite, None
            if self._same():
                self._parents, self._earlier, self._elite = [], None, None
        if len(self._parents) < 2:
            self._anew()
        else:
            one, two = self._parents if not self._children else reversed(self._parents)
            self._start(self._crossed(one[1], two[1]))

    def _same(self) -> bool:
        """Whether the parents are one and the same, but for names."""
        one, two = (values.astype(np.int64) for _, values in self._parents)
        return len(np.unique(one * self.csp.m + two)) == max(len(np.unique(one)), len(np.unique(two)))

    def _crossed(self, one: Places, two: Places) -> Places:
        """What has one value, in turn of one and the other, as much as is left of it: the largest first."""
        n, m = self.csp.n, self.csp.m
        parents = (one, two)
        counts = [np.bincount(parent, minlength=m) for parent in parents]
        classes = [np.split(np.argsort(parent, kind="stable"), count.cumsum()[:-1]) for parent, count in zip(parents, counts, strict=True)]
        sizes = [count + self._rng.random(m) for count in counts]  # of what is left of them; ties are broken by chance
        child, left = np.zeros(n, np.uint32), np.ones(n, bool)
        this = 0
        for step in range(m):
            if sizes[this].max() < 1:  # nothing is left of this one
                this = 1 - this
            v = int(sizes[this].argmax())
            if sizes[this][v] < 1:
                break
            chosen = classes[this][v][left[classes[this][v]]]
            child[chosen], left[chosen] = step if self._alike else v, False
            for parent, size in zip(parents, sizes, strict=True):
                np.subtract.at(size, parent[chosen], 1)
            if not self._alike:  # its name is taken
                sizes[0][v] = sizes[1][v] = -np.inf
            this = 1 - this
        rest = np.flatnonzero(left)
        child[rest] = self._at_random(rest)
        return child

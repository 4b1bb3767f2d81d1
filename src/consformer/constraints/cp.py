"""A problem as OR-Tools CP-SAT reads it, in the text form of its protocol buffer `CpModelProto`.

Text, because then a problem is stated without importing ortools (which takes a second), ten times as fast as through its Python classes,
and can be sent to another process as it is. Everything here has a number: a variable of CP-SAT is its index, and a literal is the index of
a 0/1 variable or, negated, `~index`, which is also how CP-SAT writes it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from decimal import Decimal
from functools import cached_property
from math import floor, log, log10

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consformer.errors import ModelError

Places = NDArray[np.int64]

INFINITE = 2**63 - 1
MOST_CLAUSES = 90_000
PORTION = 20_000  # rows written between two looks at the clock: some 10 ms


class CpStatement:
    """The variables of a CSP in a CP-SAT model, with channelled literals made on demand, constraints, and the cost gathered.

    Raises `TimeoutError` as soon as something is stated after the deadline (as `time.perf_counter` counts). With `clauses`, differences on
    crowded graphs are stated value by value.

    >>> cp = CpStatement(np.ones((2, 3), dtype=bool))
    >>> cp.differ(np.array([0]), np.array([1]))
    >>> cp.charge([2.5], cp.takes([1], [0]))
    >>> print(cp.text().replace("}}", "}}\\n").replace("]}v", "]}\\nv"))  # doctest: +ELLIPSIS
    variables{domain:[0,2]}
    variables{domain:[0,2]}constraints{linear{vars:[0,1] coeffs:[1,-1] domain:[...,-1,1,...]}}
    ...
    objective{vars:[2] coeffs:[25]}
    """

    def __init__(self, allowed: NDArray[np.bool_], deadline: float | None = None, *, clauses: bool = False) -> None:
        self.n, self.m = allowed.shape
        self.allowed, self.deadline, self.clauses = allowed, deadline, clauses
        self.size = 0  # variables of the model so far
        self._parts: list[str] = []
        self._takes: dict[tuple[int, int], int] = {}
        self._same: dict[int, int] = {}
        self._cost: list[tuple[NDArray[np.float64], Places]] = []
        self._boolean: NDArray[np.bool_] = (allowed.sum(1) == 2) & (allowed[:, :2].sum(1) == 2)
        self._domains(allowed)

    # --- variables and literals -------------------------------------------------------------------------------

    def variables(self, low: int, high: int, count: int) -> Places:
        """New variables with values from `low` to `high`: [count] their indices."""
        self._parts.append(f"variables{{domain:[{low},{high}]}}" * count)
        self.size += count
        return np.arange(self.size - count, self.size)

    def takes(self, variables: Sequence[int], values: Sequence[int]) -> Places:
        """Literals that are true iff each variable takes the value beside it."""
        return np.array([self._take(i, v) for i, v in zip(variables, values, strict=True)], dtype=np.int64)

    def _take(self, variable: int, value: int) -> int:
        if self._boolean[variable] and value in (0, 1):
            return variable if value else ~variable
        key = (variable, value)
        if key not in self._takes:
            literal = int(self.variables(0, 1, 1)[0])
            above, below = f"{value + 1},{INFINITE}", f"{-INFINITE - 1},{value - 1}"
            self.add(f"enforcement_literal:{literal} linear{{vars:{variable} coeffs:1 domain:[{value},{value}]}}")
            self.add(f"enforcement_literal:{~literal} linear{{vars:{variable} coeffs:1 domain:[{below},{above}]}}")
            self._takes[key] = literal
        return self._takes[key]

    def same(self, left: Places, right: Places) -> Places:
        """Literals that are true iff the variables of each pair take the same value."""
        portions = [slice(start, start + PORTION) for start in range(0, len(left), PORTION)]
        found = [self._same_portion(left[portion], right[portion]) for portion in portions]
        return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)

    def _same_portion(self, left: Places, right: Places) -> Places:
        keys, place = np.unique(np.minimum(left, right) * self.n + np.maximum(left, right), return_inverse=True)
        fresh = np.array([key for key in keys.tolist() if key not in self._same], dtype=np.int64)
        literal = self.variables(0, 1, len(fresh))
        self._same.update(zip(fresh.tolist(), literal.tolist(), strict=True))
        x, y = fresh // self.n, fresh % self.n
        boolean = self._boolean[x] & self._boolean[y]
        a, b, c = x[boolean], y[boolean], literal[boolean]
        for clause in ((a, b, c), (~a, ~b, c), (a, ~b, ~c), (~a, b, ~c)):  # MAXCUT: clauses propagate faster than linear constraints
            self._write("constraints{bool_or{literals:[%d,%d,%d]}}", *clause)
        a, b, c = x[~boolean], y[~boolean], literal[~boolean]
        self._write(f"constraints{{enforcement_literal:%d {_EQUAL}}}", c, a, b)
        self._write(f"constraints{{enforcement_literal:%d {_DIFFER}}}", ~c, a, b)
        return np.array([self._same[key] for key in keys.tolist()], dtype=np.int64)[place]

    # --- constraints ------------------------------------------------------------------------------------------

    def add(self, constraint: str) -> None:
        """Any constraint, as the text of a `ConstraintProto`."""
        self._write(f"constraints{{{constraint}}}")

    def differ(self, left: Places, right: Places) -> None:
        """The variables of each pair take different values."""
        if not (self.clauses and self._crowded(left, right)):
            self._write(f"constraints{{{_DIFFER}}}", left, right)
            return
        for value in range(self.m):
            both = self.allowed[left, value] & self.allowed[right, value]
            x, y = (self.takes(ends[both].tolist(), [value] * int(both.sum())) for ends in (left, right))
            self._write("constraints{bool_or{literals:[%d,%d]}}", ~x, ~y)

    def _crowded(self, left: Places, right: Places) -> bool:
        """Whether pairs are better stated value by value, as clauses: near the density where colours run out (2 m ln m neighbours) CP-SAT
        is then up to ten times as fast, and on large or sparse graphs as much slower.
        """
        if len(left) * self.m > MOST_CLAUSES:
            return False
        ends = len(np.unique(np.concatenate([left, right])))
        return bool(2 * len(left) > ends * self.m * log(self.m))

    def equal(self, left: Places, right: Places) -> None:
        """The variables of each pair take the same value."""
        self._write(f"constraints{{{_EQUAL}}}", left, right)

    def all_different(self, variables: Sequence[int]) -> None:
        """All variables take different values."""
        members = " ".join(f"exprs{{vars:{i} coeffs:1}}" for i in variables)
        self.add(f"all_diff{{{members}}}")

    def linear(self, terms: Places, factors: Places, low: int, high: int = INFINITE) -> None:
        """The sum of the terms (variables or literals), each times its factor, lies between the bounds."""
        variables, factors, constant = positive(terms, factors)
        low, high = low - constant, high - constant if high < INFINITE else high
        self.add(f"linear{{vars:{variables.tolist()} coeffs:{factors.tolist()} domain:[{low},{high}]}}")

    # --- the cost ---------------------------------------------------------------------------------------------

    def charge(self, weights: ArrayLike, terms: Places) -> None:
        """Add terms (variables or literals) to the cost of soft constraints, each times its weight."""
        if len(terms):
            self._cost.append((np.asarray(weights, dtype=np.float64), terms))

    @property
    def optimising(self) -> bool:
        """Whether there is a cost to make as low as can be."""
        return bool(self._cost)

    def hint(self, values: Sequence[int]) -> str:
        """The text that, after that of the model, gives CP-SAT an assignment to start from."""
        if len(values) != self.n:
            raise ModelError(f"the hint must have {self.n} values, one per variable, not {len(values)}")
        return f"solution_hint{{vars:{list(range(self.n))} values:{[int(value) for value in values]}}}"

    def text(self) -> str:
        """The whole model, the cost as its objective, in whole numbers (see `whole_scale`)."""
        if not self._cost:
            return "".join(self._parts)
        _, _, variables, factors = self._whole_cost
        return "".join([*self._parts, f"objective{{vars:{variables.tolist()} coeffs:{factors.tolist()}}}"])

    def cost_of(self, objective: float) -> float:
        """The cost of the soft constraints that CP-SAT's objective stands for, once the problem is stated."""
        scale, constant, _, _ = self._whole_cost
        return (objective + constant) / scale

    @property
    def unit(self) -> float | None:
        """What CP-SAT counts costs in; none where weights had to be rounded, so that what is optimal for it may not be."""
        scale = self._whole_cost[0]
        weights = np.concatenate([weights for weights, _ in self._cost]) * scale
        return 1 / scale if bool((np.abs(weights - np.rint(weights)) <= 1e-6).all()) else None

    @cached_property
    def _whole_cost(self) -> tuple[float, int, Places, Places]:
        """The cost in whole numbers: what it was multiplied by, what to add, variables, their factors."""
        weights, terms = np.concatenate([weights for weights, _ in self._cost]), np.concatenate([terms for _, terms in self._cost])
        scale = whole_scale(weights.tolist())
        variables, factors, constant = positive(terms, np.rint(weights * scale).astype(np.int64))
        variables, place = np.unique(variables, return_inverse=True)
        total = np.zeros(len(variables), dtype=np.int64)
        np.add.at(total, place, factors)
        return scale, constant, variables[total != 0], total[total != 0]

    # --- writing ----------------------------------------------------------------------------------------------

    def _domains(self, allowed: NDArray[np.bool_]) -> None:
        """The variables of the CSP, each with the runs of its values."""
        edge = np.diff(np.pad(allowed, ((0, 0), (1, 1))).astype(np.int8), axis=1)  # [n,m+1] 1 where a run begins, -1 after its end
        owner, low = np.nonzero(edge == 1)
        high = np.nonzero(edge == -1)[1] - 1
        begins = np.concatenate([[True], owner[1:] != owner[:-1]]) if len(owner) else np.zeros(0, dtype=bool)
        if bool(begins.all()):
            self._write("variables{domain:[%d,%d]}", low, high)
        else:
            runs = np.split(np.stack([low, high], 1), np.flatnonzero(begins)[1:])
            for run in runs:
                self._write(f"variables{{domain:{run.flatten().tolist()}}}")
        self.size += self.n

    def _write(self, row: str, *columns: Places) -> None:
        """A line of text for every row of the columns, or just the line."""
        self._look_at_the_clock()
        if not columns:
            self._parts.append(row)
            return
        table = np.stack(columns, 1)
        for start in range(0, len(table), PORTION):
            portion = table[start : start + PORTION]
            self._parts.append((row * len(portion)) % tuple(portion.flatten().tolist()))
            self._look_at_the_clock()

    def _look_at_the_clock(self) -> None:
        if self.deadline is not None and time.perf_counter() > self.deadline:
            raise TimeoutError("stating the problem to CP-SAT took too long")


_EQUAL = "linear{vars:[%d,%d] coeffs:[1,-1] domain:[0,0]}"
_DIFFER = f"linear{{vars:[%d,%d] coeffs:[1,-1] domain:[{-INFINITE - 1},-1,1,{INFINITE}]}}"


def positive(terms: Places, factors: Places) -> tuple[Places, Places, int]:
    """A sum without negated literals: variables, their factors, and what to add.

    >>> positive(np.array([3, ~4]), np.array([1, 5]))
    (array([3, 4]), array([ 1, -5]), 5)
    """
    negated = terms < 0
    return np.where(negated, ~terms, terms), np.where(negated, -factors, factors), int(factors[negated].sum())


def whole_scale(weights: list[float]) -> float:
    """What to multiply weights by for CP-SAT, which wants whole numbers: exact up to 15 digits in all, rounded beyond.

    >>> whole_scale([1, 2.5]), whole_scale([0.25, 1e6])
    (10.0, 100.0)
    """
    digits = max((-int(Decimal(repr(weight)).normalize().as_tuple().exponent) for weight in set(map(float, weights))), default=0)
    room = 15 - floor(log10(sum(weights))) if weights else 0
    return float(10.0 ** min(max(digits, 0), room))

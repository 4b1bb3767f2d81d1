"""The few things constraint kinds need to state themselves to OR-Tools CP-SAT."""

from __future__ import annotations

from decimal import Decimal
from math import floor, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ortools.sat.python import cp_model


class CpVariables:
    """The variables of a CSP in a CP-SAT model, with channelled literals made on demand and the cost gathered."""

    def __init__(self, model: cp_model.CpModel, x: list[cp_model.IntVar]) -> None:
        self.model, self.x = model, x
        self.cost: list[tuple[float, cp_model.LinearExprT]] = []
        self._takes: dict[tuple[int, int], cp_model.IntVar] = {}
        self._same: dict[tuple[int, int], cp_model.IntVar] = {}

    def takes(self, variable: int, value: int) -> cp_model.IntVar:
        """A literal that is true iff the variable takes the value."""
        x, key = self.x[variable], (variable, value)
        if x.is_boolean and value in (0, 1):
            return x if value else ~x
        if key not in self._takes:
            literal = self.model.new_bool_var("")
            self.model.add(x == value).only_enforce_if(literal)
            self.model.add(x != value).only_enforce_if(~literal)
            self._takes[key] = literal
        return self._takes[key]

    def same(self, left: int, right: int) -> cp_model.IntVar:
        """A literal that is true iff both variables take the same value."""
        key = (min(left, right), max(left, right))
        if key not in self._same:
            literal = self.model.new_bool_var("")
            x, y = self.x[left], self.x[right]
            if x.is_boolean and y.is_boolean:  # MAXCUT: clauses propagate faster than reified linear constraints
                for clause in ((x, y, literal), (~x, ~y, literal), (x, ~y, ~literal), (~x, y, ~literal)):
                    self.model.add_bool_or(clause)
            else:
                self.model.add(x == y).only_enforce_if(literal)
                self.model.add(x != y).only_enforce_if(~literal)
            self._same[key] = literal
        return self._same[key]

    def charge(self, weight: float, violation: cp_model.LinearExprT) -> None:
        """Add a term to the cost of soft constraints."""
        self.cost.append((weight, violation))

    def minimise_cost(self) -> None:
        """Make the gathered cost the objective."""
        scale = whole_scale([weight for weight, _ in self.cost])
        self.model.minimize(sum(round(weight * scale) * term for weight, term in self.cost))


def whole_scale(weights: list[float]) -> float:
    """What to multiply weights by for CP-SAT, which wants whole numbers: exact up to 15 digits in all, rounded beyond.

    >>> whole_scale([1, 2.5]), whole_scale([0.25, 1e6])
    (10.0, 100.0)
    """
    digits = max((-int(Decimal(repr(float(weight))).normalize().as_tuple().exponent) for weight in weights), default=0)
    room = 15 - floor(log10(sum(weights))) if weights else 0
    return float(10.0 ** min(max(digits, 0), room))

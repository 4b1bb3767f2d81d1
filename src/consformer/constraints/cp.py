"""The few things constraint kinds need to state themselves to OR-Tools CP-SAT."""

from __future__ import annotations

from fractions import Fraction
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
        key = (variable, value)
        if key not in self._takes:
            literal = self.model.new_bool_var("")
            self.model.add(self.x[variable] == value).only_enforce_if(literal)
            self.model.add(self.x[variable] != value).only_enforce_if(~literal)
            self._takes[key] = literal
        return self._takes[key]

    def same(self, left: int, right: int) -> cp_model.IntVar:
        """A literal that is true iff both variables take the same value."""
        key = (min(left, right), max(left, right))
        if key not in self._same:
            literal = self.model.new_bool_var("")
            self.model.add(self.x[left] == self.x[right]).only_enforce_if(literal)
            self.model.add(self.x[left] != self.x[right]).only_enforce_if(~literal)
            self._same[key] = literal
        return self._same[key]

    def charge(self, weight: float, violation: cp_model.LinearExprT) -> None:
        """Add a term to the cost of soft constraints."""
        self.cost.append((weight, violation))

    def minimise_cost(self) -> float:
        """Make the gathered cost the objective; CP-SAT wants whole numbers, so the weights are scaled: returns that scale."""
        fractions = [Fraction(weight).limit_denominator(1000) for weight, _ in self.cost]
        scale = 1
        for fraction in fractions:
            scale = scale * fraction.denominator // _gcd(scale, fraction.denominator)
        self.model.minimize(sum(int(fraction * scale) * term for fraction, (_, term) in zip(fractions, self.cost, strict=True)))
        return float(scale)


def _gcd(a: int, b: int) -> int:
    return a if b == 0 else _gcd(b, a % b)

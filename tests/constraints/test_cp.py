from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from ortools.sat.python import cp_model

from consformer.constraints.cp import CpVariables, whole_scale


def variables(*domains: Sequence[int]) -> CpVariables:
    model = cp_model.CpModel()
    return CpVariables(model, [model.new_int_var_from_domain(cp_model.Domain.from_values(list(domain)), "") for domain in domains])


def solutions(cp: CpVariables, *shown: Any) -> set[tuple[int, ...]]:
    """All values of the variables that the model allows, and of what else is to be shown with them."""
    found: set[tuple[int, ...]] = set()

    class Noting(cp_model.CpSolverSolutionCallback):  # type: ignore[misc]
        def on_solution_callback(self) -> None:
            found.add(tuple(int(self.value(item)) for item in (*cp.x, *shown)))

    solver = cp_model.CpSolver()
    solver.parameters.enumerate_all_solutions = True
    solver.parameters.num_workers = 1
    solver.solve(cp.model, Noting())
    return found


@pytest.mark.parametrize("domain", [(0, 1), (0, 1, 2), (0, 2, 5), (1,)])
@pytest.mark.parametrize("value", [0, 1, 2, 7])
def test_takes_is_true_iff_the_variable_takes_the_value(domain: tuple[int, ...], value: int) -> None:
    cp = variables(domain)
    literal = cp.takes(0, value)
    assert solutions(cp, literal) == {(x, int(x == value)) for x in domain}
    assert solutions(cp, ~literal) == {(x, int(x != value)) for x in domain}


@pytest.mark.parametrize("domains", [((0, 1), (0, 1)), ((0, 1), (0, 1, 2)), ((0, 1, 2), (1, 2, 4)), ((0, 1), (2, 3)), ((1,), (0, 1))])
def test_same_is_true_iff_both_take_the_same_value(domains: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    cp = variables(*domains)
    literal = cp.same(0, 1)
    assert solutions(cp, literal) == {(x, y, int(x == y)) for x in domains[0] for y in domains[1]}


def test_literals_are_made_once() -> None:
    cp = variables((0, 1, 2), (0, 1, 2))
    takes, same = cp.takes(0, 2), cp.same(0, 1)
    stated = len(cp.model.proto.constraints)
    assert cp.takes(0, 2).index == takes.index
    assert cp.same(1, 0).index == cp.same(0, 1).index == same.index
    assert len(cp.model.proto.constraints) == stated
    assert cp.takes(1, 2).index != takes.index


@pytest.mark.parametrize(("weights", "best"), [((1.0, 2.0), 0), ((2.5, 0.25), 1), ((0.001, 0.002), 0), ((1e15, 0.5), 1)])
def test_the_cost_is_made_as_low_as_can_be(weights: tuple[float, float], best: int) -> None:
    cp = variables((0, 1))
    for value, weight in enumerate(weights):
        cp.charge(weight, cp.takes(0, value))
    cp.minimise_cost()
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    assert solver.solve(cp.model) == cp_model.OPTIMAL
    assert solver.value(cp.x[0]) == best
    assert solver.objective_value == pytest.approx(min(weights) * whole_scale(list(weights)), abs=0.5)


@pytest.mark.parametrize(
    ("weights", "scale"), [([1, 2], 1), ([0.5, 0.001], 1000), ([2.2, 1], 10), ([1e15, 0.5], 1), ([1 / 3] * 3, 1e15), ([], 1), ([20], 1)]
)
def test_weights_become_whole_numbers(weights: list[float], scale: float) -> None:
    assert whole_scale(weights) == scale

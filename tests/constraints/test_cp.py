from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from ortools.sat.python import cp_model

from consformer.constraints.cp import PORTION, CpStatement, whole_scale
from consformer.errors import ModelError


def statement(*domains: Sequence[int], clauses: bool = False) -> CpStatement:
    allowed = np.zeros((len(domains), 1 + max(max(domain) for domain in domains)), dtype=bool)
    for row, domain in zip(allowed, domains, strict=True):
        row[list(domain)] = True
    return CpStatement(allowed, clauses=clauses)


def parsed(cp: CpStatement) -> cp_model.CpModel:
    model = cp_model.CpModel()
    assert model.proto.parse_text_format(cp.text())
    assert not model.validate()
    return model


def solutions(cp: CpStatement, *literals: int) -> set[tuple[int, ...]]:
    """All values of the variables that the model allows, and of the literals that are to be shown with them."""
    found: set[tuple[int, ...]] = set()

    class Noting(cp_model.CpSolverSolutionCallback):  # type: ignore[misc]
        def on_solution_callback(self) -> None:
            solution = list(self.response_proto.solution)
            shown = [solution[literal] if literal >= 0 else 1 - solution[~literal] for literal in literals]
            found.add((*solution[: cp.n], *shown))

    solver = cp_model.CpSolver()
    solver.parameters.enumerate_all_solutions = True
    solver.parameters.num_workers = 1
    solver.solve(parsed(cp), Noting())
    return found


@pytest.mark.parametrize("domain", [(0, 1), (0, 1, 2), (0, 2, 5), (1,)])
@pytest.mark.parametrize("value", [0, 1, 2, 7])
def test_takes_is_true_iff_the_variable_takes_the_value(domain: tuple[int, ...], value: int) -> None:
    cp = statement(domain)
    literal = int(cp.takes([0], [value])[0])
    assert solutions(cp, literal, ~literal) == {(x, int(x == value), int(x != value)) for x in domain}


@pytest.mark.parametrize("domains", [((0, 1), (0, 1)), ((0, 1), (0, 1, 2)), ((0, 1, 2), (1, 2, 4)), ((0, 1), (2, 3)), ((1,), (0, 1))])
def test_same_is_true_iff_both_take_the_same_value(domains: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    cp = statement(*domains)
    literal = cp.same(np.array([0]), np.array([1]))
    assert solutions(cp, *literal) == {(x, y, int(x == y)) for x in domains[0] for y in domains[1]}


def test_pairs_differ_or_are_equal() -> None:
    left, right, every = np.array([0, 1]), np.array([1, 2]), [(x, y, z) for x in range(3) for y in range(3) for z in range(3)]
    cp = statement((0, 1, 2), (0, 1, 2), (0, 1, 2))
    cp.differ(left, right)
    assert solutions(cp) == {(x, y, z) for x, y, z in every if x != y != z}
    cp = statement((0, 1, 2), (0, 1, 2), (0, 1, 2))
    cp.equal(left, right)
    assert solutions(cp) == {(x, x, x) for x in range(3)}


def test_crowded_pairs_differ_as_well() -> None:
    pairs = np.array([(i, j) for i in range(4) for j in range(i)]).T
    cp = statement((0, 1, 2), (0, 1), (1, 2), (0, 2, 3), clauses=True)
    dense = statement(*[(0, 1, 2)] * 4, clauses=True)
    cp.differ(*pairs)
    dense.differ(*pairs)
    assert "bool_or" not in cp.text()
    assert "bool_or" not in dense.text()  # 3 neighbours, 3 values: not many
    crowded = statement((0, 1), (0, 1), (1,), (0,), clauses=True)
    crowded.differ(np.array([0, 1, 0, 1]), np.array([1, 2, 2, 3]))
    assert "bool_or" in crowded.text()
    assert solutions(crowded) == set()
    crowded = statement((0, 1), (0, 1), (1,), (0,), clauses=True)
    crowded.differ(np.array([0, 0, 1, 2]), np.array([1, 2, 3, 3]))
    assert "bool_or" in crowded.text()
    assert solutions(crowded) == {(0, 1, 1, 0)}
    plain = statement((0, 1), (0, 1), (1,), (0,))
    plain.differ(np.array([0, 0, 1, 2]), np.array([1, 2, 3, 3]))
    assert "bool_or" not in plain.text()  # unless asked for, as anyone would state it


def test_sums_of_literals_lie_between_their_bounds() -> None:
    cp = statement((0, 1, 2), (0, 1), (0, 1))
    terms = np.concatenate([[0], ~cp.takes([1, 2], [1, 1])])
    cp.linear(terms, np.array([1, 2, -1]), 2, 3)
    every = [(x, y, z) for x in range(3) for y in range(2) for z in range(2)]
    assert solutions(cp) == {(x, y, z) for x, y, z in every if 2 <= x + 2 * (1 - y) - (1 - z) <= 3}


def test_literals_are_made_once() -> None:
    cp = statement((0, 1, 2), (0, 1, 2))
    takes, same = cp.takes([0], [2]), cp.same(np.array([0]), np.array([1]))
    size, text = cp.size, cp.text()
    assert cp.takes([0], [2]) == takes
    assert cp.same(np.array([1, 0]), np.array([0, 1])).tolist() == [*same, *same]
    assert (cp.size, cp.text()) == (size, text)
    assert cp.takes([1], [2]) != takes


@pytest.mark.parametrize(("weights", "best"), [((1.0, 2.0), 0), ((2.5, 0.25), 1), ((0.001, 0.002), 0), ((1e15, 0.5), 1)])
def test_the_cost_is_made_as_low_as_can_be(weights: tuple[float, float], best: int) -> None:
    cp = statement((0, 1))
    cp.charge(weights, cp.takes([0, 0], [0, 1]))
    solver, model = cp_model.CpSolver(), parsed(cp)
    solver.parameters.num_workers = 1
    assert solver.solve(model) == cp_model.OPTIMAL
    assert solver.response_proto.solution[0] == best


def test_no_cost_is_no_objective() -> None:
    cp = statement((0, 1))
    cp.charge([], cp.takes([], []))
    assert not cp.optimising
    assert "objective" not in cp.text()


@pytest.mark.parametrize("what", ["differ", "equal", "same"])
def test_stating_stops_at_the_deadline(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    left, right = np.arange(20 * PORTION) % 997, np.arange(20 * PORTION) % 1009 + 997
    clock = itertools.count()
    monkeypatch.setattr("consformer.constraints.cp.time.perf_counter", lambda: next(clock))
    cp = CpStatement(np.ones((2006, 3), dtype=bool), deadline=20)  # so many looks at the clock
    with pytest.raises(TimeoutError):
        getattr(cp, what)(left, right)
    assert next(clock) <= 30


def test_a_hint_names_every_variable() -> None:
    assert statement((0, 1), (0, 1)).hint([1, 0]) == "solution_hint{vars:[0, 1] values:[1, 0]}"
    with pytest.raises(ModelError, match="2 values"):
        statement((0, 1), (0, 1)).hint([1])


@pytest.mark.parametrize(
    ("weights", "scale"), [([1, 2], 1), ([0.5, 0.001], 1000), ([2.2, 1], 10), ([1e15, 0.5], 1), ([1 / 3] * 3, 1e15), ([], 1), ([20], 1)]
)
def test_weights_become_whole_numbers(weights: list[float], scale: float) -> None:
    assert whole_scale(weights) == scale

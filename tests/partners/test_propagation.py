from __future__ import annotations

import time

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from consformer import CSP, Model, all_different, cardinality, families
from consformer.baselines import solve_cpsat
from consformer.checker import check
from consformer.constraints.not_equal import NotEqual
from consformer.errors import ModelError
from consformer.families.coloring import problem as graph_problem
from consformer.partners.propagation import propagate
from tests.helpers import coloring, cycle, impossible, problem, random_csp


@given(seed=st.integers(0, 10**6))
def test_the_reduced_problem_has_the_same_solutions(seed: int) -> None:
    csp = random_csp(seed)
    found = propagate(csp)
    whole = solve_cpsat(csp, workers=1)
    if found.contradiction is not None:
        assert whole.status == "infeasible"
        return
    reduced = solve_cpsat(found.csp, workers=1)
    assert (reduced.status, reduced.objective) == (whole.status, whole.objective)
    if reduced.values is not None:
        assert check(csp, reduced.values).solved
    assert found.csp.constraints is csp.constraints
    assert found.csp.value_labels is csp.value_labels


def test_a_sudoku_with_one_solution_is_mostly_settled_and_quickly() -> None:
    puzzles = families.get("sudoku").generate(np.random.default_rng(0), 5, {"unique": True})
    start = time.perf_counter()
    found = [propagate(csp) for csp in puzzles]
    assert time.perf_counter() - start < 1
    for csp, one in zip(puzzles, found, strict=True):
        answer = solve_cpsat(csp, workers=1).values
        assert answer is not None
        assert one.complete
        assert one.csp.free.sum() < csp.free.sum()
        assert all(value in (-1, right) for value, right in zip(one.csp.given.tolist(), answer, strict=True))


def test_a_hidden_single_needs_all_values() -> None:
    row = [{"kind": "all_different", "scope": [0, 1, 2]}]
    bars = [(1, 2), (2, 2)]  # only variable 0 may take the last value
    assert propagate(problem(row, n=3, m=3, forbidden=bars)).csp.given.tolist() == [2, -1, -1]
    four = [(1, 3), (2, 3)]
    assert propagate(problem(row, n=3, m=4, forbidden=four)).csp.given.tolist() == [-1, -1, -1]  # nobody has to take it


def test_nothing_to_do_is_the_same_problem() -> None:
    for csp in (cycle(5, 3), problem([], n=2, m=2), problem([{"kind": "all_different", "scope": [0, 1], "soft": True}], n=2, m=2)):
        found = propagate(csp)
        assert found.csp is csp
        assert found.contradiction is None


def test_soft_constraints_settle_nothing() -> None:
    soft = [
        {"kind": "not_equal", "scope": [0, 1], "soft": True},
        {"kind": "cardinality", "scope": [0, 1, 2], "value": 0, "count": 3, "soft": True},
        {"kind": "all_different", "scope": [0, 1, 2], "soft": True},
    ]
    csp = problem(soft, n=3, m=2, given={0: 0})
    assert propagate(csp).csp is csp


def test_equal_ones_share_what_they_have_in_common() -> None:
    chain = [{"kind": "not_equal", "scope": [i, i + 1], "weight": -1} for i in range(3)]
    assert propagate(problem(chain, n=4, m=3, given={3: 1})).csp.given.tolist() == [1, 1, 1, 1]
    apart = propagate(problem(chain, n=4, m=3, given={0: 0, 3: 1})).contradiction
    assert apart is not None
    assert "no value is left" in apart.words


def test_contradictions_in_words() -> None:
    model = Model()
    x = model.variables(3, values=["day", "night"], name="x")
    model.add(cardinality(x, value="day", exactly=3))
    model.fix(x[0], "night")
    assert str(propagate(model.compile()).contradiction) == "cardinality over x[0], x[1], x[2]: 2 variables can take day, wanted are == 3"
    assert str(propagate(impossible()).contradiction) == "all_different over 0, 1, 2: the values 0, 1 are left for 3 variables"
    twice = problem([{"kind": "not_equal", "scope": [0, 1]}], n=2, m=2, given={0: 1, 1: 1})
    assert str(propagate(twice).contradiction) == "not_equal over 0, 1: 1 is the only value left for 2 variables"
    clique = coloring([(a, b) for a in range(4) for b in range(a)], n=5, m=3)
    assert str(propagate(clique).contradiction) == "not_equal over 0, 1, 2, 3: the values 0, 1, 2 are left for 4 variables"
    many = propagate(impossible(20, 3)).contradiction
    assert many is not None
    assert len(many.words) < 200


def test_named_variables() -> None:
    model = Model()
    x = model.variables((3, 3), values=[1, 2, 3], name="x")
    model.add(all_different(x[2]))
    for place in range(3):
        model.add(cardinality([x[2, place]], value=3, exactly=0))
    assert str(propagate(model.compile()).contradiction) == (
        "all_different over x[2,0], x[2,1], x[2,2]: the values 1, 2 are left for 3 variables"
    )


def test_it_is_sound_when_time_is_over_at_once() -> None:
    csp = families.get("sudoku").generate(np.random.default_rng(0), 1, {})[0]
    found = propagate(csp, seconds=0)
    assert found.csp is csp
    assert not found.complete


def test_it_ends_when_it_is_told_to() -> None:
    csp = problem([{"kind": "all_different", "scope": [0, 1, 2]}], n=3, m=3, given={0: 0, 1: 1})
    found = propagate(csp, stop=lambda: True)
    assert (found.csp, found.complete) == (csp, False)


def test_a_huge_graph_is_no_trouble() -> None:
    n = 200_000
    edges = np.stack([np.arange(n - 1), np.arange(1, n)], 1)
    csp = graph_problem(n, edges, 3, {})
    start = time.perf_counter()
    assert propagate(csp).contradiction is None
    assert time.perf_counter() - start < 3


def test_a_chain_of_consequences_stops_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consformer.partners.propagation.MOST_WORK", 10**7)
    n = 20_000
    edges = torch.stack([torch.arange(n - 1), torch.arange(1, n)], 1)
    csp = CSP(
        domain=torch.ones(n, 2, dtype=torch.bool),
        given=torch.cat([torch.tensor([0]), torch.full((n - 1,), -1)]),
        positions=torch.arange(n)[:, None],
        constraints=(NotEqual.of(edges),),
        value_labels=(0, 1),
    )
    start = time.perf_counter()
    for found in (propagate(csp, seconds=0.1), propagate(csp)):  # each round settles a few of the chain: there is an end to patience
        assert time.perf_counter() - start < 5
        settled = found.csp.given[~found.csp.free]
        assert 1 < len(settled) < n
        assert torch.equal(settled, torch.arange(len(settled)) % 2)
        assert not found.complete


def test_a_union_is_refused() -> None:
    with pytest.raises(ModelError, match="one problem at a time"):
        propagate(CSP.union([cycle(3, 3)] * 2))

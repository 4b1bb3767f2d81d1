from __future__ import annotations

import threading
import time

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from consformer import CSP, families
from consformer.baselines import solve_cpsat
from consformer.checker import check
from consformer.compiled.local import state as kernel
from consformer.errors import ModelError
from consformer.partners.local import LocalSearch
from tests.helpers import KINDS, coloring, cycle, impossible, problem, random_csp


def brute_table(csp: CSP, search: LocalSearch) -> tuple[list[list[int]], int, int]:
    """What each allowed value costs more than the present one, weights as they are now, by trying; and violations and cost in all."""
    state = search.state
    pairs = [(i, e) for i in range(csp.n) for e in range(*state.variable[i : i + 2, kernel.FIRST_PAIR])]

    def totals(values: list[int]) -> tuple[int, int, int]:
        weighted = violations = cost = 0
        for i, e in pairs:
            j, weight, unit = state.pair[e].tolist()
            if i < j and (values[i] == values[j]) == (weight > 0):
                weighted, violations, cost = weighted + abs(weight), violations + abs(unit), cost + abs(weight) * (unit == 0)
        for g in range(len(state.scope) - 1):
            begin, counted, low, high, steep, weight, hard, _ = state.scope[g].tolist()
            taken = [values[j] for j in state.member[begin : state.scope[g + 1, 0]].tolist()]
            for value in range(csp.m) if counted < 0 else [counted]:
                count = taken.count(value)
                over = max(count - high, 0)
                found = max(low - count, 0) + (over * (over + 1) // 2 if steep else over)
                weighted, violations, cost = weighted + found * weight, violations + found * hard, cost + found * weight * (1 - hard)
        return weighted, violations, cost

    values = search.values
    now, violations, cost = totals(values)
    table = [[totals([*values[:i], v, *values[i + 1 :]])[0] - now for v in range(csp.m)] for i in range(csp.n)]
    return table, violations, cost


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6), kinds=st.sampled_from([(kind,) for kind in KINDS] + [KINDS]), soft=st.booleans(), moves=st.integers(0, 40)
)
def test_the_table_is_what_values_cost_after_any_moves(seed: int, kinds: tuple[str, ...], soft: bool, moves: int) -> None:
    csp = random_csp(seed, kinds=kinds, soft=soft)
    search = LocalSearch(csp, seed)
    search.state.numbers[kernel.PATIENCE] = 7  # so that weights grow and restarts happen, too
    search.run(moves=moves)
    table, violations, cost = brute_table(csp, search)
    numbers = search.state.numbers
    assert (numbers[kernel.VIOLATIONS], numbers[kernel.COST]) == (violations, cost)
    for i in range(csp.n):
        own = search.state.table[i, search.values[i]]
        for v in torch.nonzero(csp.domain[i])[:, 0].tolist():
            if csp.free[i]:
                assert search.state.table[i, v] - own == table[i][v]


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6))
def test_violations_and_cost_are_those_of_the_problem(seed: int) -> None:
    csp = random_csp(seed)
    search = LocalSearch(csp, seed)
    search.run(moves=50)
    verdict = check(csp, search.best.values)
    assert verdict.violations == search.best.violations == search.state.numbers[kernel.BEST_VIOLATIONS]
    if verdict.objective is not None:
        assert verdict.objective == pytest.approx(search.best.cost)
    assert check(csp, search.values).violations == search.state.numbers[kernel.VIOLATIONS]


@given(seed=st.integers(0, 10**6))
def test_variables_in_conflict_are_listed(seed: int) -> None:
    csp = random_csp(seed, soft=False)
    search = LocalSearch(csp, seed)
    search.run(moves=20)
    state = search.state
    listed = state.kept[kernel.BAD, : state.numbers[kernel.CONFLICTS]].tolist()
    movable = state.variable[:-1, kernel.MOVABLE].astype(bool)
    bad = csp.in_conflict(torch.tensor([search.values]))[0].numpy() & movable
    assert sorted(listed) == np.flatnonzero(bad).tolist()


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6))
def test_the_twin_that_is_not_compiled_makes_the_same_moves(seed: int) -> None:
    csp = random_csp(seed)
    one, two = LocalSearch(csp, seed), LocalSearch(csp, seed, compiled=False)
    for search in (one, two):
        search.state.numbers[kernel.PATIENCE] = 7
        search.run(moves=60)
    for name, left, right in zip(kernel.State._fields, one.state, two.state, strict=True):
        assert np.array_equal(left, right), name


@given(seed=st.integers(0, 10**6), cuts=st.lists(st.integers(1, 30), max_size=5))
def test_slices_do_not_matter(seed: int, cuts: list[int]) -> None:
    csp = random_csp(seed)
    whole, sliced = LocalSearch(csp, 5), LocalSearch(csp, 5)
    for moves in cuts:
        sliced.run(moves=moves)
    whole.run(moves=sum(cuts))
    assert (whole.values, whole.best, whole.moves) == (sliced.values, sliced.best, sliced.moves)


@given(seed=st.integers(0, 10**6))
def test_small_problems_are_solved_as_well_as_can_be(seed: int) -> None:
    csp = random_csp(seed)
    right = solve_cpsat(csp, workers=1)
    search = LocalSearch(csp, seed)
    search.run(moves=20_000)
    assert (search.best.violations == 0) == (right.status != "infeasible")
    if right.objective is not None:
        assert search.best.cost == pytest.approx(right.objective)
    values = search.best.values
    assert all(fixed in (-1, value) for fixed, value in zip(csp.given.tolist(), values, strict=True))
    assert bool(csp.domain.gather(1, torch.tensor(values)[:, None]).all())


@pytest.mark.parametrize(
    "name, params, moves",
    [
        ("sudoku", {"box": 2}, 20_000),
        ("sudoku", {}, 1_000_000),
        ("coloring", {}, 100_000),
        ("nurse", {}, 100_000),
        ("latin", {}, 300_000),
    ],
)
def test_problems_of_the_families_are_solved(name: str, params: dict[str, object], moves: int) -> None:
    for csp in families.get(name).generate(np.random.default_rng(0), 3, params):
        search, chance = LocalSearch(csp, 0), csp.random_values(1, torch.Generator().manual_seed(0))
        search.run(moves=moves)
        assert search.solved or search.best.violations < int(csp.violations(chance)) / 4
        if name != "coloring":  # some graphs have no such colouring
            assert check(csp, search.best.values).solved


def test_cuts_are_the_best_there_are() -> None:
    for csp in families.get("maxcut").generate(np.random.default_rng(1), 3, {"vertices": 30, "weights": "signed"}):
        search = LocalSearch(csp, 0)
        search.run(moves=50_000)
        assert csp.offset - search.best.cost == solve_cpsat(csp, workers=1).objective


def test_it_goes_on_where_it_stopped_and_from_other_values() -> None:
    csp = coloring([(a, b) for a in range(6) for b in range(a)], n=6, m=5)  # one pair too many
    search = LocalSearch(csp, 1, values=[0] * 6)
    assert search.values == [0] * 6
    assert search.best.violations == 15
    assert search.run(moves=100)
    assert not search.run(moves=100)
    assert search.moves == 200
    search.restart_from([1] * 6)
    assert search.values == [1] * 6
    assert search.best.violations == 1


def test_nothing_to_search() -> None:
    one = problem([{"kind": "cardinality", "scope": [0], "value": 1, "count": 1}], n=1, m=2)
    assert LocalSearch(one, 0, values=[0]).run(moves=10)
    for csp in (problem([], n=3, m=2), problem([], n=1, m=1), problem([{"kind": "all_different", "scope": [0, 1]}], n=2, m=1)):
        search = LocalSearch(csp, 0)
        assert not search.run(moves=10)
        assert search.best.values == search.values
    fixed = problem([{"kind": "not_equal", "scope": [0, 1]}], n=3, m=2, given={0: 1, 1: 1})
    search = LocalSearch(fixed, 0)
    search.run(moves=10)
    assert search.best.violations == 1


def test_time_and_stop_are_kept() -> None:
    search = LocalSearch(impossible(40, 30), 0)
    start = time.perf_counter()
    search.run(seconds=0.05)
    assert time.perf_counter() - start < 1
    flag = threading.Event()
    worker = threading.Thread(target=search.run, kwargs={"stop": flag.is_set})
    worker.start()
    before = search.moves
    time.sleep(0.05)  # in which the other thread moves on
    flag.set()
    worker.join(5)
    assert not worker.is_alive()
    assert search.moves > before
    moves = search.moves
    search.run(seconds=0)
    search.run(stop=lambda: True)
    assert search.moves == moves


def test_wrong_values_are_refused() -> None:
    csp = problem([], n=2, m=3, forbidden=[(0, 1)])
    with pytest.raises(ModelError, match="2 variables need 2 values"):
        LocalSearch(csp, 0, values=[0])
    with pytest.raises(ModelError, match="of 0 is not in its domain"):
        LocalSearch(csp, 0, values=[1, 0])
    with pytest.raises(ModelError, match="one problem at a time"):
        LocalSearch(CSP.union([cycle(3, 3)] * 2), 0)


def test_it_is_over_when_nothing_can_move_or_be_better() -> None:
    fixed = problem([{"kind": "not_equal", "scope": [0, 1], "soft": True}], n=2, m=2, given={0: 1}, forbidden=[(1, 0)])
    search = LocalSearch(fixed, 0)
    assert search.over
    assert not search.solved
    search = LocalSearch(cycle(6, 2), 0, values=[0] * 6)
    assert not search.over
    search.run(moves=10_000)
    assert search.over


def test_a_large_problem_begins_with_the_quickest_way_down() -> None:
    rng = np.random.default_rng(0)
    csp = coloring([(int(i), int(j)) for i, j in rng.integers(0, 3_000, (6_000, 2)) if i != j], n=3_000, m=3)
    chance = int(csp.violations(csp.random_values(1, torch.Generator().manual_seed(0))))
    search = LocalSearch(csp, 0)
    assert search.moves == 0
    assert search.best.violations < chance / 3
    assert LocalSearch(csp, 0, compiled=False).best == search.best

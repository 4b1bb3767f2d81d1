from __future__ import annotations

from typing import NoReturn

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consformer import CSP, families
from consformer.baselines import solve_cpsat
from consformer.checker import check
from consformer.compiled import differences as kernel
from consformer.constraints import Record
from consformer.constraints.all_different import AllDifferent
from consformer.errors import ModelError
from consformer.partners.backtrack import Backtracking
from consformer.partners.differences import allowed
from consformer.partners.memetic import MemeticSearch
from tests.helpers import coloring, problem, random_csp


def different(seed: int, n: int = 9, m: int = 4) -> CSP:
    """Pairs and groups that must differ; some variables are fixed, some have few values, a pair may come twice."""
    rng = np.random.default_rng(seed)
    records: list[Record] = [{"kind": "not_equal", "scope": rng.permutation(n)[:2].tolist()} for _ in range(int(rng.integers(1, 2 * n)))]
    records += [{"kind": "all_different", "scope": rng.permutation(n)[: int(rng.integers(2, m + 1))].tolist()} for _ in range(2)]
    given = {i: int(rng.integers(m)) for i in range(n) if rng.random() < 0.1}
    forbidden = [(i, int(rng.integers(m))) for i in range(n) if i not in given and rng.random() < 0.2]
    return problem(records, n=n, m=m, given=given, forbidden=forbidden)


def hard(seed: int = 0, n: int = 40, m: int = 5) -> CSP:
    """A graph that takes more than one run, or has no colouring."""
    rng = np.random.default_rng(seed)
    left, right = np.triu_indices(n, 1)
    chosen = rng.random(len(left)) < 0.32
    return coloring(list(zip(left[chosen].tolist(), right[chosen].tolist(), strict=True)), n=n, m=m)


def consistent(csp: CSP, search: MemeticSearch) -> bool:
    """Whether costs, conflicts and violations are what the values make them."""
    values = np.array(search.values)
    one, other = csp.differences.numpy()
    cost = np.zeros((csp.n, csp.m), np.int64)
    np.add.at(cost, (one, values[other]), 1)
    left, free = allowed(csp), allowed(csp).sum(1) > 1
    own = cost[np.arange(csp.n), values]
    violated = (values[one] == values[other]) & (free[one] | free[other])
    count = int(search._numbers[kernel.IN_CONFLICT])
    return (
        bool((search._cost.reshape(csp.n, csp.m)[left] == cost[left]).all())
        and sorted(search._conflict[:count].tolist()) == np.flatnonzero((own > 0) & free).tolist()
        and int(search._numbers[kernel.VIOLATIONS]) == violated.sum() // 2
    )


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), moves=st.integers(1, 5000))
def test_the_best_is_as_good_as_it_says(seed: int, moves: int) -> None:
    csp = different(seed)
    search = MemeticSearch(csp, seed)
    before = search.best.violations
    improved = search.run(moves=moves)
    verdict = check(csp, search.best.values)
    assert verdict.violations == search.best.violations
    assert verdict.violations < before if improved else verdict.violations <= before
    assert consistent(csp, search)
    assert allowed(csp)[np.arange(csp.n), search.values].all()  # fixed variables stay, domains are kept


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6))
def test_small_problems_are_solved_where_they_can_be(seed: int) -> None:
    csp = different(seed)
    search = MemeticSearch(csp, seed)
    search.run(moves=100_000)
    assert (search.best.violations == 0) == (solve_cpsat(csp, time_limit=20, workers=1).status == "solved")


@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), cuts=st.lists(st.integers(1, 3000), min_size=1, max_size=4))
def test_moves_are_the_same_without_compiled_code_and_in_any_slices(seed: int, cuts: list[int]) -> None:
    csp = different(seed, n=12, m=3)
    one, slow = MemeticSearch(csp, seed), MemeticSearch(csp, seed, compiled=False)
    for moves in cuts:
        one.run(moves=moves)
    assert one.moves == sum(cuts) or one.over
    slow.run(moves=one.moves)
    assert (one.values, one.best.values, one.moves) == (slow.values, slow.best.values, slow.moves)


def test_many_variables_in_conflict_are_sampled() -> None:
    n = kernel.SCAN
    search = MemeticSearch(coloring([(i, (i + 1) % n) for i in range(n)], n=n, m=3), 0, values=[0] * n)
    slow = MemeticSearch(search.csp, 0, values=[0] * n, compiled=False)
    search.run(moves=200)
    slow.run(moves=200)
    assert search.values == slow.values
    search.run(moves=100_000)
    assert search.best.violations == 0


@pytest.mark.parametrize("m", [kernel.SCAN // 2 + 1, kernel.SCAN + 1])
def test_few_in_conflict_with_very_many_values(m: int) -> None:
    """Of which a move looks at some only, but never at more than there are."""
    n = 6
    allowed_to_all = [(i, v) for i in range(n) for v in range(n, m - 1)]  # so that it takes some moves
    csp = problem([{"kind": "all_different", "scope": list(range(n))}], n=n, m=m, forbidden=allowed_to_all)
    for seed in range(3):
        search = MemeticSearch(csp, seed, values=[0, 0, 0, 1, 1, 2])
        search.run(moves=10_000)
        assert search.best.violations == 0
        assert consistent(csp, search)


@pytest.mark.parametrize("search", [MemeticSearch, Backtracking])
def test_pairs_are_counted_before_they_are_listed(monkeypatch: pytest.MonkeyPatch, search: type[MemeticSearch | Backtracking]) -> None:
    """A hundred million of them would fill the memory."""

    def listing(constraint: AllDifferent) -> NoReturn:
        raise AssertionError

    monkeypatch.setattr(AllDifferent, "differences", listing)
    csp = problem([{"kind": "all_different", "scope": list(range(10_000))}], n=10_000, m=3)
    assert not search.fits(csp)


@pytest.mark.parametrize("seed", range(4))
def test_pairs_stated_more_than_once_count_as_often(seed: int) -> None:
    search = MemeticSearch(coloring([(0, 1), (0, 1), (0, 1), (1, 2), (0, 2)], n=3, m=2), seed)
    search.run(moves=1000)
    assert search.best.violations == 1  # the one that is stated three times holds


def test_values_at_random_are_allowed_and_all_of_them_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consformer.partners.memetic.CHUNK", 16)  # several of them
    csp = different(0, n=12, m=5)
    search, found = MemeticSearch(csp, 0), np.zeros((csp.n, csp.m), bool)
    for _ in range(200):
        found[np.arange(csp.n), search._at_random(np.arange(csp.n))] = True
    assert (found == allowed(csp)).all()


def test_generations_come_and_go() -> None:
    csp = hard(m=4)  # has no colouring
    search = MemeticSearch(csp, 0)
    search.run(moves=1_000_000)
    assert search.best.violations > 0
    assert search._generation > 2
    assert consistent(csp, search)


@pytest.mark.parametrize("alike", [True, False])
def test_a_child_has_of_each_parent_what_belongs_together(alike: bool) -> None:
    n, m = 30, 5
    csp = coloring([(0, 1)], n=n, m=m) if alike else problem([{"kind": "not_equal", "scope": [0, 1]}], n=n, m=m, forbidden=[(2, 0)])
    search, rng = MemeticSearch(csp, 0), np.random.default_rng(0)
    one, two = (rng.integers(1, m, n).astype(np.uint32) for _ in range(2))
    child = search._crossed(one, two)
    assert allowed(csp)[np.arange(n), child].all()
    largest = one == np.bincount(one).argmax()
    assert len(set(child[largest].tolist())) == 1  # the largest class of the first parent is one of the child's
    if not alike:
        kept = (child == one) | (child == two)
        assert kept.mean() > 0.7  # names that mean something are kept
    assert (search._crossed(one, one) == one).all() or alike


def test_a_child_of_parents_with_very_many_values() -> None:
    n, m = 400, 3000
    csp = problem([{"kind": "not_equal", "scope": [0, 1]}], n=n, m=m, forbidden=[(2, 0)])
    search, rng = MemeticSearch(csp, 0), np.random.default_rng(0)
    one, two = (rng.integers(1, m, n).astype(np.uint32) for _ in range(2))
    child = search._crossed(one, two)
    assert ((child == one) | (child == two)).mean() > 0.9  # nearly all classes have one member, and hardly any name comes twice
    assert allowed(csp)[np.arange(n), child].all()
    assert (search._crossed(one, one) == one).all()


def test_it_goes_on_from_what_others_found() -> None:
    csp = hard()
    good, search = MemeticSearch(csp, 1), MemeticSearch(csp, 2)
    good.run(moves=300_000)
    search.restart_from(good.best.values)
    assert search.best.violations <= good.best.violations
    assert search.values == good.best.values
    best = search.best
    search.restart_from([0] * csp.n)
    assert search.best == best
    with pytest.raises(ModelError, match="40 variables need 40 values"):
        search.restart_from([0])


@pytest.mark.parametrize(
    "csp",
    [
        random_csp(0),
        problem([{"kind": "not_equal", "scope": [0, 1], "soft": True}], n=2, m=2),
        problem([{"kind": "not_equal", "scope": [0, 1], "weight": -1}], n=2, m=2),
        CSP.union([hard(), hard()]),
    ],
)
def test_other_problems_are_refused(csp: CSP) -> None:
    assert not MemeticSearch.fits(csp)
    with pytest.raises(ModelError, match="differences only"):
        MemeticSearch(csp)


def test_nothing_to_move_is_over() -> None:
    record: Record = {"kind": "not_equal", "scope": [0, 1]}
    stuck = MemeticSearch(problem([record], n=2, m=2, given={0: 1, 1: 1}))
    assert stuck.over
    assert not stuck.run(seconds=5)
    assert stuck.best.violations == 1
    half = MemeticSearch(problem([record, {"kind": "not_equal", "scope": [1, 2]}], n=3, m=2, given={0: 1, 1: 1}))
    half.run(seconds=5)
    assert half.over  # what can move is as good as it can be
    assert half.best.violations == 1
    empty = MemeticSearch(problem([], n=2, m=2))
    assert empty.over


def test_squares_are_completed() -> None:
    (csp,) = families.get("latin").generate(np.random.default_rng(0), 1, {"order": (12, 12), "holes": (0.42, 0.42), "balanced": True})
    search = MemeticSearch(csp, 0)
    search.run(moves=2_000_000)
    assert search.best.violations == 0

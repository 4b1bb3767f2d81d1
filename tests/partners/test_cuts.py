from __future__ import annotations

from itertools import product

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from consformer import CSP, families, solve
from consformer.baselines import solve_cpsat
from consformer.checker import check
from consformer.constraints import Record
from consformer.errors import ModelError
from consformer.partners.cuts import CutSearch
from tests.helpers import coloring, gibbs, problem, random_csp


def wishes(seed: int, n: int = 9) -> CSP:
    """Pairs that should, or should not, be on one side; some variables are fixed, some have one value, a pair may come twice."""
    rng = np.random.default_rng(seed)
    records: list[Record] = []
    for _ in range(int(rng.integers(1, 4 * n))):
        weight = float(rng.choice([-2.5, -1, 1, 3, 0.25]))
        records.append({"kind": "not_equal", "scope": rng.permutation(n)[:2].tolist(), "soft": True, "weight": weight})
    given = {i: int(rng.integers(2)) for i in range(n) if rng.random() < 0.1}
    forbidden = [(i, int(rng.integers(2))) for i in range(n) if i not in given and rng.random() < 0.1]
    return problem(records, n=n, m=2, given=given, forbidden=forbidden)


def joined(csp: CSP, mine: list[int], other: list[int]) -> list[list[int]]:
    """All that can be made of one by taking regions of the other, or of its mirror, as sides may change names if nothing is fixed."""
    free = bool(csp.domain.all()) and bool((csp.given < 0).all())
    differing = {i for i in range(csp.n) if mine[i] != other[i]}
    if free and 2 * len(differing) > csp.n:
        differing = set(range(csp.n)) - differing
    graph = nx.Graph([tuple(scope) for constraint in csp.constraints for scope in constraint.members.view(-1, 2).tolist()])
    graph.add_nodes_from(differing)
    regions = list(nx.connected_components(graph.subgraph(differing)))
    found = []
    for taken in product([False, True], repeat=len(regions)):
        changed = set().union(*(region for region, take in zip(regions, taken, strict=True) if take))
        found.append([1 - value if i in changed else value for i, value in enumerate(mine)])
    return found


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), moves=st.integers(1, 3000))
def test_the_best_is_as_good_as_it_says(seed: int, moves: int) -> None:
    csp = wishes(seed)
    search = CutSearch(csp, seed)
    before = search.best.cost
    improved = search.run(moves=moves)
    verdict = check(csp, search.best.values)
    assert verdict.violations == 0
    assert verdict.objective == pytest.approx(search.best.cost)
    assert improved == (search.best.cost < before)
    assert check(csp, search.values).violations == 0  # fixed variables stay, domains are kept


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6))
def test_small_problems_are_solved_to_the_end(seed: int) -> None:
    csp = wishes(seed)
    exact = solve_cpsat(csp, time_limit=20, workers=1)
    search = CutSearch(csp, seed)
    search.run(moves=100_000)
    assert search.best.cost == pytest.approx(exact.objective)


@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), cuts=st.lists(st.integers(1, 700), min_size=1, max_size=4))
def test_moves_are_the_same_without_compiled_code_and_in_any_slices(seed: int, cuts: list[int]) -> None:
    csp = wishes(seed)
    one, slow = CutSearch(csp, seed), CutSearch(csp, seed, compiled=False)
    for moves in cuts:
        one.run(moves=moves)
    assert one.moves == sum(cuts) or one.over
    slow.run(moves=one.moves)
    assert (one.values, one.best.values, one.moves) == (slow.values, slow.best.values, slow.moves)


@pytest.mark.parametrize("n", [4, 6, 16, 50])
def test_rings_come_to_rest(n: int) -> None:
    csp = problem([{"kind": "not_equal", "scope": [i, (i + 1) % n], "soft": True} for i in range(n)], n=n, m=2)
    search = CutSearch(csp, 0)
    search.run(moves=200_000)
    assert search.best.cost == 0


def test_what_others_found_is_taken_if_it_is_better() -> None:
    (csp,) = families.get("maxcut").generate(np.random.default_rng(0), 1, {"vertices": [60, 60]})
    good, search = CutSearch(csp, 1), CutSearch(csp, 2)
    good.run(moves=200_000)
    search.restart_from(good.best.values)
    assert search.best.cost <= good.best.cost
    before = search.best.cost
    search.restart_from([0] * csp.n)
    assert search.best.cost <= before
    with pytest.raises(ModelError, match="60 variables need 60 values"):
        search.restart_from([0])


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), twin=st.booleans())
def test_two_cuts_are_joined_region_by_region(seed: int, twin: bool) -> None:
    csp = wishes(seed, n=12)
    search = CutSearch(csp, seed, compiled=not twin)
    mine, other = search.best, csp.random_values(1, torch.Generator().manual_seed(seed))[0].tolist()
    search.restart_from(other)
    cheapest = min(search.csp.cost(torch.tensor([each])).item() for each in joined(csp, mine.values, other))
    assert search.best.cost == pytest.approx(cheapest)
    assert check(csp, search.best.values).violations == 0


def test_parts_of_a_cut_that_have_nothing_to_do_with_each_other_are_joined_at_their_best() -> None:
    records = [{"kind": "not_equal", "scope": [3 * k + i, 3 * k + j], "soft": True} for k in range(50) for i, j in ((0, 1), (1, 2))]
    csp = problem(records, n=150, m=2)
    search = CutSearch(csp, 0)
    halves = [[value for k in range(50) for value in ([0, 1, 0] if k % 2 == odd else [0, 0, 0])] for odd in (0, 1)]
    for half in halves:  # each has half of the paths right
        search.restart_from(half)
    assert search.best.cost == 0


@pytest.mark.parametrize("csp", [random_csp(0, soft=False), coloring([(0, 1)], n=2, m=2), problem([], n=2, m=2)])
def test_other_problems_are_refused(csp: CSP) -> None:
    assert not CutSearch.fits(csp)
    with pytest.raises(ModelError, match="two values and soft pairs only"):
        CutSearch(csp)


def test_nothing_to_move_and_nothing_to_gain_is_over() -> None:
    record = {"kind": "not_equal", "scope": [0, 1], "soft": True, "weight": 1.0}
    stuck = CutSearch(problem([record], n=2, m=2, given={0: 1, 1: 1}))
    assert stuck.over
    assert not stuck.run(seconds=5)
    assert stuck.best.cost == 1
    free = CutSearch(problem([record], n=2, m=2))
    free.run(seconds=5)
    assert free.over
    assert free.best.cost == 0


def test_cuts_are_annealed_in_a_solve() -> None:
    (csp,) = families.get("maxcut").generate(np.random.default_rng(0), 1, {"vertices": [400, 400]})
    result = solve(csp, network=gibbs(), method="local", time_limit=1)
    found = CutSearch(csp, 0)
    found.run(seconds=0.5)
    assert result.objective is not None
    assert result.objective >= 0.999 * (csp.offset - found.best.cost)

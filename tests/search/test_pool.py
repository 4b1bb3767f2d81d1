from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from consformer.constraints import Record
from consformer.csp import CSP
from consformer.search.pool import QUICK, Batch
from tests.helpers import cycle, problem, random_csp

SEEDS = st.integers(0, 10_000)
PER_INSTANCE = ("age", "best_key", "drought", "done", "optimising", "heavy", "movable", "slowness")
PER_CANDIDATE = ("candidate_key", "stale", "spent", "round", "violations", "cost")
PER_VARIABLE = ("values", "peak", "margin")


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def started(*problems: CSP, pool: int = 3, seed: int = 0) -> Batch:
    return Batch.start(problems, list(range(10, 10 + len(problems))), pool, generator(seed))


def worn(batch: Batch) -> Batch:
    """The batch with figures by which its instances and candidates can be told apart."""
    batch.age = torch.arange(len(batch.members)) + 5
    batch.best_key = batch.age / 2.0
    batch.done = batch.age % 2 == 0
    batch.drought = batch.age * 3
    batch.stale = torch.arange(batch.stale.numel()).view(batch.stale.shape)
    batch.spent, batch.round = batch.stale + 100, batch.stale + 200
    batch.margin = torch.arange(batch.margin.numel()).view(batch.margin.shape) / 4
    batch.peak = batch.csp.random_values(len(batch.values), generator(9))
    batch.elites.admit(batch.csp, batch.peak, batch.candidate_key, batch.stale % 2 == 0)
    return batch


def same(one: Batch, two: Batch) -> None:
    assert one.members == two.members
    assert one.spans == two.spans
    assert torch.equal(one.csp.domain, two.csp.domain)
    assert torch.equal(one.csp.graph.edges, two.csp.graph.edges)
    for name in PER_INSTANCE + PER_CANDIDATE + PER_VARIABLE:
        assert torch.equal(getattr(one, name), getattr(two, name)), name
    assert torch.equal(one.elites.key, two.elites.key)
    assert torch.equal(one.elites.values, two.elites.values)


# --- what candidates are worth ------------------------------------------------------------------------------------


def test_a_fresh_batch_is_judged() -> None:
    batch = started(cycle(5, 3), cycle(4, 2))
    assert torch.equal(batch.violations, batch.csp.violations(batch.values))
    assert batch.violations.shape == (3, 2)
    assert batch.age.tolist() == [0, 0]
    assert batch.spans == [(0, 5), (5, 9)]
    assert batch.best_key.tolist() == [float("inf")] * 2  # nobody has taken anything from it yet
    assert not bool(batch.stale.any())


@given(seed=SEEDS)
def test_hard_violations_count_first_and_then_the_cost(seed: int) -> None:
    """However many soft constraints are violated, and however often: one hard violation is worse."""
    batch = started(random_csp(seed, fixed=False), random_csp(seed + 1, fixed=False), pool=12, seed=seed)
    key = batch.candidate_key
    for instance in range(2):
        worth = list(zip(batch.violations[:, instance].tolist(), batch.cost[:, instance].tolist(), strict=True))
        for (one, first), (two, second) in itertools.combinations(zip(worth, key[:, instance].tolist(), strict=True), 2):
            assert (one < two) == (first < second)
    index, best = batch.best()
    assert torch.equal(best, key.min(0).values)
    assert torch.equal(key.gather(0, index[None])[0], best)


def test_the_key_in_figures() -> None:
    records: list[Record] = [
        {"kind": "not_equal", "scope": [0, 1]},
        {"kind": "not_equal", "scope": [0, 2], "soft": True, "weight": 2.5},
        {"kind": "all_different", "scope": [0, 1, 2], "soft": True, "weight": 0.5},
    ]
    batch = started(problem(records, n=3, m=2), cycle(3, 2), pool=2)
    assert batch.optimising.tolist() == [True, False]
    heavy = 2.5 * 2**2 + 0.5 * 3**2 + 1
    assert batch.heavy.tolist() == [heavy, 1]
    batch.values = torch.tensor([[0, 0, 0, 0, 0, 1], [0, 1, 0, 0, 0, 0]])
    batch.candidate_key.fill_(float("inf"))
    batch.judge()
    assert batch.violations.tolist() == [[1, 1], [0, 3]]
    assert batch.cost.tolist() == [[2.5 + 3 * 0.5, 0], [2.5 + 0.5, 0]]
    assert batch.candidate_key.tolist() == [[heavy + 4, 1], [3, 3]]
    assert batch.best()[0].tolist() == [1, 0]


def test_stale_is_how_long_ago_a_candidate_was_better_than_ever() -> None:
    batch = started(cycle(4, 2), pool=2)
    seen: list[list[int]] = []
    for first, second in (([0, 0, 0, 0], [0, 1, 0, 0]), ([0, 0, 0, 1], [0, 0, 0, 0]), ([0, 1, 0, 0], [0, 1, 0, 1])):
        batch.values = torch.tensor([first, second])
        if not seen:
            batch.candidate_key.fill_(float("inf"))
        batch.judge()
        seen.append(batch.stale[:, 0].tolist())
    assert seen == [[0, 0], [0, 1], [1, 0]]
    assert batch.candidate_key.tolist() == [[2], [0]]


# --- starting anew ------------------------------------------------------------------------------------------------


def test_only_candidates_without_progress_start_anew() -> None:
    batch = started(cycle(30, 5), cycle(40, 5))
    batch.stale = torch.tensor([[7, 6], [6, 7], [0, 8]])
    before, key = batch.values.clone(), batch.candidate_key.clone()
    batch.restart(7, generator(1))
    anew = torch.tensor([[True, False], [False, True], [False, True]])
    assert torch.equal((batch.values[:, :30] != before[:, :30]).any(1), anew[:, 0])
    assert torch.equal((batch.values[:, 30:] != before[:, 30:]).any(1), anew[:, 1])
    assert batch.stale.tolist() == [[0, 6], [6, 0], [0, 0]]
    assert torch.equal(batch.candidate_key, key.masked_fill(anew, float("inf")))  # whatever comes next is progress


def test_without_anyone_stuck_nothing_is_drawn() -> None:
    batch, source = started(cycle(5, 3)), generator(1)
    before = batch.values.clone()
    batch.restart(1, source)
    assert torch.equal(batch.values, before)
    assert torch.equal(source.get_state(), generator(1).get_state())


def test_starting_anew_keeps_what_is_fixed() -> None:
    batch = started(problem([{"kind": "all_different", "scope": [0, 1, 2]}], n=3, m=4, given={1: 3}, forbidden=[(0, 2)]), pool=50)
    batch.stale.fill_(100)
    batch.restart(1, generator(1))
    assert set(batch.values[:, 1].tolist()) == {3}
    assert set(batch.values[:, 0].tolist()) == {0, 1, 3}


@pytest.mark.parametrize(
    ("n", "fixed", "slowness"),
    [(3, 0, 1), (QUICK, 0, 1), (2 * QUICK, 0, 2), (5 * QUICK, 0, 5), (5 * QUICK, 3 * QUICK, 2), (2 * QUICK, 2 * QUICK - 1, 1)],
)
def test_patience_grows_with_the_free_variables(n: int, fixed: int, slowness: int) -> None:
    csp = problem([], n=n, m=6, given={i: i % 6 for i in range(fixed)})
    batch = started(csp, cycle(5, 3), pool=1)
    assert batch.slowness.tolist() == [slowness, 1]
    for stale, anew in ((10 * slowness - 1, False), (10 * slowness, True)):
        batch.stale = torch.tensor([[stale, 0]])
        batch.restart(10, generator(1))
        assert (int(batch.stale[0, 0]) == 0) == anew


def test_the_peak_is_the_best_since_the_start() -> None:
    batch = started(cycle(4, 2), pool=1)
    batch.candidate_key.fill_(float("inf"))
    for values in ([0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]):
        batch.values = torch.tensor([values])
        batch.judge()
    assert batch.peak.tolist() == [[0, 1, 0, 0]]


def test_droughts_that_ended_well() -> None:
    """The first step after a start is none: it is better than a random assignment anyhow."""
    batch = started(cycle(4, 2), pool=2)
    batch.values = torch.tensor([[0, 1, 0, 1], [0, 0, 0, 0]])
    for spent, stale, drought in ([1, 1], [9, 8], 0), ([5, 5], [3, 7], 3), ([9, 9], [1, 9], 3):
        batch.candidate_key = torch.tensor([[5.0], [0.0]], dtype=torch.float64)
        batch.spent, batch.stale = torch.tensor(spent)[:, None], torch.tensor(stale)[:, None]
        batch.judge()
        assert batch.drought.tolist() == [drought]


def test_what_is_given_up_becomes_an_elite_and_begins_from_one() -> None:
    batch = started(cycle(40, 3), cycle(20, 3), pool=2)
    batch.stale = torch.tensor([[50, 0], [0, 50]])
    batch.spent.fill_(60)
    batch.margin.fill_(1.0)
    batch.peak, key = batch.csp.random_values(2, generator(5)), batch.candidate_key.clone()
    before = batch.values.clone()
    batch.restart(10, generator(1), "elite")
    assert torch.equal(batch.elites.key.min(0).values, torch.stack([key[0, 0], key[1, 1]]))
    assert 0 < float((batch.values[0, :40] != batch.peak[0, :40]).float().mean()) < 0.4
    assert torch.equal(batch.values[1, :40], before[1, :40])
    assert torch.equal(batch.values[0, 40:], before[0, 40:])
    assert batch.spent.tolist() == [[0, 60], [60, 0]]
    assert batch.margin[0, :40].tolist() == [0.0] * 40  # nothing is known of the new one
    assert batch.margin[1, :40].tolist() == [1.0] * 40
    assert batch.candidate_key.isinf().tolist() == [[True, False], [False, True]]


def test_patience_at_another_pace() -> None:
    batch = started(cycle(5, 3), pool=2)
    for turn, waits in enumerate([1, 1, 2, 1, 1, 2, 4]):
        batch.round = torch.arange(2)[:, None] + turn
        for stale, anew in ((10 * waits - 1, False), (10 * waits, True)):
            batch.stale.fill_(stale)
            batch.restart(10, generator(), pacing="luby")
            assert (batch.stale[:, 0] == 0).tolist() == [anew] * 2
    batch.drought.fill_(30)
    batch.stale = torch.tensor([[59], [60]])
    batch.restart(10, generator(), pacing="adaptive")
    assert batch.stale.tolist() == [[59], [0]]


def test_what_cannot_move() -> None:
    batch = started(problem([], n=2, m=2, given={0: 1, 1: 0}), cycle(3, 2))
    assert batch.movable.tolist() == [False, True]


# --- who comes and goes -------------------------------------------------------------------------------------------


def test_a_batch_without_some() -> None:
    problems = [cycle(3, 2), random_csp(5), cycle(60, 4)]
    batch = worn(started(*problems))
    kept = batch.only([0, 2])
    assert kept.members == [10, 12]
    assert kept.spans == [(0, 3), (3, 63)]
    n = problems[1].n
    for name in PER_VARIABLE:
        before = getattr(batch, name)
        assert torch.equal(getattr(kept, name), torch.cat([before[:, :3], before[:, 3 + n :]], 1)), name
    assert torch.equal(kept.elites.key, batch.elites.key[:, [0, 2]])
    assert torch.equal(kept.elites.values, torch.cat([batch.elites.values[:, :3], batch.elites.values[:, 3 + n :]], 1))
    for name in PER_INSTANCE:
        assert torch.equal(getattr(kept, name), getattr(batch, name)[[0, 2]]), name
    for name in PER_CANDIDATE:
        assert torch.equal(getattr(kept, name), getattr(batch, name)[:, [0, 2]]), name
    assert torch.equal(kept.csp.violations(kept.values), kept.violations)


def test_nobody_gone_nothing_built() -> None:
    batch = started(cycle(3, 2), cycle(4, 2))
    assert batch.only([0, 1]) is batch


@given(seeds=st.lists(SEEDS, min_size=2, max_size=5), cut=st.integers(1, 4))
def test_parts_joined_are_the_whole(seeds: list[int], cut: int) -> None:
    """Numbers of values may differ: a union pads."""
    batch = worn(started(*(random_csp(seed) for seed in seeds)))
    everyone = list(range(len(seeds)))
    cut = min(cut, len(seeds) - 1)
    same(batch.only(everyone[:cut]).joined(batch.only(everyone[cut:])), batch)

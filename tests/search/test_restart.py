from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from consformer.csp import CSP
from consformer.search.restart import ELITES, HANDED, LONGEST, NEAR, ORIGINS, SHAKEN, Elites, cross, crossed, elite, luby, pace, shaken
from tests.helpers import cycle, problem, random_csp

SEEDS = st.integers(0, 10_000)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def elites_of(csp: CSP, *rows: Tensor) -> Elites:
    """Elites with these assignments, the first the best."""
    elites = Elites.none(csp)
    for worth, row in enumerate(rows):
        elites.admit(csp, row[None], torch.full((1, len(csp.instances)), float(worth)), torch.ones(1, len(csp.instances), dtype=torch.bool))
    return elites


# --- how long -----------------------------------------------------------------------------------------------------


@given(turn=st.integers(0, 5000))
def test_luby_is_made_of_itself(turn: int) -> None:
    """The first 2^k - 1 numbers are twice the first 2^(k-1) - 1 and then 2^(k-1)."""
    whole = (turn + 1).bit_length() - 1
    ends = turn + 2 == 2 ** (turn + 2).bit_length() // 2
    expected = 2 ** ((turn + 2).bit_length() - 2) if ends else int(luby(torch.tensor([turn + 1 - 2**whole]))[0])
    assert int(luby(torch.tensor([turn]))[0]) == expected


def test_paces() -> None:
    patience, turn, drought = torch.tensor([10.0, 40.0]), torch.tensor([[0, 1], [2, 6]]), torch.tensor([4, 30])
    assert pace("fixed", patience, turn, drought).tolist() == [[10, 40], [10, 40]]
    assert pace("luby", patience, turn, drought).tolist() == [[10, 40], [20, 160]]
    assert pace("adaptive", patience, turn, drought).tolist() == [[10, 60], [10, 60]]


@pytest.mark.parametrize("name", ["luby", "adaptive"])
def test_nobody_waits_for_ever(name: str) -> None:
    waits = pace(name, torch.tensor([10.0]), torch.tensor([[2**12 - 2]]), torch.tensor([10**9]))
    assert waits.tolist() == [[10 * LONGEST]]


# --- elites -------------------------------------------------------------------------------------------------------


def test_one_that_is_near_takes_the_place_of_its_like_if_it_is_better() -> None:
    csp = cycle(40, 3)
    one = csp.random_values(1, generator())[0]
    near, far = one.clone(), (one + 1) % 3
    near[0] = (near[0] + 1) % 3
    elites, asking = elites_of(csp, far, one), torch.tensor([[True]])
    elites.admit(csp, near[None], torch.tensor([[5.0]]), asking)
    assert sorted(elites.key[:, 0].tolist())[:3] == [0.0, 1.0, float("inf")]  # worse than its like
    elites.admit(csp, near[None], torch.tensor([[0.5]]), asking)
    assert sorted(elites.key[:, 0].tolist())[:3] == [0.0, 0.5, float("inf")]
    assert any(torch.equal(row, near) for row in elites.values)
    assert not any(torch.equal(row, one) for row in elites.values)


def test_one_that_is_far_takes_the_place_of_the_worst_if_it_is_better() -> None:
    csp = cycle(60, 9)
    rows = csp.random_values(ELITES + 2, generator())
    elites = elites_of(csp, *rows[:ELITES])
    assert sorted(elites.key[:, 0].tolist()) == list(range(ELITES))
    elites.admit(csp, rows[ELITES:], torch.tensor([[0.5], [100.0]]), torch.tensor([[True], [True]]))
    assert sorted(elites.key[:, 0].tolist()) == sorted([*range(ELITES - 1), 0.5])
    assert not any(torch.equal(row, rows[ELITES + 1]) for row in elites.values)


def test_only_who_asks_is_let_in() -> None:
    csp = CSP.union([cycle(5, 3), cycle(7, 3)])
    elites, values = Elites.none(csp), csp.random_values(2, generator())
    elites.admit(csp, values, torch.tensor([[3.0, 4.0], [1.0, 2.0]]), torch.tensor([[False, True], [True, False]]))
    assert elites.key.isfinite().sum(0).tolist() == [1, 1]
    assert elites.key.min(0).values.tolist() == [1, 4]
    where = elites.key.argmin(0)
    assert torch.equal(elites.values[where[0], :5], values[1, :5])
    assert torch.equal(elites.values[where[1], 5:], values[0, 5:])


@given(seeds=st.lists(SEEDS, min_size=1, max_size=3), seed=SEEDS)
def test_elites_are_unlike_one_another(seeds: list[int], seed: int) -> None:
    csp = CSP.union([random_csp(one) for one in seeds])
    elites = Elites.none(csp)
    for turn in range(4):
        key = torch.rand(5, len(seeds), generator=generator(seed + turn))
        elites.admit(csp, csp.random_values(5, generator(seed + turn)), key, torch.ones(5, len(seeds), dtype=torch.bool))
    for index, (part, values) in enumerate(zip(csp.instances, csp.split(elites.values), strict=True)):
        kept = values[elites.key[:, index].isfinite()]
        assert len(kept) >= 1
        assert bool(torch.where(part.free, True, kept == part.given).all())
        if part.free.sum() <= 1 / NEAR:  # one difference is enough, so no two are the same
            assert len(torch.unique(kept, dim=0)) == len(kept)


# --- what a candidate becomes -------------------------------------------------------------------------------------


@given(seeds=st.lists(SEEDS, min_size=1, max_size=3), seed=SEEDS)
@pytest.mark.parametrize("name", ORIGINS)
def test_whatever_it_becomes_is_an_assignment(name: str, seeds: list[int], seed: int) -> None:
    csp = CSP.union([random_csp(one) for one in seeds])
    elites = elites_of(csp, *csp.random_values(3, generator(seed)))
    values = ORIGINS[name](csp, elites, 4, generator(seed))
    assert values.shape == (4, csp.n)
    assert bool(csp.domain[torch.arange(csp.n), values].all())
    assert bool(torch.where(csp.free, True, values == csp.given).all())
    assert torch.equal(values, ORIGINS[name](csp, elites, 4, generator(seed)))


def test_a_shaken_one_is_like_what_it_was() -> None:
    csp = problem([], n=1000, m=10, given={0: 3})
    before = csp.random_values(30, generator())
    changed = (shaken(csp, before, generator(1)) != before).float().mean(1)
    assert float(changed.max()) < SHAKEN[1]
    assert float(changed.min()) > 0.01
    assert float(changed.max() - changed.min()) > 0.1  # some are shaken more than others


def test_a_child_has_a_region_of_one_and_the_rest_of_the_other() -> None:
    csp = cycle(100, 2)
    child = crossed(csp, torch.zeros(50, 100, dtype=torch.int64), torch.ones(50, 100, dtype=torch.int64), generator())
    changes = (child != child.roll(1, 1)).sum(1)
    assert changes.tolist() == [2] * 50  # one arc of each in the circle
    shares = child.float().mean(1)
    assert HANDED[0] - 0.01 <= float(shares.min()) < float(shares.max()) <= HANDED[1] + 0.01


def test_parents_are_two_where_there_are_two() -> None:
    csp = cycle(50, 2)
    zeros, ones = torch.zeros(50, dtype=torch.int64), torch.ones(50, dtype=torch.int64)
    children = cross(csp, elites_of(csp, zeros, ones), 40, generator())
    assert bool(((children != children.roll(1, 1)).sum(1) == 2).all())
    alone = cross(csp, elites_of(csp, zeros), 40, generator())
    assert float(alone.float().mean()) < SHAKEN[1] / 2
    both = elite(csp, elites_of(csp, zeros, ones), 200, generator()).float().mean(1)
    assert float((both > 0.5).float().mean()) == pytest.approx(0.5, abs=0.1)  # either is taken


def test_mixed_are_all_of_them() -> None:
    csp = cycle(300, 2)
    zeros, ones = torch.zeros(300, dtype=torch.int64), torch.ones(300, dtype=torch.int64)
    values = ORIGINS["mixed"](csp, elites_of(csp, zeros, ones), 300, generator())
    changes = (values != values.roll(1, 1)).sum(1)
    for share in ((changes > 100), (changes == 2), ((changes > 2) & (changes <= 100))):  # random, crossed, shaken
        assert float(share.float().mean()) == pytest.approx(1 / 3, abs=0.1)

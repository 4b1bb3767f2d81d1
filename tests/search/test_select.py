from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from consformer.constraints import Record
from consformer.csp import CSP
from consformer.networks import MASKED
from consformer.search.select import ARMS, FLOOR, REMEMBERING, SELECTORS, Context, conflicts, cost, doubt, margin, regret, uniform
from consformer.search.share import per_instance
from tests.helpers import cycle, problem, random_csp

SEEDS = st.integers(0, 10_000)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_fixed_variables_are_never_chosen() -> None:
    csp = problem([{"kind": "all_different", "scope": list(range(6))}], n=6, m=2, given={1: 0, 4: 1})
    values = csp.random_values(50, generator())
    for select in SELECTORS.values():
        subset = select(csp, values, torch.ones(50, 1), generator())
        assert subset.shape == (50, 6)
        assert bool((subset == csp.free).all())  # with p = 1 all free ones


def test_share_of_each_candidate_and_instance() -> None:
    csp = CSP.union([cycle(400, 2), cycle(600, 2)])
    p = torch.tensor([[0.1, 0.9], [0.5, 0.001]])
    subset = uniform(csp, csp.random_values(2, generator()), p, generator())
    for k in range(2):
        for index, part in enumerate(csp.split(subset)):
            assert float(part[k].float().mean()) == pytest.approx(float(p[k, index]), abs=0.08)


def test_follows_the_generator() -> None:
    csp, p = cycle(50, 2), torch.full((2, 1), 0.5)
    values = csp.random_values(2, generator())
    for select in SELECTORS.values():
        assert torch.equal(select(csp, values, p, generator(3)), select(csp, values, p, generator(3)))
        assert not torch.equal(select(csp, values, p, generator(3)), select(csp, values, p, generator(4)))


def test_variables_in_conflict_are_always_updated() -> None:
    csp = problem([{"kind": "all_different", "scope": [0, 1, 2]}, {"kind": "not_equal", "scope": [3, 4]}], n=6, m=4, given={1: 2})
    values = torch.tensor([[2, 2, 1, 0, 1, 3], [0, 2, 1, 3, 3, 3]])
    subset = conflicts(csp, values, torch.zeros(2, 1), generator())
    assert subset.int().tolist() == [[1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0]]  # variable 1 is fixed


def test_soft_constraints_are_no_conflicts() -> None:
    csp = problem([{"kind": "not_equal", "scope": [0, 1], "weight": 2.0, "soft": True}], n=2, m=2)
    subset = conflicts(csp, torch.ones(40, 2, dtype=torch.int64), torch.zeros(40, 1), generator())
    assert subset.sum(1).tolist() == [1] * 40  # not both: only the one that there must be


# --- what all have in common ----------------------------------------------------------------------------------------


@given(seeds=st.lists(SEEDS, min_size=1, max_size=4), p=st.floats(0, 1), seed=SEEDS)
@pytest.mark.parametrize("name", SELECTORS)
def test_never_the_fixed_and_never_nobody(name: str, seeds: list[int], p: float, seed: int) -> None:
    csp = CSP.union([random_csp(one) for one in seeds])
    values = csp.random_values(3, generator(seed))
    context = Context(torch.rand(3, csp.n, generator=generator(seed)), torch.randint(len(ARMS), (3, len(seeds)), generator=generator(seed)))
    for known in (Context(), context):
        subset = SELECTORS[name](csp, values, torch.full((3, len(seeds)), p), generator(seed), known)
        assert subset.shape == values.shape
        assert subset.dtype == torch.bool
        assert not bool((subset & ~csp.free).any())
        movable = per_instance(csp, csp.free[None]) > 0
        assert torch.equal(per_instance(csp, subset) > 0, movable.expand(3, -1))


@pytest.mark.parametrize("name", [name for name in SELECTORS if name not in ("uniform", "conflicts", "bandit")])
def test_exactly_the_share_asked_for(name: str) -> None:
    csp = CSP.union([cycle(40, 3), cycle(60, 3)])
    p = torch.tensor([[0.1, 0.9], [0.5, 0.001]])
    subset = SELECTORS[name](csp, csp.random_values(2, generator()), p, generator())
    assert per_instance(csp, subset).tolist() == [[4, 54], [20, 1]]


# --- what each goes by ----------------------------------------------------------------------------------------------


def star() -> tuple[CSP, Tensor]:
    """Variable 0 clashes with 1, 2 and 3; 4 and 5 clash with nobody, and 6 has one value only, at which it clashes with 7."""
    edges = [(0, 1), (0, 2), (0, 3), (4, 5), (6, 7)]
    records: list[Record] = [{"kind": "not_equal", "scope": list(edge)} for edge in edges]
    csp = problem(records, n=8, m=2, forbidden=[(6, 1)])
    return csp, torch.tensor([[0, 0, 0, 0, 0, 1, 0, 0]])


def test_weights() -> None:
    csp, values = star()
    assert cost(csp, values).tolist() == [[3, 1, 1, 1, 0, 0, 1, 1]]
    assert regret(csp, values).tolist() == [[3, 1, 1, 1, 0, 0, 0, 1]]  # another value does not help 6: it has none
    assert doubt(csp, values, Context(torch.tensor([[0.0, 1.0]]))).tolist() == [[1.0, pytest.approx(math.exp(-1))]]
    assert doubt(csp, values).tolist() == [[1.0] * 8]


@given(seed=SEEDS)
def test_regret_is_what_one_change_gains(seed: int) -> None:
    """The steepest way down of the expected violation, at an assignment, by its gradient."""
    csp = random_csp(seed, kinds=("all_different", "not_equal"), soft=False)
    values = csp.random_values(2, generator(seed))
    probs = csp.one_hot(values).requires_grad_()
    (slope,) = torch.autograd.grad(csp.expected(probs).sum(), probs)
    lowest = slope.masked_fill(~csp.domain, torch.inf).amin(2)
    torch.testing.assert_close(regret(csp, values), slope.gather(2, values[..., None])[..., 0] - lowest, atol=1e-4, rtol=0)


def test_the_first_are_the_heaviest() -> None:
    csp, values = star()
    assert SELECTORS["worst-top"](csp, values, torch.tensor([[1 / 8]]), generator()).tolist() == [[True] + [False] * 7]
    assert SELECTORS["gradient-top"](csp, values, torch.tensor([[5 / 8]]), generator()).int().tolist() == [[1, 1, 1, 1, 0, 0, 0, 1]]
    known = Context(torch.tensor([[9.0, 9.0, 0.5, 9.0, 9.0, 0.1, 9.0, 9.0]]))
    assert SELECTORS["unsure-top"](csp, values, torch.tensor([[2 / 8]]), generator(), known).int().tolist() == [[0, 0, 1, 0, 0, 1, 0, 0]]


def test_the_heavier_the_likelier() -> None:
    csp, values = star()
    share = SELECTORS["worst"](csp, values.expand(4000, 8), torch.full((4000, 1), 1 / 8), generator()).float().mean(0)
    weights = torch.tensor([3, 1, 1, 1, 0, 0, 1, 1]) + FLOOR
    torch.testing.assert_close(share, weights / weights.sum(), atol=0.03, rtol=0)


@pytest.mark.parametrize("name", ["related", "related-top"])
def test_a_region_begins_with_a_conflict(name: str) -> None:
    csp, values = star()
    subset = SELECTORS[name](csp, values.expand(300, 8), torch.full((300, 1), 1 / 8), generator())
    begun = set(subset.int().argmax(1).tolist())
    assert begun == ({0} if name == "related-top" else {0, 1, 2, 3, 6, 7})


def test_margin() -> None:
    logits = torch.tensor([[[1.0, 4.0, 2.5], [0.0, MASKED, MASKED]]])
    assert margin(logits)[0, 0] == 1.5
    assert margin(logits)[0, 1] > 1000  # there is no choice
    assert margin(torch.zeros(2, 3, 1)).tolist() == [[0.0] * 3] * 2


def test_each_candidate_by_the_strategy_named_for_it() -> None:
    csp = CSP.union([star()[0]] * 2)
    values = torch.cat([star()[1]] * 2, 1).expand(2, 16)
    arms = torch.tensor([[ARMS.index("conflicts"), ARMS.index("related")], [ARMS.index("related"), ARMS.index("conflicts")]])
    subset = SELECTORS["bandit"](csp, values, torch.full((2, 2), 1e-6), generator(), Context(None, arms))
    conflicting = [1, 1, 1, 1, 0, 0, 1, 1]
    assert (subset[0, :8].int().tolist(), subset[1, 8:].int().tolist()) == (conflicting, conflicting)
    assert (int(subset[0, 8:].sum()), int(subset[1, :8].sum())) == (1, 1)


def test_names() -> None:
    assert set(ARMS) < set(SELECTORS)
    assert set(SELECTORS) > REMEMBERING

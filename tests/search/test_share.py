from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from consformer.csp import CSP
from consformer.search.share import per_instance, top, wanted
from tests.helpers import cycle, problem, random_csp

SEEDS = st.integers(0, 10_000)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_how_many_a_share_is() -> None:
    half = problem([], n=10, m=2, given=dict.fromkeys(range(5), 0))
    full = problem([], n=2, m=2, given={0: 1, 1: 1})
    csp = CSP.union([cycle(10, 2), half, full])
    p = torch.tensor([[0.0, 0.5, 1.0], [0.26, 1.0, 0.5]])
    assert wanted(csp, p).tolist() == [[1, 2, 0], [3, 5, 0]]


@given(seeds=st.lists(SEEDS, min_size=1, max_size=4), p=st.floats(0, 1), seed=SEEDS)
def test_the_top_are_as_many_as_asked_and_nobody_else_is_higher(seeds: list[int], p: float, seed: int) -> None:
    csp = CSP.union([random_csp(one) for one in seeds])
    score = torch.randint(0, 3, (3, csp.n), generator=generator(seed)).float()
    count = wanted(csp, torch.full((3, len(seeds)), p))
    chosen = top(csp, score, count, generator(seed))
    assert torch.equal(per_instance(csp, chosen), count)
    assert not bool((chosen & ~csp.free).any())
    for scores, taken, free in zip(csp.split(score), csp.split(chosen), csp.split(csp.free[None]), strict=True):
        for k in range(3):
            inside, outside = scores[k][taken[k]], scores[k][free[0] & ~taken[k]]
            assert not len(inside) or not len(outside) or float(inside.min()) >= float(outside.max())


def test_nobody_fixed_even_when_too_many_are_asked_for() -> None:
    csp = problem([], n=3, m=2, given={1: 0})
    assert top(csp, torch.tensor([[1.0, 9.0, 2.0]]), torch.tensor([[3]]), generator()).tolist() == [[True, False, True]]


def test_chance_decides_between_equals() -> None:
    csp = cycle(4, 2)
    score = torch.tensor([[1.0, 0.0, 1.0, 1.0]]).expand(3000, 4)
    share = top(csp, score, torch.ones(3000, 1, dtype=torch.int64), generator()).float().mean(0)
    torch.testing.assert_close(share, torch.tensor([1 / 3, 0.0, 1 / 3, 1 / 3]), atol=0.03, rtol=0)

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from consformer.partners.neighbourhood import doubtful, neighbourhood
from tests.helpers import cycle, problem, random_csp


@given(seed=st.integers(0, 10**6), size=st.integers(0, 12))
def test_as_many_as_asked_and_none_that_is_fixed(seed: int, size: int) -> None:
    csp, generator = random_csp(seed), torch.Generator().manual_seed(seed)
    region = neighbourhood(csp, csp.random_values(1, generator)[0].tolist(), size, generator)
    assert not bool((region & ~csp.free).any())
    assert int(region.sum()) == min(size, int(csp.free.sum()))


@given(seed=st.integers(0, 99), size=st.integers(1, 10))
def test_a_connected_region_around_the_conflict(seed: int, size: int) -> None:
    values = [0, 1] * 15
    values[10] = 1  # the same as its neighbours
    region = neighbourhood(cycle(30, 2), values, size, torch.Generator().manual_seed(seed))
    assert bool(region[9:12].any())
    edges = sum(bool(region[i]) and bool(region[(i + 1) % 30]) for i in range(30))
    assert edges == size - 1  # a path


@given(seed=st.integers(0, 99))
def test_violated_soft_constraints_count_where_no_hard_one_is(seed: int) -> None:
    records = [{"kind": "not_equal", "scope": [i, i + 1], "soft": True} for i in range(0, 20, 2)]
    values = [0, 1] * 10
    values[6] = 1
    region = neighbourhood(problem(records, n=20, m=2), values, 2, torch.Generator().manual_seed(seed))
    assert torch.nonzero(region)[:, 0].tolist() == [6, 7]


def test_conflicts_first_then_what_the_network_is_least_sure_of() -> None:
    csp = problem([{"kind": "not_equal", "scope": [0, 1]}], n=5, m=2, given={2: 0})
    sureness = torch.tensor([9.0, 9.0, 0.0, 2.0, 1.0])
    chosen = [torch.nonzero(doubtful(csp, [0, 0, 0, 0, 0], sureness, size))[:, 0].tolist() for size in range(1, 6)]
    assert chosen[1:] == [[0, 1], [0, 1, 4], [0, 1, 3, 4], [0, 1, 3, 4]]
    assert chosen[0] in ([0], [1])

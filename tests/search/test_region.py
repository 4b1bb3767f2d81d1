from __future__ import annotations

import networkx as nx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from consformer.csp import CSP
from consformer.search.region import NEVER, region, rings
from consformer.search.share import per_instance, top, wanted
from tests.helpers import coloring, cycle, problem, random_csp

SEEDS = st.integers(0, 10_000)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def seeds_of(csp: CSP, pool: int, seed: int) -> Tensor:
    return top(csp, torch.zeros(pool, csp.n), torch.ones(pool, len(csp.instances), dtype=torch.int64), generator(seed))


@given(seeds=st.lists(SEEDS, min_size=1, max_size=3), p=st.floats(0, 1), seed=SEEDS, chance=st.sampled_from([0.3, 1.0]))
def test_a_region_hangs_together_and_is_as_large_as_it_can_be(seeds: list[int], p: float, seed: int, chance: float) -> None:
    csp = CSP.union([random_csp(one, kinds=("not_equal",)) for one in seeds])
    starts, count = seeds_of(csp, 2, seed), wanted(csp, torch.full((2, len(seeds)), p))
    found = region(csp, starts, count, generator(seed), chance=chance)
    graph = nx.Graph(list(zip(*csp.graph.edges.tolist(), strict=True)))
    free = graph.subgraph(torch.nonzero(csp.free)[:, 0].tolist())
    sizes = per_instance(csp, found)
    for k in range(2):
        for start in torch.nonzero(starts[k])[:, 0].tolist():
            own = csp.instance[start]
            chosen = torch.nonzero(found[k] & (csp.instance == own))[:, 0].tolist()
            assert start in chosen
            assert nx.is_connected(free.subgraph(chosen))
            assert sizes[k, own] == min(int(count[k, own]), len(nx.node_connected_component(free, start)))


def test_it_does_not_pass_what_is_fixed() -> None:
    csp = problem([{"kind": "not_equal", "scope": [i, i + 1]} for i in range(5)], n=6, m=2, given={2: 0})
    seeds = torch.tensor([[False, True, False, False, False, False]])
    assert region(csp, seeds, torch.tensor([[4]]), generator()).int().tolist() == [[1, 1, 0, 0, 0, 0]]


@pytest.mark.parametrize("chance", [0.5, 1.0])
def test_balls_and_ragged_shapes(chance: float) -> None:
    """In a circle a ball is an arc with the seed in its middle; a ragged one is an arc, too, but the seed may be anywhere."""
    csp = cycle(40, 2)
    seeds = torch.zeros(200, 40, dtype=torch.bool)
    seeds[:, 20] = True
    found = region(csp, seeds, torch.full((200, 1), 9), generator(), chance=chance)
    assert bool((found.sum(1) == 9).all())
    assert bool(found[:, 16:25].all()) == (chance == 1)


def test_without_constraints_it_is_the_seed() -> None:
    csp = CSP.union([coloring([], n=4, m=2), problem([], n=2, m=2, given={0: 0, 1: 1})])
    starts = seeds_of(csp, 1, 0)
    assert torch.equal(region(csp, starts, torch.tensor([[3, 0]]), generator()), starts)


@given(seeds=st.lists(SEEDS, min_size=1, max_size=3), seed=SEEDS, size=st.integers(0, 8))
def test_a_region_that_goes_on_elsewhere_reaches_as_many_as_asked(seeds: list[int], seed: int, size: int) -> None:
    csp = CSP.union([random_csp(one, kinds=("not_equal",)) for one in seeds])
    order, count = torch.rand(2, csp.n, generator=generator(seed)), torch.full((2, len(seeds)), size)
    when = rings(csp, torch.zeros(2, csp.n, dtype=torch.bool), count, generator(), order=order)
    free = per_instance(csp, csp.free[None])
    assert bool((per_instance(csp, when < NEVER) >= free.clamp(max=size)).all())
    assert not bool((when < NEVER)[:, ~csp.free].any())
    graph = nx.Graph(list(zip(*csp.graph.edges.tolist(), strict=True)))
    for k in range(2):
        for i in torch.nonzero(when[k] < NEVER)[:, 0].tolist():  # it has a neighbour that came just before, or is the first of what is left
            before = [int(when[k, j]) for j in graph[i] if csp.free[j] and j != i]
            later = (csp.instance == csp.instance[i]) & csp.free & (when[k] >= when[k, i])
            assert when[k, i] - 1 in before or order[k, i] == order[k][later].min()

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from consformer import compiled
from consformer.graph import Graph
from consformer.networks import attention
from consformer.networks.attention import CompiledLayout, DenseLayout, Layout, Relation, SparseLayout


def random_graph(n: int, density: float, generator: torch.Generator) -> Graph:
    linked = torch.rand(n, n, generator=generator) < density
    return Graph.of(n, torch.nonzero(linked | linked.T).T)


def random_union(sizes: list[int], density: float, seed: int) -> Graph:
    generator = torch.Generator().manual_seed(seed)
    offsets = [sum(sizes[:i]) for i in range(len(sizes))]
    return Graph.union([random_graph(n, density, generator) for n in sizes], offsets)


def random_rows(n: int, rows: int, width: int, seed: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed + 1)
    return [torch.randn(n, rows, width, generator=generator, requires_grad=True) for _ in range(3)]


def through(layout: Layout, q: Tensor, k: Tensor, v: Tensor, penalty: Tensor | None = None) -> Tensor:
    return layout.leave(layout.attend(layout.enter(q), layout.enter(k), layout.enter(v), penalty))


unions = {
    "sizes": st.lists(st.integers(1, 7), min_size=1, max_size=4),
    "density": st.sampled_from([0.0, 0.3, 1.0]),
    "rows": st.integers(1, 3),
    "width": st.integers(1, 5),
    "seed": st.integers(0, 1000),
}


@given(**unions)
def test_both_ways_have_one_result(sizes: list[int], density: float, rows: int, width: int, seed: int) -> None:
    graph = random_union(sizes, density, seed)
    q, k, v = random_rows(graph.n, rows, width, seed)
    dense, sparse = through(DenseLayout(graph), q, k, v), through(SparseLayout(graph), q, k, v)
    assert dense.shape == (graph.n, rows, width)
    torch.testing.assert_close(sparse, dense, atol=1e-5, rtol=1e-5)


@given(**unions, threads=st.sampled_from([1, 2]))
def test_compiled_or_not_the_result_is_the_same(sizes: list[int], density: float, rows: int, width: int, seed: int, threads: int) -> None:
    graph = random_union(sizes, density, seed)
    inputs = random_rows(graph.n, rows, width, seed)
    usual = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with torch.no_grad():
            torch.testing.assert_close(through(CompiledLayout(graph), *inputs), through(SparseLayout(graph), *inputs), atol=1e-5, rtol=1e-5)
    finally:
        torch.set_num_threads(usual)


@given(**unions)
def test_both_ways_have_one_gradient(sizes: list[int], density: float, rows: int, width: int, seed: int) -> None:
    graph = random_union(sizes, density, seed)
    inputs = random_rows(graph.n, rows, width, seed)
    aim = torch.randn(graph.n, rows, width, generator=torch.Generator().manual_seed(seed))
    gradients = [torch.autograd.grad((through(way, *inputs) * aim).sum(), inputs) for way in (DenseLayout(graph), SparseLayout(graph))]
    for dense, sparse in zip(*gradients, strict=True):
        torch.testing.assert_close(sparse, dense, atol=1e-5, rtol=1e-4)


@given(**unions)
def test_agrees_with_the_definition(sizes: list[int], density: float, rows: int, width: int, seed: int) -> None:
    graph = random_union(sizes, density, seed)
    q, k, v = random_rows(graph.n, rows, width, seed)
    logits = torch.einsum("ird,jrd->rij", q, k) / width**0.5
    linked = torch.zeros(graph.n, graph.n, dtype=torch.bool)
    linked[graph.edges[0], graph.edges[1]] = True
    weights = logits.masked_fill(~linked, float("-inf")).softmax(-1)
    torch.testing.assert_close(through(DenseLayout(graph), q, k, v), torch.einsum("rij,jrd->ird", weights, v), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("relation", ["none", "learned", "mask"])
def test_padding_has_no_influence(relation: Relation) -> None:
    penalty = torch.tensor(-0.7) if relation == "learned" else None
    graph = random_union([2, 6, 3], 0.4, seed=3)
    layout = DenseLayout(graph, relation)
    q, k, v = random_rows(graph.n, 2, 4, seed=3)
    clean = through(layout, q, k, v, penalty)
    padding = torch.ones(3 * 6, dtype=torch.bool).index_fill(0, graph.slots, False) if graph.slots is not None else None
    assert padding is not None
    assert int(padding.sum()) == 3 * 6 - 11
    q, k, v = (layout.enter(x).masked_fill(padding[:, None, None], 50.0) for x in (q, k, v))
    assert torch.equal(layout.leave(layout.attend(q, k, v, penalty)), clean)


@pytest.mark.parametrize("relation", ["none", "learned", "mask"])
def test_a_part_of_a_union_is_as_alone(relation: Relation) -> None:
    penalty = torch.tensor(-0.7) if relation == "learned" else None
    generator = torch.Generator().manual_seed(5)
    parts = [random_graph(n, 0.5, generator) for n in (3, 5, 1)]
    q, k, v = random_rows(9, 2, 4, seed=5)
    together = through(DenseLayout(Graph.union(parts, [0, 3, 8]), relation), q, k, v, penalty)
    alone = [
        through(DenseLayout(part, relation), q[start:end], k[start:end], v[start:end], penalty)
        for part, start, end in zip(parts, (0, 3, 8), (3, 8, 9), strict=True)
    ]
    torch.testing.assert_close(together, torch.cat(alone), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("way", [DenseLayout, SparseLayout, CompiledLayout])
def test_an_isolated_variable_looks_at_itself(way: type[DenseLayout] | type[SparseLayout]) -> None:
    graph = Graph.of(4, torch.tensor([[0, 1], [1, 0]]))
    q, k, v = random_rows(4, 2, 3, seed=0)
    with torch.no_grad():
        torch.testing.assert_close(through(way(graph), q, k, v)[2:], v[2:])


def test_relations_differ_in_what_they_see() -> None:
    graph = Graph.of(5, torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]]))
    q, k, v = random_rows(5, 1, 3, seed=0)
    everything = F.scaled_dot_product_attention(q.transpose(0, 1), k.transpose(0, 1), v.transpose(0, 1)).transpose(0, 1)
    none = through(DenseLayout(graph, "none"), q, k, v)
    mild = through(DenseLayout(graph, "learned"), q, k, v, torch.tensor(-1.0))
    strict = through(DenseLayout(graph, "learned"), q, k, v, torch.tensor(-1e4))
    masked = through(DenseLayout(graph, "mask"), q, k, v)
    torch.testing.assert_close(none, everything)
    torch.testing.assert_close(through(DenseLayout(graph, "learned"), q, k, v, torch.tensor(0.0)), none)
    torch.testing.assert_close(strict, masked)
    assert not torch.allclose(mild, none, atol=1e-3)
    assert not torch.allclose(mild, masked, atol=1e-3)


def test_the_penalty_learns() -> None:
    graph = random_union([4, 2], 0.3, seed=1)
    penalty = torch.tensor(-0.5, requires_grad=True)
    q, k, v = random_rows(6, 2, 3, seed=1)
    through(DenseLayout(graph, "learned"), q, k, v, penalty).square().sum().backward()  # type: ignore[no-untyped-call]
    assert penalty.grad is not None
    assert float(penalty.grad.abs()) > 0


def test_picks_the_cheaper_way() -> None:
    ring = torch.stack([torch.arange(1000), (torch.arange(1000) + 1) % 1000])
    large = Graph.of(1000, torch.cat([ring, ring.flip(0)], 1))
    small = random_union([9, 9], 0.5, seed=0)
    assert isinstance(Layout.of(large), SparseLayout)
    assert isinstance(Layout.of(small), DenseLayout)
    assert isinstance(Layout.of(large, "none"), DenseLayout)
    assert isinstance(Layout.of(large, "learned"), DenseLayout)
    assert not isinstance(Layout.of(large), CompiledLayout)  # it has no gradient
    with torch.no_grad():
        assert isinstance(Layout.of(large), CompiledLayout)
        assert isinstance(Layout.of(small), DenseLayout)


def test_without_a_compiler_edges_are_looked_at_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "available", lambda: False)
    graph = Graph.of(1000, torch.zeros(2, 0, dtype=torch.int64))
    with torch.no_grad():
        assert type(Layout.of(graph)) is SparseLayout


def test_working_in_portions_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_union([6, 4], 0.5, seed=2)
    q, k, v = random_rows(graph.n, 7, 3, seed=2)
    whole = through(SparseLayout(graph), q, k, v)
    for portion in (1, 10 * 7 * 3, 20 * 7 * 3):  # in numbers: one, ten, twenty edges at once
        monkeypatch.setattr(attention, "SPARSE_PORTION", portion)
        with torch.no_grad():
            torch.testing.assert_close(through(SparseLayout(graph), q, k, v), whole)


def test_large_logits_stay_finite() -> None:
    graph = random_union([5], 0.5, seed=4)
    q, k, v = (x.detach() * 1e3 for x in random_rows(5, 1, 4, seed=4))
    torch.testing.assert_close(through(SparseLayout(graph), q, k, v), through(DenseLayout(graph), q, k, v), atol=1e-2, rtol=1e-4)

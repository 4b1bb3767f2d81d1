from __future__ import annotations

import tracemalloc

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consformer.errors import ModelError
from consformer.families import graphs

seeds = st.integers(0, 10**6)
sizes = st.lists(st.integers(2, 40), min_size=1, max_size=4).map(np.array)


def is_simple(matrix: graphs.Adjacency) -> bool:
    return bool((matrix == matrix.T).all()) and not matrix.diagonal().any()


def are_simple_and_padded(matrices: graphs.Adjacency, n: graphs.Sizes) -> bool:
    return all(is_simple(matrix) and not matrix[size:].any() for size, matrix in zip(n, matrices, strict=True))


@given(seed=seeds, n=st.integers(1, 40), p=st.floats(0, 1))
def test_greedy_colouring_is_that_of_networkx(seed: int, n: int, p: float) -> None:
    matrix = graphs.erdos_renyi(np.array([n]), np.array([p]), np.random.default_rng(seed))[0]
    graph = nx.from_numpy_array(matrix)
    colours = nx.greedy_color(graph, strategy="largest_first")
    assert graphs.largest_first(matrix[None])[0] == [colours[vertex] for vertex in range(n)]
    assert graphs.largest_first_of(n, graphs.edges_of(matrix)) == [colours[vertex] for vertex in range(n)]


@given(seed=seeds, n=sizes, p=st.floats(0, 1))
def test_erdos_renyi_graphs_are_simple_and_padded(seed: int, n: graphs.Sizes, p: float) -> None:
    assert are_simple_and_padded(graphs.erdos_renyi(n, np.full(len(n), p), np.random.default_rng(seed)), n)


def test_erdos_renyi_has_the_density_asked_for() -> None:
    matrices = graphs.erdos_renyi(np.full(40, 50), np.full(40, 0.2), np.random.default_rng(0))
    assert matrices.sum() / (40 * 50 * 49) == pytest.approx(0.2, abs=0.01)


@given(seed=seeds, n=sizes, data=st.data())
def test_barabasi_albert_joins_every_new_vertex_to_m(seed: int, n: graphs.Sizes, data: st.DataObject) -> None:
    m = np.array([data.draw(st.integers(1, size - 1)) for size in n.tolist()])
    matrices = graphs.barabasi_albert(n, m, np.random.default_rng(seed))
    assert are_simple_and_padded(matrices, n)
    for size, own, matrix in zip(n, m, matrices, strict=True):
        assert matrix.sum() // 2 == own * (size - own)
        assert all(matrix[vertex, :vertex].sum() == own for vertex in range(own + 1, size))


def test_barabasi_albert_prefers_high_degrees_as_networkx_does() -> None:
    """The mean of the squared degrees tells preferential from uniform attachment."""
    matrices = graphs.barabasi_albert(np.full(300, 30), np.full(300, 2), np.random.default_rng(0))
    ours = (matrices.sum(1) ** 2).mean()
    theirs = np.mean([[degree**2 for _, degree in nx.barabasi_albert_graph(30, 2, seed=seed).degree()] for seed in range(300)])
    assert ours == pytest.approx(theirs, rel=0.05)


def test_barabasi_albert_needs_fewer_edges_than_vertices() -> None:
    with pytest.raises(ModelError, match="1 <= m < n"):
        graphs.barabasi_albert(np.array([5]), np.array([5]), np.random.default_rng(0))


@given(seed=seeds, n=sizes, radius=st.floats(0, 1.5))
def test_geometric_graphs_are_simple_and_padded(seed: int, n: graphs.Sizes, radius: float) -> None:
    assert are_simple_and_padded(graphs.random_geometric(n, np.full(len(n), radius), np.random.default_rng(seed)), n)


def test_geometric_graphs_have_the_density_of_networkx() -> None:
    matrices = graphs.random_geometric(np.full(100, 40), np.full(100, 0.25), np.random.default_rng(0))
    theirs = np.mean([nx.random_geometric_graph(40, 0.25, seed=seed).number_of_edges() for seed in range(100)])
    assert matrices.sum() / 200 == pytest.approx(theirs, rel=0.05)


@given(seed=seeds, n=st.integers(1, 20), data=st.data())
def test_regular_graphs_are_regular(seed: int, n: int, data: st.DataObject) -> None:
    degree = data.draw(st.integers(0, n - 1).filter(lambda d: n * d % 2 == 0))
    matrix = graphs.random_regular(n, degree, np.random.default_rng(seed))
    assert is_simple(matrix)
    assert set(matrix.sum(0).tolist()) == {degree}


def test_regular_graphs_need_an_even_number_of_ends() -> None:
    with pytest.raises(ModelError, match="even number of ends"):
        graphs.random_regular(5, 3, np.random.default_rng(0))


@given(rows=st.integers(3, 8), columns=st.integers(3, 8))
def test_torus_gives_everybody_four_neighbours(rows: int, columns: int) -> None:
    degrees = np.bincount(graphs.torus(rows, columns).reshape(-1), minlength=rows * columns)
    assert set(degrees.tolist()) == {4}


def test_greedy_colouring_of_many_vertices_takes_memory_for_the_edges_only() -> None:
    n = 30_000
    path = np.stack([np.arange(n - 1), np.arange(1, n)], 1)
    tracemalloc.start()
    colours = graphs.largest_first_of(n, path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert set(colours) == {0, 1}
    assert most < 300 * n  # one bit per pair of vertices would be 3750 * n bytes

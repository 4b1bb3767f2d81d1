from __future__ import annotations

import pytest
import torch

from consformer.graph import Graph

PATH = Graph.of(3, torch.tensor([[1, 0, 2, 1, 1], [0, 1, 1, 2, 0]]))  # 0 - 1 - 2, one edge given twice
LONE = Graph.of(2, torch.zeros(2, 0, dtype=torch.int64))
BOTH = Graph.union([PATH, LONE], [0, 3])


def test_edges_are_sorted_unique_and_have_self_loops() -> None:
    assert PATH.edges.tolist() == [[0, 0, 1, 1, 1, 2, 2], [0, 1, 0, 1, 2, 1, 2]]
    assert LONE.edges.tolist() == [[0, 1], [0, 1]]


def test_degree_does_not_count_self_loops() -> None:
    assert BOTH.degree.tolist() == [1, 2, 1, 0, 0]


def test_union_keeps_graphs_apart() -> None:
    assert (BOTH.n, BOTH.sizes, BOTH.widest) == (5, (3, 2), 3)
    assert BOTH.edges[:, -2:].tolist() == [[3, 4], [3, 4]]


def test_only_graphs_of_different_sizes_need_padding() -> None:
    assert Graph.union([PATH, PATH], [0, 3]).slots is None
    slots = BOTH.slots
    assert slots is not None
    assert slots.tolist() == [0, 1, 2, 3, 4]
    slots = Graph.union([LONE, PATH], [0, 2]).slots
    assert slots is not None
    assert slots.tolist() == [0, 1, 3, 4, 5]


def test_mask_is_the_adjacency_and_padding_sees_itself() -> None:
    assert Graph.union([LONE, PATH], [0, 2]).mask.int().tolist() == [
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        [[1, 1, 0], [1, 1, 1], [0, 1, 1]],
    ]
    assert torch.equal(Graph.union([PATH, PATH], [0, 3]).mask[1], PATH.mask[0])


def test_bias_forbids_what_the_mask_forbids() -> None:
    assert torch.equal(BOTH.bias == 0, BOTH.mask)
    assert torch.equal(BOTH.bias == float("-inf"), ~BOTH.mask)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 100])
def test_portions_are_the_whole_in_order(count: int) -> None:
    portions = BOTH.portions(count)
    assert len(portions) <= count
    assert torch.cat([torch.arange(BOTH.n)[variables] for variables, _ in portions]).tolist() == list(range(BOTH.n))
    assert torch.cat([BOTH.edges[:, edges] for _, edges in portions], 1).tolist() == BOTH.edges.tolist()
    for variables, edges in portions:
        assert set(BOTH.edges[0, edges].tolist()) == set(range(variables.start, variables.stop))


def test_an_empty_problem_has_an_empty_graph() -> None:
    assert Graph.of(0, torch.zeros(2, 0, dtype=torch.int64)).edges.shape == (2, 0)

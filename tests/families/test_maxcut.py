from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from consformer import families, formats
from consformer.checker import check
from consformer.constraints.not_equal import NotEqual
from consformer.errors import ConsformerError
from consformer.families.maxcut import cut_value, edges_of, problem
from consformer.formats.payloads import GraphData

family = families.get("maxcut")
KINDS = ["er", "ba", "regular", "geo", "torus"]


@given(seed=st.integers(0, 10**6), weights=st.sampled_from(["unit", "signed"]))
def test_the_objective_is_the_cut(seed: int, weights: str) -> None:
    (csp,) = family.generate(np.random.default_rng(seed), 1, {"vertices": [9, 20], "density": 0.3, "weights": weights})
    values = csp.random_values(1, torch.Generator().manual_seed(seed))
    graph = nx.empty_graph(csp.n)
    edges, weight = edges_of(csp)
    graph.add_weighted_edges_from((one, two, w) for (one, two), w in zip(edges.tolist(), weight.tolist(), strict=True))
    cut = nx.cut_size(graph, [vertex for vertex in range(csp.n) if values[0, vertex]], weight="weight")
    assert csp.offset - float(csp.cost(values)[0, 0]) == cut
    assert cut_value(csp, values[0].tolist()) == cut
    assert family.answer(csp, values[0].tolist())["cut"] == cut
    verdict = check(csp, values[0].tolist())
    assert verdict.objective == cut


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_and_density(kind: str) -> None:
    csps = family.generate(np.random.default_rng(0), 6, {"kinds": [kind], "vertices": [40, 50], "density": 0.2})
    assert all(30 <= csp.n <= 50 for csp in csps)
    assert {csp.info["kind"] for csp in csps} == {kind}
    shares = [2 * len(edges_of(csp)[0]) / (csp.n * (csp.n - 1)) for csp in csps]
    assert np.mean(shares) == pytest.approx({"torus": 0.09}.get(kind, 0.18), abs=0.05)


def test_signed_weights_are_of_both_signs() -> None:
    (csp,) = family.generate(np.random.default_rng(0), 1, {"weights": "signed"})
    assert set(edges_of(csp)[1].tolist()) == {-1.0, 1.0}


def test_edges_that_never_count_are_dropped() -> None:
    data = GraphData(3, np.array([[0, 1], [1, 1], [1, 2]]), np.array([0.0, 5.0, 2.0]), np.array([2, 3, 4]))
    csp = family.build(data)
    assert edges_of(csp)[0].tolist() == [[1, 2]]
    assert csp.offset == 2


def test_a_graph_without_edges_is_a_problem_too() -> None:
    csp = problem(2, np.zeros((0, 2), dtype=np.int64), np.zeros(0), {})
    assert cut_value(csp, [0, 1]) == 0
    assert family.view(csp, [0, 1])["summary"] == "2 vertices, 0 edges, cut 0"


def test_a_single_graph_is_written_as_in_gset() -> None:
    csp = problem(3, np.array([[0, 1], [1, 2]]), np.array([2.5, -1.0]), {})
    text = family.write([csp])
    assert text == "3 2\n1 2 2.5\n2 3 -1\n"
    (again,) = formats.read_problems(text.encode())
    assert edges_of(again)[1].tolist() == [2.5, -1.0]


def test_view_marks_cut_edges() -> None:
    csp = problem(3, np.array([[0, 1], [1, 2]]), np.array([1.0, 1.0]), {})
    assert [edge["mark"] for edge in family.view(csp, [0, 1, 1])["edges"]] == ["cut", ""]


@pytest.mark.parametrize(
    "params, message",
    [
        ({"weights": "signd"}, "did you mean 'signed'"),
        ({"density": 0}, "above 0 and at most 1"),
        ({"vertices": 5}, "must start from 9"),
        ({"kinds": ()}, "at least one of"),
        ({"density": "high"}, "range"),
    ],
)
def test_wrong_parameters_are_told(params: dict[str, object], message: str) -> None:
    with pytest.raises(ConsformerError, match=message):
        family.settings(params)


def test_edges_that_must_be_cut_are_no_maxcut() -> None:
    csp = problem(3, np.array([[0, 1], [1, 2]]), np.array([1.0, 1.0]), {})
    hard = replace(csp, constraints=(NotEqual.of(torch.tensor([[0, 1], [1, 2]])),))
    assert (families.of(csp).name, families.of(hard).name) == ("maxcut", "csp")

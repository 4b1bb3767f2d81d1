from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from consformer import families, formats
from consformer.csp import CSP
from consformer.errors import ConsformerError, InputError, ModelError
from consformer.families import coloring
from consformer.families.coloring import edges_of, problem
from consformer.formats.payloads import GraphData
from consformer.graph import Graph

family = families.get("coloring")


def graph_of(csp: CSP) -> nx.Graph:
    graph = nx.empty_graph(csp.n)
    graph.add_edges_from(edges_of(csp))
    return graph


def rule(csp: CSP) -> int:
    """The paper's number of colours for a graph, by NetworkX."""
    colours: dict[int, int] = nx.greedy_color(graph_of(csp))
    return max(3, min(10, max(colours.values())))


@pytest.mark.parametrize("params", [{}, {"colors": [3, 10], "vertices": [5, 40]}, {"vertices": 100, "colors": 10}])
def test_kept_graphs_have_the_number_of_colours_of_the_papers_rule(params: dict[str, object]) -> None:
    for csp in family.generate(np.random.default_rng(0), 8, params):
        assert csp.m == rule(csp)


def test_without_the_filter_any_number_of_colours_goes() -> None:
    csps = family.generate(np.random.default_rng(0), 40, {"filter": False, "colors": [2, 12], "vertices": [10, 20]})
    assert {csp.m for csp in csps} <= set(range(2, 13))
    assert len({csp.m for csp in csps}) > 5
    assert len({csp.n for csp in csps}) > 5


def test_default_kinds_depend_on_the_colours() -> None:
    assert family.settings({}).drawn == ("er", "ba", "geo")
    assert family.settings({"colors": 10}).drawn == ("er", "geo")
    assert {csp.info["kind"] for csp in family.generate(np.random.default_rng(0), 30)} == {"er", "ba", "geo"}


@pytest.mark.parametrize("kind", ["er", "ba", "geo"])
def test_kinds_can_be_chosen(kind: str) -> None:
    assert {csp.info["kind"] for csp in family.generate(np.random.default_rng(0), 4, {"kinds": kind})} == {kind}


@pytest.mark.parametrize(
    "params, message",
    [
        ({"colors": 12}, "set filter = false"),
        ({"kinds": ["er", "foo"]}, "'kinds' must be 'er' or 'ba' or 'geo', not 'foo'"),
        ({"kinds": []}, "at least one of er, ba and geo"),
        ({"vertices": 1}, "must start from 2"),
        ({"colors": 0, "filter": False}, "must start from 1"),
        ({"vertices": 2.5}, "must be a whole number, not 2.5"),
    ],
)
def test_wrong_parameters_are_told(params: dict[str, object], message: str) -> None:
    with pytest.raises(ConsformerError, match=message):
        family.settings(params)


def test_impossible_parameters_end_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coloring, "_PATIENCE", 100)
    with pytest.raises(ModelError, match=r"none of .* random graphs with 5 vertices .* is right for 9 colours"):
        family.generate(np.random.default_rng(0), 1, {"vertices": 5, "colors": 9})


@given(seed=st.integers(0, 10**6))
def test_the_ready_made_constraint_graph_is_the_computed_one(seed: int) -> None:
    (csp,) = family.generate(np.random.default_rng(seed), 1, {"filter": False, "vertices": [3, 30]})
    pairs = [constraint.pairs() for constraint in csp.constraints]
    expected = Graph.of(csp.n, torch.cat(pairs, 1) if pairs else torch.zeros(2, 0, dtype=torch.int64))
    assert torch.equal(csp.graph.edges, expected.edges)
    assert csp.graph.sizes == expected.sizes


def triangle(**options: object) -> CSP:
    edges = np.array([[0, 1], [1, 2], [0, 2]])
    return family.build(GraphData(4, edges, np.ones(3), np.array([2, 3, 4])), **options)


def test_without_a_number_of_colours_as_many_as_greedy_needs() -> None:
    assert triangle().m == 3
    assert triangle(colors=2).m == 2


@pytest.mark.parametrize("colors", [0, -1, 2.0, "3", True])
def test_wrong_number_of_colours_is_told(colors: object) -> None:
    with pytest.raises(ModelError, match="'colors' must be a whole number from 1"):
        triangle(colors=colors)


def test_unknown_option_is_told() -> None:
    with pytest.raises(ModelError, match=r"no option 'colours' for problems from files \(there are: colors\)"):
        triangle(colours=3)


def test_an_edge_from_a_vertex_to_itself_is_refused() -> None:
    with pytest.raises(InputError, match="line 5: vertex 2 has an edge to itself: it cannot differ from itself, so no colouring exists"):
        family.build(GraphData(3, np.array([[0, 1], [1, 1]]), np.ones(2), np.array([4, 5])))


def test_answer_and_view_name_vertices_and_colours_from_one() -> None:
    csp = triangle()
    assert family.answer(csp, [0, 1, 2, 0])["colors"] == {"1": 1, "2": 2, "3": 3, "4": 1}
    view = family.view(csp, [0, 0, 2, 0])
    assert view["vertices"][1] == {"label": "2", "text": "1", "given": False, "conflict": True}
    assert view["vertices"][3]["conflict"] is False
    assert [edge["mark"] for edge in view["edges"]] == ["conflict", "", ""]


def test_a_single_graph_is_written_as_dimacs() -> None:
    text = family.write([triangle()])
    assert "p edge 4 3\ne 1 2\n" in text
    (again,) = formats.read_problems(text.encode())
    assert edges_of(again) == edges_of(triangle())


def test_the_number_of_colours_of_a_file_is_kept_unless_another_one_is_asked_for() -> None:
    text = family.write([triangle(colors=2)]).encode()
    assert [csp.m for csp in formats.read_problems(text)] == [2]
    assert [csp.m for csp in formats.read_problems(text, colors=4)] == [4]


def test_a_graph_without_edges_is_a_problem_too() -> None:
    csp = problem(2, np.zeros((0, 2), dtype=np.int64), 1, {})
    assert csp.violations(torch.tensor([[0, 0]])).tolist() == [[0]]
    assert family.view(csp)["edges"] == []

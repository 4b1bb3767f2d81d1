from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consformer import families, formats
from consformer.csp import CSP
from consformer.errors import InputError
from consformer.families.coloring import edges_of


def read(text: str) -> CSP:
    (csp,) = formats.read_problems(text.encode(), family="coloring", colors=3, format="dimacs_col")
    return csp


@given(seed=st.integers(0, 10**6))
def test_graphs_survive_writing_and_reading(seed: int) -> None:
    family = families.get("coloring")
    (csp,) = family.generate(np.random.default_rng(seed), 1, {"filter": False, "vertices": [2, 20]})
    (again,) = formats.read_problems(family.write([csp]).encode())
    assert (again.n, again.m, edges_of(again)) == (csp.n, csp.m, edges_of(csp))


@pytest.mark.parametrize(
    "comment, colors",
    [("to be coloured with 5 colours", 5), ("to be coloured with 0 colours", 3), ("coloured with 5 colours", 3), ("", 3)],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_number_of_colours_stands_in_a_comment(comment: str, colors: int, end: str) -> None:
    text = end.join([f"c {comment}", "p edge 3 3", "e 1 2", "e 2 3", "e 1 3", ""])
    (csp,) = formats.read_problems(text.encode())
    assert csp.m == colors
    (cut,) = formats.read_problems(text.encode(), family="maxcut")
    assert cut.m == 2


@pytest.mark.parametrize(
    "text",
    [
        "p edge 3 2\ne 1 2\ne 2 3\n",
        "c both directions, each counted\np col 3 4\ne 1 2\ne 2 1\ne 2 3\ne 3 2\n",
        "c both directions, counted once\np edges 3 2\ne 1 2\ne 2 1\ne 2 3\ne 3 2\n",
        "c once, but both directions counted\np edge 3 4\ne 1 2\ne 2 3\n",
        "c more lines\np edge 3 2\nn 1 5\nd 1\nv 1 2\nx 3\ne 1 2\ne 3 2\n",
    ],
)
def test_edges_may_be_listed_once_or_in_both_directions(text: str) -> None:
    assert formats.recognise(text.encode()).name == "dimacs_col"
    assert edges_of(read(text)) == [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    "text, message",
    [
        ("p edge 3 5\ne 1 2\ne 2 3\n", "data:1: the header says 5 edges, but 2 are listed; correct the header or the list"),
        ("p edge 3 1\ne 1 4\n", "data:2: vertex 4 is out of range: the header says 3 vertices, so they are 1 to 3"),
        ("p edge 3 1\ne 0 1\n", "data:2: vertex 0 is out of range"),
        ("p edge 3 1\ne 2 2\n", "data:2: vertex 2 has an edge to itself: it cannot differ from itself"),
        ("e 1 2\np edge 3 1\n", "data:1: an edge before the line"),
        ("p edge 3\ne 1 2\n", "data:1: the header must be 'p edge <vertices> <edges>', not 'p edge 3'"),
        ("p cnf 3 1\n1 2 0\n", "data:1: the header must be"),
        ("p edge 3 1\np edge 3 1\n", r"data:2: a second 'p' line \(the first is line 1\)"),
        ("p edge 3 1\ne 1 2 3\n", "data:2: an edge must be 'e <u> <v>' with two vertices"),
        ("p edge 3 1\ne 1 x\n", "data:2: an edge must be"),
        ("p edge 3 1\n1 2\n", "data:2: '1 2' is no DIMACS line; lines start with c, p or e"),
        ("p edge 0 0\n", "data:1: a graph needs at least one vertex"),
        ("p edge 999999999999 0\n", "data:1: the graph is too large"),
        ("c to be coloured with 999999999 colours\np edge 3 0\n", "data:2: the graph is too large"),
        ("n 1 2\n", "data: the line 'p edge <vertices> <edges>' is missing"),
    ],
)
def test_mistakes_are_told_with_the_line(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(text)


def test_a_formula_is_not_taken_for_a_graph() -> None:
    assert not formats.get("dimacs_col").recognises(b"c a formula\np cnf 3 1\n1 2 0\n")

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consformer import families, formats
from consformer.csp import CSP
from consformer.errors import InputError
from consformer.families.maxcut import edges_of


def read(text: str) -> CSP:
    (csp,) = formats.read_problems(text.encode(), format="gset")
    return csp


@given(seed=st.integers(0, 10**6), weights=st.sampled_from(["unit", "signed"]))
def test_graphs_survive_writing_and_reading(seed: int, weights: str) -> None:
    family = families.get("maxcut")
    (csp,) = family.generate(np.random.default_rng(seed), 1, {"vertices": [9, 20], "weights": weights})
    (again,) = formats.read_problems(family.write([csp]).encode())
    assert again.n == csp.n
    assert all(np.array_equal(one, two) for one, two in zip(edges_of(csp), edges_of(again), strict=True))


def test_weights_are_kept_and_optional() -> None:
    edges, weights = edges_of(read("4 4 \n1 2\n2 3 -1\n4 3 2.5\n1 3 0\n"))
    assert edges.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert weights.tolist() == [1, -1, 2.5]


def test_a_header_alone_is_a_graph_without_edges() -> None:
    assert formats.recognise(b"5 0\n").name == "gset"
    assert read("5 0\n").n == 5


@pytest.mark.parametrize(
    "text, message",
    [
        ("3 3\n1 2 1\n2 3 1\n", "data:1: the header says 3 edges, but 2 are listed; correct the header or the list"),
        ("3 1\n1 4 1\n", "data:2: vertex 4 is out of range"),
        ("3 2\n1 2 1\n2 1 1\n", "data:3: the edge 2 1 stands in line 2 already"),
        ("3 1\n1 2 x\n", "data:2: the weight must be a number of at most 1e[+]15 in size, not 'x'"),
        ("3 1\n1 2 nan\n", "data:2: the weight must be a number"),
        ("3 1\n1 2 1 1\n", "data:2: an edge must be '<u> <v> <weight>', not '1 2 1 1'"),
        ("3 1\n-1 2 1\n", "data:2: an edge must be"),
        ("3\n1 2 1\n", "data:1: the first line must be '<vertices> <edges>', not '3'"),
        ("0 0\n", "data:1: a graph needs at least one vertex"),
    ],
)
def test_mistakes_are_told_with_the_line(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(text)

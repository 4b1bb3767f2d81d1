from __future__ import annotations

import numpy as np
import pytest
import torch

from consformer import not_equal
from tests.modeling.making import OTHER, Act, Mistakes, each, made, records, refused


def test_variables_are_sliced_like_numpy_arrays() -> None:
    _, x = made((4, 6), values=range(3))
    plain = np.arange(24).reshape(4, 6)
    for key in [0, -1, (2, 3), slice(1, 3), (slice(None), 2), (..., slice(None, None, -1)), ([0, 2], [1, 1]), plain % 2 == 0]:
        assert np.array_equal(x[key].indices, plain[key])
    assert x.T.indices.tolist() == plain.T.tolist()
    assert x.flatten().indices.tolist() == list(range(24))
    assert x.reshape(2, -1).shape == (2, 12)
    assert [row.indices.tolist() for row in x] == plain.tolist()
    assert (x.shape, x.ndim, x.size, len(x), x[0, 0].shape) == ((4, 6), 2, 24, 4, ())
    with pytest.raises(IndexError):
        x[4]


def test_values_of_an_answer_come_in_the_shape_of_the_variables() -> None:
    model, x = made((2, 2), values=[10, 20])
    y = model.variables(2, values=["a", 10])
    labels = model.labels(torch.tensor([0, 1, 1, 0, 2, 0]))
    assert labels == [10, 20, 20, 10, "a", 10]
    assert x.of(labels).tolist() == [[10, 20], [20, 10]]
    assert x.of(labels).dtype == np.int64
    assert x[:, 1].of(labels).tolist() == [20, 10]
    assert y.of(labels).tolist() == ["a", 10]
    assert y[0].of(labels) == "a"
    assert x.T.of(np.array([0, 1, 1, 0, 2, 0])).tolist() == [[0, 1], [1, 0]]


def test_comparing_arrays_is_element_by_element_with_broadcasting() -> None:
    model, x = made((2, 3), values=range(3))
    model.add(x[0] != x[1], x[0, 0] != x[1, 1:], not_equal(x[0, :1], x[0, 1:]))
    scopes = [record["scope"] for record in records(model)]
    assert scopes == [[0, 3], [1, 4], [2, 5], [0, 4], [0, 5], [0, 1], [0, 2]]


def test_variables_cannot_be_dictionary_keys() -> None:
    _, x = made(3, values=range(3))
    with pytest.raises(TypeError, match="unhashable"):
        hash(x[0])


MISTAKES: Mistakes = {
    "reshape": (lambda m, x: x.reshape(2, 2), "cannot be arranged"),
    "index by variable": (lambda m, x: x[x[0, 0]], "cannot be an index"),
    "truth of variable": (lambda m, x: bool(x), "neither true nor false"),
    "in a list": (lambda m, x: x[0, 0] in [x[0, 1]], "neither true nor false"),
    "as array": (lambda m, x: np.asarray(x), "has no values before solving"),
    "equals a value": (lambda m, x: x[0, 0] == 5, r"x\[0,0\] == 5: .* model.fix"),
    "differs from a value": (lambda m, x: x[0, 0] != 5, "model.forbid"),
    "compared with an array": (lambda m, x: np.array([1, 2, 3]) == x[0], "model.fix"),
    "with itself": (lambda m, x: x[0] != x[0, 1], r"x\[0,1\] is compared with itself"),
    "shapes": (lambda m, x: x[0, :2] != x[0], r"shapes \(2,\) and \(3,\)"),
    "nothing compared": (lambda m, x: x[0, :0] != x[1, :0], "no variables"),
    "other model compared": (lambda m, x: x[0] != OTHER, "another model"),
    "values of another model": (lambda m, x: x.of([1, 2]), "there are 2 values, none for the newer"),
}


@each(MISTAKES)
def test_mistakes_raise_where_they_are_made(act: Act, message: str) -> None:
    refused(act, message)

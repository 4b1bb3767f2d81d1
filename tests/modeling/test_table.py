from __future__ import annotations

import numpy as np
import pytest

from consformer.errors import ModelError
from tests.modeling.making import Act, Mistakes, each, made, refused


def test_variables_and_values_have_the_users_names() -> None:
    model, _ = made((1, 2), values=["red", "green"], name="cell")
    model.variables(values=[3, "green"], name="single")
    csp = model.compile()
    assert csp.variable_labels == ("cell[0,0]", "cell[0,1]", "single")
    assert csp.value_labels == ("red", "green", 3)
    assert csp.domain.int().tolist() == [[1, 1, 0], [1, 1, 0], [0, 1, 1]]


def test_arrays_without_a_name_get_different_ones() -> None:
    model, x = made(2, values=[0], name="x2")
    y, z = model.variables(2, values=[0]), model.variables(2, values=[0])
    assert len({repr(array[0]) for array in (x, y, z)}) == 3


def test_positions_are_array_indices() -> None:
    model, _ = made((2, 2), values=[0])
    assert model.compile().positions.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    model.variables(2, values=[0])
    model.variables(values=[0])
    assert model.compile().positions.tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 1, 0], [2, 0, 0]]
    single, _ = made(values=[0, 1])
    assert single.compile().positions.tolist() == [[0]]


def test_numpy_and_python_labels_are_the_same_values() -> None:
    model, x = made(2, values=np.array([1, 2]))
    model.fix(x[0], np.int64(2))
    y = model.variables(2, values=[False, True])
    model.fix(y, [True, np.bool_(False)])
    assert model.value_labels == (1, 2, 0)
    assert all(type(label) is int for label in model.value_labels)
    assert model.compile().given.tolist() == [1, -1, 0, 2]


def test_domains_can_be_narrowed_per_variable() -> None:
    model, x = made((2, 2), values=range(4))
    model.restrict(x[0], [1, 2])
    model.restrict(x[0, 0], [2, 3])
    model.forbid(x[1], [0])
    assert model.compile().domain.int().tolist() == [[0, 0, 1, 0], [0, 1, 1, 0], [0, 1, 1, 1], [0, 1, 1, 1]]


MISTAKES: Mistakes = {
    "no values": (lambda m, x: m.variables(2, values=[]), "no values"),
    "value twice": (lambda m, x: m.variables(2, values=[1, 2, 1]), "given twice"),
    "values not a list": (lambda m, x: m.variables(2, values=9), "must be a list"),  # type: ignore[arg-type]
    "values a text": (lambda m, x: m.variables(2, values="red"), "must be a list"),
    "value a fraction": (lambda m, x: m.variables(2, values=[0.5]), "whole number or a string, not 0.5"),  # type: ignore[list-item]
    "value unhashable": (lambda m, x: m.variables(2, values=[[1]]), "whole number or a string"),  # type: ignore[list-item]
    "no variables": (lambda m, x: m.variables((2, 0), values=[1]), "shape must be"),
    "odd shape": (lambda m, x: m.variables(2.5, values=[1]), "shape must be"),  # type: ignore[arg-type]
    "too many": (lambda m, x: m.variables((10**6, 10**6), values=[1]), "fit"),
    "name taken": (lambda m, x: m.variables(2, values=[1], name="x"), "named 'x' already"),
    "odd name": (lambda m, x: m.variables(2, values=[1], name="x[0]"), "without"),
    "fix outside": (lambda m, x: m.fix(x[0, 0], 6), r"x\[0,0\] cannot be 6: its values are 1, 2, 3, 4, 5"),
    "fix twice at once": (lambda m, x: m.fix(x[0, [1, 1]], [1, 2]), r"x\[0,1\] is fixed to 1 already, not 2"),
    "restrict to unknown": (lambda m, x: m.restrict(x, [7]), "7 is not a value of this model"),
    "forbid everything": (lambda m, x: m.forbid(x, range(1, 6)), "no value left"),
}


@each(MISTAKES)
def test_mistakes_raise_where_they_are_made(act: Act, message: str) -> None:
    refused(act, message)


def test_later_steps_must_agree_with_earlier_ones() -> None:
    model, x = made((2, 3), values=range(1, 6), name="x")
    model.fix(x[0], 1)
    model.fix(x[0, 0], 1)
    with pytest.raises(ModelError, match=r"x\[0,1\] is fixed to 1 already, not 2"):
        model.fix(x[0, 1], 2)
    with pytest.raises(ModelError, match=r"x\[0,0\] is fixed to 1, which would be ruled out"):
        model.restrict(x, [2])
    model.restrict(x[1], [2])
    with pytest.raises(ModelError, match=r"x\[1,0\] would have no value left"):
        model.restrict(x[1, 0], [3])

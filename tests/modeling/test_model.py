from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from consformer import Model, all_different, cardinality, not_equal
from consformer.constraints import Record
from consformer.errors import ConsformerError, ModelError
from consformer.modeling import VariableArray, constraint


def made(*args: Any, **options: Any) -> tuple[Model, VariableArray]:
    model = Model()
    return model, model.variables(*args, **options)


def records(model: Model) -> list[Record]:
    return [record for entry in model.compile().constraints for record in entry.records()]


# --- variables ------------------------------------------------------------------------------------------------


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


def test_fixing_takes_one_value_or_an_array() -> None:
    model, x = made((2, 2), values=range(1, 5))
    model.fix(x[0], 3)
    model.fix(x, [[None, None], [None, 4]])
    model.fix(x[1, 0], np.array(1))
    assert model.compile().given.tolist() == [2, 2, 0, 3]
    model, x = made((2, 2), values=range(1, 5))
    model.fix(x, torch.tensor([[0, 2], [1, 0]]), blank=0)
    assert model.compile().given.tolist() == [-1, 1, 0, -1]
    model, x = made(3, values=["A", "B"])
    model.fix(x, ["A", ".", "B"], blank=".")
    assert model.compile().given.tolist() == [0, -1, 1]


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


# --- constraints ----------------------------------------------------------------------------------------------


def test_comparing_arrays_is_element_by_element_with_broadcasting() -> None:
    model, x = made((2, 3), values=range(3))
    model.add(x[0] != x[1], x[0, 0] != x[1, 1:], not_equal(x[0, :1], x[0, 1:]))
    scopes = [record["scope"] for record in records(model)]
    assert scopes == [[0, 3], [1, 4], [2, 5], [0, 4], [0, 5], [0, 1], [0, 2]]


def test_equality_is_a_negative_weight() -> None:
    model, x = made(3, values=range(3))
    model.add(x[0] == x[1])
    model.add(x[1] == x[2], soft=2)
    assert [(r["weight"], r.get("soft", False)) for r in records(model)] == [(-1, False), (-2, True)]


def test_all_different_takes_variables_in_any_shape() -> None:
    model, x = made((3, 3), values=range(9))
    model.add(all_different(x), all_different(x[0], x[1, 0]), all_different(v for v in x[:, 0]), all_different([[x[0, 0]], x[2]]))
    assert [record["scope"] for record in records(model)] == [list(range(9)), [0, 1, 2, 3], [0, 3, 6], [0, 6, 7, 8]]


@pytest.mark.parametrize(("how", "compare"), [("exactly", "=="), ("at_least", ">="), ("at_most", "<=")])
def test_cardinality_counts_a_label(how: str, compare: str) -> None:
    model, x = made(3, values=["early", "late"])
    model.add(cardinality(x, "late", **{how: 2}))
    assert records(model) == [{"kind": "cardinality", "scope": [0, 1, 2], "value": 1, "count": 2, "compare": compare}]


def test_lists_of_constraints_can_be_added() -> None:
    model, x = made((2, 3), values=range(6))
    model.add([all_different(row) for row in x], (all_different(column) for column in x.T), x[0, 0] != x[1, 1], soft=2)
    assert len(records(model)) == 6
    assert {record["weight"] for record in records(model)} == {2}


def test_soft_takes_a_weight_per_constraint() -> None:
    model, x = made((2, 3), values=range(6))
    model.add(x[0] != x[1], soft=np.array([1.5, -1, 2]))
    model.add(x[0, 0] != x[0, 1], soft=True)
    model.add(x[0, 0] != x[0, 2], soft=False)
    assert [(r.get("weight", 1), r.get("soft", False)) for r in records(model)] == [
        (1.5, True),
        (-1, True),
        (2, True),
        (1, True),
        (1, False),
    ]


def test_any_kind_can_be_stated_by_name() -> None:
    model, x = made(3, values=["a", "b"])
    model.add(constraint("cardinality", x, value="b", count=1))
    assert records(model)[0]["value"] == 1
    with pytest.raises(ConsformerError, match="did you mean 'cardinality'"):
        constraint("cardinalty", x)
    with pytest.raises(ConsformerError, match="did you mean 'count'"):
        constraint("cardinality", x, value="b", counts=1)


def test_a_model_can_grow_after_compiling() -> None:
    model, x = made(2, values=range(2))
    before = model.compile()
    model.add(x[0] != x[1])
    model.fix(x[0], 1)
    y = model.variables(1, values=[7])
    model.add(y != x)
    assert (before.n, before.constraints, before.given.tolist()) == (2, (), [-1, -1])
    after = model.compile(family="mine", info={"title": "t"})
    assert (after.n, after.m, len(after.constraints[0]), after.family, after.info) == (3, 3, 3, "mine", {"title": "t"})


# --- mistakes -------------------------------------------------------------------------------------------------

OTHER = Model().variables(3, values=[1, 2], name="other")


def mistakes() -> dict[str, tuple[Callable[[Model, VariableArray], object], str]]:
    return {
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
        "reshape": (lambda m, x: x.reshape(2, 2), "cannot be arranged"),
        "index by variable": (lambda m, x: x[x[0, 0]], "cannot be an index"),
        "truth of variable": (lambda m, x: bool(x), "neither true nor false"),
        "truth of constraint": (lambda m, x: bool(x[0] != x[1]), "neither true nor false"),
        "chain": (lambda m, x: x[0, 0] != x[0, 1] != x[0, 2], "chain"),
        "in a list": (lambda m, x: x[0, 0] in [x[0, 1]], "neither true nor false"),
        "as array": (lambda m, x: np.asarray(x), "has no values before solving"),
        "equals a value": (lambda m, x: x[0, 0] == 5, r"x\[0,0\] == 5: .* model.fix"),
        "differs from a value": (lambda m, x: x[0, 0] != 5, "model.forbid"),
        "compared with an array": (lambda m, x: np.array([1, 2, 3]) == x[0], "model.fix"),
        "with itself": (lambda m, x: x[0] != x[0, 1], r"x\[0,1\] is compared with itself"),
        "shapes": (lambda m, x: x[0, :2] != x[0], r"shapes \(2,\) and \(3,\)"),
        "nothing compared": (lambda m, x: x[0, :0] != x[1, :0], "no variables"),
        "other model compared": (lambda m, x: x[0] != OTHER, "another model"),
        "other model in scope": (lambda m, x: all_different(x, OTHER), "another model"),
        "other model added": (lambda m, x: m.add(all_different(OTHER)), "another model"),
        "other model fixed": (lambda m, x: m.fix(OTHER, 1), "another model"),
        "empty scope": (lambda m, x: all_different(x[0, :0]), "no variables"),
        "no scope": (lambda m, x: all_different(), "no variables"),
        "twice in a scope": (lambda m, x: all_different(x[0], x[0, 1]), r"x\[0,1\] is given twice"),
        "number in a scope": (lambda m, x: all_different(x[0], 3), "takes variables, not 3"),  # type: ignore[arg-type]
        "text in a scope": (lambda m, x: all_different("abc"), "takes variables, not 'abc'"),
        "not_equal of a number": (lambda m, x: not_equal(x, 3), "not 3"),  # type: ignore[arg-type]
        "count too large": (lambda m, x: cardinality(x[0], 1, exactly=4), "4 of 3 variables"),
        "count of nothing": (lambda m, x: cardinality(x[0], 1), "exactly one of"),
        "two counts": (lambda m, x: cardinality(x[0], 1, at_least=1, at_most=2), "exactly one of"),
        "count a fraction": (lambda m, x: cardinality(x[0], 1, exactly=1.5), "whole number"),  # type: ignore[arg-type]
        "unknown value counted": (lambda m, x: cardinality(x[0], 12, at_most=1), "12 is not a value of these variables: 1, 2, 3, 4, 5"),
        "odd value counted": (lambda m, x: cardinality(x[0], [1], at_most=1), "whole number or a string"),  # type: ignore[arg-type]
        "add a truth": (lambda m, x: m.add(True), "expected a constraint"),  # type: ignore[arg-type]
        "add variables": (lambda m, x: m.add(x), "expected a constraint"),
        "weight zero": (lambda m, x: m.add(x[0] != x[1], soft=0), "other than 0"),
        "weight not a number": (lambda m, x: m.add(x[0] != x[1], soft="high"), "soft must be a weight"),
        "weight nan": (lambda m, x: m.add(x[0] != x[1], soft=float("nan")), "not nan"),
        "weight negative": (lambda m, x: m.add(all_different(x[0]), soft=-1), "above 0, not -1"),
        "weights of another shape": (lambda m, x: m.add(x[0] != x[1], soft=[1, 2]), r"shape \(3,\)"),
        "fix outside": (lambda m, x: m.fix(x[0, 0], 6), r"x\[0,0\] cannot be 6: its values are 1, 2, 3, 4, 5"),
        "fix with another shape": (lambda m, x: m.fix(x, [1, 2]), "do not fit"),
        "fix to a variable": (lambda m, x: m.fix(x[0], x[1]), r"model.add\(x == y\)"),
        "fix a number": (lambda m, x: m.fix(3, 3), "expected variables"),  # type: ignore[arg-type]
        "fix to a list": (lambda m, x: m.fix(x[0, 0], [[1], [2, 3]]), "do not fit|whole number"),
        "fix twice at once": (lambda m, x: m.fix(x[0, [1, 1]], [1, 2]), r"x\[0,1\] is fixed to 1 already, not 2"),
        "restrict to unknown": (lambda m, x: m.restrict(x, [7]), "7 is not a value of this model"),
        "forbid everything": (lambda m, x: m.forbid(x, range(1, 6)), "no value left"),
        "values of another model": (lambda m, x: x.of([1, 2]), "6 variables"),
        "labels of odd indices": (lambda m, x: m.labels([9] * 6), "6 value indices in 0..4"),
        "nothing to compile": (lambda m, x: Model().compile(), "no variables"),
    }


@pytest.mark.parametrize("name", mistakes())
def test_mistakes_raise_where_they_are_made(name: str) -> None:
    model, x = made((2, 3), values=range(1, 6), name="x")
    act, message = mistakes()[name]
    with pytest.raises(ModelError, match=message):
        act(model, x)


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


def test_a_refused_step_leaves_the_model_as_it_was() -> None:
    model, x = made(3, values=range(3))
    before = repr(model)
    for step in (
        lambda: model.fix(x, [0, 1, 9]),
        lambda: model.add(x[0] != x[1], OTHER[0] != OTHER[1]),
        lambda: model.variables(2, values=[9], name="x[]"),
    ):
        with pytest.raises(ModelError):
            step()
    assert repr(model) == before
    assert model.compile().given.tolist() == [-1, -1, -1]
    assert model.m == 3


def test_variables_cannot_be_dictionary_keys() -> None:
    _, x = made(3, values=range(3))
    with pytest.raises(TypeError, match="unhashable"):
        hash(x[0])


def test_large_models_are_quick() -> None:
    start = time.process_time()
    model, x = made((300, 300), values=range(5))
    model.add(x[1:] != x[:-1])
    for row in x:
        model.add(all_different(row[:5]))
    model.fix(x, [[None] * 300] * 300)
    assert len(model.compile().constraints[1]) == 300 * 299
    assert time.process_time() - start < 5

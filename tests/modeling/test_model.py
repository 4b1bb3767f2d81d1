from __future__ import annotations

import time

import numpy as np
import pytest
import torch

from consformer import Model, all_different
from consformer.errors import ModelError
from tests.modeling.making import OTHER, Act, Mistakes, each, made, records, refused


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


def test_lists_of_constraints_can_be_added() -> None:
    model, x = made((2, 3), values=range(6))
    model.add([all_different(row) for row in x], (all_different(column) for column in x.T), x[0, 0] != x[1, 1], soft=2)
    assert len(records(model)) == 6
    assert {record["weight"] for record in records(model)} == {2}


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


MISTAKES: Mistakes = {
    "other model added": (lambda m, x: m.add(all_different(OTHER)), "another model"),
    "other model fixed": (lambda m, x: m.fix(OTHER, 1), "another model"),
    "add a truth": (lambda m, x: m.add(True), "expected a constraint"),  # type: ignore[arg-type]
    "add variables": (lambda m, x: m.add(x), "expected a constraint"),
    "fix with another shape": (lambda m, x: m.fix(x, [1, 2]), "do not fit"),
    "fix to a variable": (lambda m, x: m.fix(x[0], x[1]), r"model.add\(x == y\)"),
    "fix a number": (lambda m, x: m.fix(3, 3), "expected variables"),  # type: ignore[arg-type]
    "fix to a list": (lambda m, x: m.fix(x[0, 0], [[1], [2, 3]]), "do not fit|whole number"),
    "labels of odd indices": (lambda m, x: m.labels([9] * 6), "6 value indices in 0..4"),
    "nothing to compile": (lambda m, x: Model().compile(), "no variables"),
}


@each(MISTAKES)
def test_mistakes_raise_where_they_are_made(act: Act, message: str) -> None:
    refused(act, message)


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


def test_large_models_are_quick() -> None:
    start = time.process_time()
    model, x = made((300, 300), values=range(5))
    model.add(x[1:] != x[:-1])
    for row in x:
        model.add(all_different(row[:5]))
    model.fix(x, [[None] * 300] * 300)
    assert len(model.compile().constraints[1]) == 300 * 299
    assert time.process_time() - start < 5

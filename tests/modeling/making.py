"""What the tests of `Model` share: models with one array, what became of them, and a list of mistakes to make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from consformer import Model
from consformer.constraints import Record
from consformer.errors import ModelError
from consformer.modeling import VariableArray

OTHER = Model().variables(3, values=[1, 2], name="other")

Act = Callable[[Model, VariableArray], object]
Mistakes = dict[str, tuple[Act, str]]  # name -> what is done, what the message says


def made(*args: Any, **options: Any) -> tuple[Model, VariableArray]:
    model = Model()
    return model, model.variables(*args, **options)


def records(model: Model) -> list[Record]:
    return [record for entry in model.compile().constraints for record in entry.records()]


def each(mistakes: Mistakes) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("act", "message"), mistakes.values(), ids=mistakes)


def refused(act: Act, message: str) -> None:
    """A mistake raises where it is made; `x` is an array of 2 times 3 variables with the values 1 to 5."""
    model, x = made((2, 3), values=range(1, 6), name="x")
    with pytest.raises(ModelError, match=message):
        act(model, x)

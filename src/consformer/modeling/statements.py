"""Constraints by name, for `Model.add`: one function for each common kind, and `constraint` for any kind there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from consformer.constraints import kind
from consformer.csp import Label
from consformer.errors import ModelError, UnknownNameError
from consformer.modeling.expressions import Expression
from consformer.modeling.variables import VariableArray, check_owner

Variables = VariableArray | Iterable[Any]  # arrays of variables, lists of such, lists of lists ...

Leaf = TypeVar("Leaf", VariableArray, Expression)


def not_equal(x: VariableArray, y: VariableArray) -> Expression:
    """The variables of `x` and `y` differ, element by element: the same as `x != y`.

    >>> from consformer import Model
    >>> x = Model().variables((2, 3), values=range(4))
    >>> not_equal(x[0, 0], x[1])
    <not_equal: 3 constraints>
    """
    for array in (x, y):
        if not isinstance(array, VariableArray):
            raise ModelError(f"not_equal takes two arrays of variables, not {array!r}")
    return x != y


def all_different(*variables: Variables) -> Expression:
    """No value twice among all these variables: one constraint, whatever shapes they come in.

    >>> from consformer import Model
    >>> x = Model().variables((3, 3), values=range(9), name="x")
    >>> all_different(x[0, :2], [x[1, 0], x[2, 2]])
    <all_different(x[0,0], x[0,1], x[1,0], x[2,2])>
    """
    return constraint("all_different", *variables)


def cardinality(
    variables: Variables, value: Label, *, exactly: int | None = None, at_least: int | None = None, at_most: int | None = None
) -> Expression:
    """So many of the variables take `value`: exactly, at least or at most (one of the three).

    >>> from consformer import Model
    >>> x = Model().variables(4, values=["early", "late"], name="x")
    >>> cardinality(x, "late", at_most=2)
    <cardinality(x[0], x[1], x[2], x[3])>
    """
    asked = [(compare, count) for compare, count in (("==", exactly), (">=", at_least), ("<=", at_most)) if count is not None]
    if len(asked) != 1:
        raise ModelError("cardinality takes exactly one of exactly=, at_least= and at_most=")
    ((compare, count),) = asked
    return constraint("cardinality", variables, value=value, count=count, compare=compare)


def constraint(name: str, *variables: Variables, **parameters: Any) -> Expression:
    """One constraint of any kind by its name, with the kind's own parameters; values are given by their labels.

    >>> from consformer import Model
    >>> x = Model().variables(3, values=["a", "b"], name="x")
    >>> constraint("cardinality", x, value="b", count=1, compare=">=")
    <cardinality(x[0], x[1], x[2])>
    """
    cls = kind(name)
    arrays = list(flattened(variables, VariableArray, f"{name} takes variables"))
    if not sum(array.size for array in arrays):
        raise ModelError(f"{name}: no variables given")
    model = arrays[0].model
    for array in arrays:
        check_owner(model, array)
    scope = np.concatenate([array.indices.ravel() for array in arrays])
    twice = [variable for variable, count in Counter(scope.tolist()).items() if count > 1]
    if twice:
        raise ModelError(f"{name}: {model.name(min(twice))} is given twice")
    for key in parameters:
        if key not in cls.parameters:
            raise UnknownNameError(f"{name} parameter", key, cls.parameters)
    record = cls.translate(parameters, lambda label, _: model._table.value_among(scope, label))
    cls.checked({**record, "scope": scope.tolist()})
    return Expression(model, name, scope[None], parameters=record)


def flattened(items: Iterable[Any], leaf: type[Leaf], wanted: str) -> Iterator[Leaf]:
    """All leaves in lists within lists, in order; something else is an error that says what was wanted.

    >>> from consformer import Model
    >>> x = Model().variables((2, 2), values=range(9), name="x")
    >>> list(flattened([x[0, 0], [[x[1]], (row for row in x)]], VariableArray, "variables are needed"))
    [x[0,0], <2 variables>, <2 variables>, <2 variables>]
    """
    for item in items:
        if isinstance(item, leaf):
            yield item
        elif isinstance(item, Iterable) and not isinstance(item, str | VariableArray):
            yield from flattened(item, leaf, wanted)
        else:
            raise ModelError(f"{wanted}, not {item!r}")

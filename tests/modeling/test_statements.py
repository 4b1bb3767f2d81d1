from __future__ import annotations

import pytest

from consformer import all_different, cardinality, not_equal
from consformer.errors import ConsformerError
from consformer.modeling import constraint
from tests.modeling.making import OTHER, Act, Mistakes, each, made, records, refused


def test_all_different_takes_variables_in_any_shape() -> None:
    model, x = made((3, 3), values=range(9))
    model.add(all_different(x), all_different(x[0], x[1, 0]), all_different(v for v in x[:, 0]), all_different([[x[0, 0]], x[2]]))
    assert [record["scope"] for record in records(model)] == [list(range(9)), [0, 1, 2, 3], [0, 3, 6], [0, 6, 7, 8]]


@pytest.mark.parametrize(("how", "compare"), [("exactly", "=="), ("at_least", ">="), ("at_most", "<=")])
def test_cardinality_counts_a_label(how: str, compare: str) -> None:
    model, x = made(3, values=["early", "late"])
    model.add(cardinality(x, "late", **{how: 2}))
    assert records(model) == [{"kind": "cardinality", "scope": [0, 1, 2], "value": 1, "count": 2, "compare": compare}]


def test_any_kind_can_be_stated_by_name() -> None:
    model, x = made(3, values=["a", "b"])
    model.add(constraint("cardinality", x, value="b", count=1))
    assert records(model)[0]["value"] == 1
    with pytest.raises(ConsformerError, match="did you mean 'cardinality'"):
        constraint("cardinalty", x)
    with pytest.raises(ConsformerError, match="did you mean 'count'"):
        constraint("cardinality", x, value="b", counts=1)


MISTAKES: Mistakes = {
    "not_equal of a number": (lambda m, x: not_equal(x, 3), "not 3"),  # type: ignore[arg-type]
    "empty scope": (lambda m, x: all_different(x[0, :0]), "no variables"),
    "no scope": (lambda m, x: all_different(), "no variables"),
    "twice in a scope": (lambda m, x: all_different(x[0], x[0, 1]), r"x\[0,1\] is given twice"),
    "number in a scope": (lambda m, x: all_different(x[0], 3), "takes variables, not 3"),  # type: ignore[arg-type]
    "text in a scope": (lambda m, x: all_different("abc"), "takes variables, not 'abc'"),
    "other model in scope": (lambda m, x: all_different(x, OTHER), "another model"),
    "count too large": (lambda m, x: cardinality(x[0], 1, exactly=4), "4 of 3 variables"),
    "count of nothing": (lambda m, x: cardinality(x[0], 1), "exactly one of"),
    "two counts": (lambda m, x: cardinality(x[0], 1, at_least=1, at_most=2), "exactly one of"),
    "count a fraction": (lambda m, x: cardinality(x[0], 1, exactly=1.5), "whole number"),  # type: ignore[arg-type]
    "unknown value counted": (lambda m, x: cardinality(x[0], 12, at_most=1), "12 is not a value of these variables: 1, 2, 3, 4, 5"),
    "odd value counted": (lambda m, x: cardinality(x[0], [1], at_most=1), "whole number or a string"),  # type: ignore[arg-type]
}


@each(MISTAKES)
def test_mistakes_raise_where_they_are_made(act: Act, message: str) -> None:
    refused(act, message)

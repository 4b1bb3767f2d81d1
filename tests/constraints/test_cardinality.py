from __future__ import annotations

from typing import Any

import pytest
import torch

from consformer.constraints.cardinality import Cardinality
from consformer.errors import ModelError

ANY = torch.ones(3, 2, dtype=torch.bool)


def counting(**keys: Any) -> Cardinality:
    return Cardinality.from_records([{"scope": [0, 1, 2], "value": 0, "count": 2, **keys}])


def test_penalty_of_the_papers_examples() -> None:
    valid = torch.tensor([[[1.0, 0], [1, 0], [0, 1]]])
    invalid = torch.tensor([[[0.7, 0.3], [0.2, 0.8], [0, 1]]])
    assert float(counting().penalty(valid, ANY)) == 0
    assert float(counting().penalty(invalid, ANY)) == pytest.approx(1.1)


@pytest.mark.parametrize(
    ("compare", "violations"), [("==", [2, 1, 0, 1]), (">=", [2, 1, 0, 0]), ("<=", [0, 0, 0, 1])], ids=["exactly", "at least", "at most"]
)
def test_violation_is_how_far_the_count_is_off(compare: str, violations: list[int]) -> None:
    values = torch.tensor([[1, 1, 1], [0, 1, 1], [0, 1, 0], [0, 0, 0]])
    assert counting(compare=compare).violation(values)[:, 0].tolist() == violations


def test_exactly_is_the_default() -> None:
    assert counting().records() == [{"kind": "cardinality", "scope": [0, 1, 2], "value": 0, "count": 2, "compare": "=="}]


def test_a_larger_bound_than_variables_costs_no_memory() -> None:
    at_most = counting(compare="<=", count=10**12)
    assert int(at_most.violation(torch.zeros(1, 3, dtype=torch.int64))) == 0
    assert float(at_most.expected(torch.full((1, 3, 2), 0.5), ANY)) == 0


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"compare": "<"}, "compare must be one of ==, >=, <="),
        ({"value": None}, "counted value"),
        ({"value": -1}, "counted value"),
        ({"value": True}, "counted value"),
        ({"count": -1}, "whole number from 0"),
        ({"count": 1.5}, "whole number from 0"),
        ({"count": 4}, "4 of 3 variables can never hold"),
    ],
)
def test_wrong_parameters(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        counting(**keys)

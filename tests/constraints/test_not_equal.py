from __future__ import annotations

from typing import Any

import pytest
import torch

from consformer.constraints.not_equal import NotEqual
from consformer.errors import ModelError

PAIR = NotEqual.from_records([{"scope": [0, 1]}])
ANY = torch.ones(2, 3, dtype=torch.bool)


def test_penalty_of_the_papers_examples() -> None:
    valid = torch.tensor([[[1.0, 0, 0], [0, 1, 0]]])
    invalid = torch.tensor([[[0.7, 0.3, 0], [0.7, 0.2, 0.1]]])
    assert float(PAIR.penalty(valid, ANY)) == 0
    assert float(PAIR.penalty(invalid, ANY)) == pytest.approx(0.55)


def test_penalty_is_the_chance_of_a_violation() -> None:
    probs = torch.tensor([[[0.7, 0.3, 0], [0.7, 0.2, 0.1]]])
    equal = NotEqual.from_records([{"scope": [0, 1], "weight": -1}])
    assert float(PAIR.expected(probs, ANY)) == pytest.approx(0.55)
    assert float(equal.expected(probs, ANY)) == pytest.approx(0.45)


def test_a_negative_weight_asks_for_equality() -> None:
    constraint = NotEqual.from_records([{"scope": [0, 1], "weight": -2.5, "soft": True}, {"scope": [1, 2]}])
    values = torch.tensor([[0, 0, 0], [0, 1, 0]])
    assert constraint.violation(values).tolist() == [[0, 1], [1, 0]]
    assert constraint.weight.tolist() == [2.5, 1]
    assert [record.get("weight") for record in constraint.records()] == [-2.5, None]


def test_takes_two_variables() -> None:
    with pytest.raises(ModelError, match="takes 2 variables, not 3"):
        NotEqual.from_records([{"scope": [0, 1, 2]}])


def test_pairs_are_made_without_records() -> None:
    pairs, weights = torch.tensor([[0, 1], [3, 1]]), torch.tensor([2.0, -0.5], dtype=torch.float64)
    plain: list[dict[str, Any]] = [{"kind": "not_equal", "scope": pair} for pair in pairs.tolist()]
    assert NotEqual.of(pairs).records() == plain
    soft = [{**record, "soft": True, "weight": weight} for record, weight in zip(plain, weights.tolist(), strict=True)]
    assert NotEqual.of(pairs, weight=weights, soft=True).records() == soft

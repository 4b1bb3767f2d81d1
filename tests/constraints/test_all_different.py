from __future__ import annotations

import pytest
import torch

from consformer.constraints.all_different import AllDifferent


def penalty(probs: list[list[float]], domain: torch.Tensor | None = None) -> float:
    tensor = torch.tensor([probs])
    constraint = AllDifferent.from_records([{"scope": list(range(len(probs)))}])
    return float(constraint.penalty(tensor, torch.ones(tensor.shape[1:], dtype=torch.bool) if domain is None else domain))


def test_penalty_of_the_papers_examples_with_as_many_values_as_variables() -> None:
    assert penalty([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]]) == 0
    assert penalty([[0.9, 0.1, 0], [0.9, 0.1, 0], [0, 0, 1]]) == pytest.approx(1.6)


def test_penalty_of_the_papers_examples_with_more_values_than_variables() -> None:
    assert penalty([[1.0, 0, 0], [0, 1, 0]]) == 0
    assert penalty([[0.6, 0.4, 0], [0.7, 0.3, 0]]) == pytest.approx(0.9)


def test_which_penalty_depends_on_the_values_the_scope_can_take() -> None:
    narrow = torch.tensor([[True, True, False], [True, True, False]])  # two variables, two of three values: each needed once
    assert penalty([[0.6, 0.4, 0], [0.7, 0.3, 0]], narrow) == pytest.approx(0.3 + 0.3)


def test_violation_counts_pairs_that_share_a_value() -> None:
    constraint = AllDifferent.from_records([{"scope": [0, 1, 2, 3]}, {"scope": [3, 4]}])
    assert constraint.violation(torch.tensor([[0, 0, 0, 0, 1], [0, 1, 0, 1, 1], [3, 2, 1, 0, 1]])).tolist() == [[6, 0], [2, 1], [0, 0]]


def test_expected_violation_of_even_chances() -> None:
    constraint = AllDifferent.from_records([{"scope": [0, 1, 2]}])
    assert float(constraint.expected(torch.full((1, 3, 4), 0.25), torch.ones(3, 4, dtype=torch.bool))) == pytest.approx(3 / 4)


def test_scopes_of_different_sizes_live_together() -> None:
    constraint = AllDifferent.from_records([{"scope": [4]}, {"scope": [2, 0, 1]}, {"scope": [3, 4]}])
    assert constraint.sizes.tolist() == [1, 3, 2]
    assert constraint.anchor.tolist() == [4, 2, 3]
    assert [record["scope"] for record in constraint.records()] == [[4], [2, 0, 1], [3, 4]]


def test_scopes_are_taken_without_records() -> None:
    scopes = torch.tensor([[4, 0, 1], [3, 1, 2]])
    assert AllDifferent.of(scopes).records() == [{"kind": "all_different", "scope": scope} for scope in scopes.tolist()]


def test_tight_where_every_value_is_needed() -> None:
    kind = AllDifferent.from_records([{"scope": [0, 1, 2]}, {"scope": [0, 1]}])
    domain = torch.tensor([[True, True, True], [True, True, True], [True, True, True]])
    assert kind.tight(domain).tolist() == [True, False]
    domain[:2, 2] = False
    assert kind.tight(domain).tolist() == [True, True]

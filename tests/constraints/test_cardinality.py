from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.profiler import profile

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


def sequential(coins: Tensor, count: int) -> tuple[float, float]:
    """Chance of fewer than `count` hits and expected number of missing ones, coin after coin."""
    chances = torch.zeros(count + 1, dtype=torch.float64)
    chances[0] = 1
    for coin in coins.double():
        chances = chances * (1 - coin) + torch.cat([chances.new_zeros(1), chances[:-1]]) * coin
    return float(chances[:count].sum()), float((chances[:count] * torch.arange(count, 0, -1)).sum())


@pytest.mark.parametrize("compare", ["==", ">=", "<="])
@pytest.mark.parametrize(("size", "count"), [(65, 1), (150, 60), (200, 140), (300, 300)])
def test_long_scopes_are_exact_too(size: int, count: int, compare: str) -> None:
    constraint = Cardinality.from_records([{"scope": list(range(size)), "value": 0, "count": count, "compare": compare}])
    hit = torch.rand(size, generator=torch.Generator().manual_seed(size)) ** (0.1 if count == size else 1.0)
    hit[:9] = torch.tensor([0, 1, 0.5, 1e-7, 1 - 1e-7, 0, 1, 0.3, 0.999])
    probs = torch.stack([hit, 1 - hit], -1)[None].requires_grad_()
    _, short = sequential(hit, count)
    long = float(hit.double().sum()) - count + short
    expected = constraint.expected(probs, torch.ones(size, 2, dtype=torch.bool))
    assert float(expected.detach()) == pytest.approx({"==": short + long, ">=": short, "<=": long}[compare], rel=1e-5, abs=1e-6)
    (gradient,) = torch.autograd.grad(expected.sum(), probs)
    found = constraint.conflicts(probs.detach(), torch.ones(1))[0]
    for index in (*range(9), size - 1):
        few, _ = sequential(torch.cat([hit[:index], hit[index + 1 :]]), count)
        more = {"==": 1 - 2 * few, ">=": -few, "<=": 1 - few}[compare]
        assert float(gradient[0, index, 0]) == pytest.approx(more, abs=1e-5)
        assert found[index].tolist() == pytest.approx([max(more, 0), max(-more, 0)], abs=1e-6)


def test_an_assignment_of_a_long_scope_has_whole_conflicts() -> None:
    """Beside one that is left to chance, as networks ask for both."""
    constraint = Cardinality.from_records([{"scope": list(range(500)), "value": 0, "count": 250}])
    values = torch.arange(500) % 2
    assignment = torch.nn.functional.one_hot(values, 2).float()
    found = constraint.conflicts(torch.stack([assignment, torch.full((500, 2), 0.5)]), torch.ones(1))
    assert torch.equal(found[0], 1 - assignment)  # each is right as it is
    assert float(found[1].max()) == pytest.approx(0, abs=1e-6)  # fewer of the 499 others are as likely as more


def test_the_cost_of_a_long_scope_is_nearly_linear() -> None:
    """One distribution for each member would be 64 MB here."""
    size = 4000
    constraint = Cardinality.from_records([{"scope": list(range(size)), "value": 0, "count": size // 2}])
    probs = torch.full((1, size, 2), 0.5)
    with profile(profile_memory=True) as profiler:
        constraint.conflicts(probs, torch.ones(1))
    allocated = sum(max(event.self_cpu_memory_usage, 0) for event in profiler.events())
    assert allocated < 16e6

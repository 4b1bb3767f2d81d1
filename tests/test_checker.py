from __future__ import annotations

import ast
import inspect
import sys
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from consformer import checker
from consformer.baselines import solve_cpsat
from consformer.checker import MOST_NAMED, check
from consformer.constraints.all_different import AllDifferent
from consformer.constraints.cardinality import Cardinality
from consformer.constraints.not_equal import NotEqual
from consformer.result import Effort, Result
from tests.helpers import impossible, problem, random_csp


@given(seed=st.integers(0, 10_000))
def test_agrees_with_the_search(seed: int) -> None:
    csp = random_csp(seed)
    for values in csp.random_values(4, torch.Generator().manual_seed(seed)):
        verdict = check(csp, values.tolist())
        assert verdict.violations == int(csp.violations(values[None]))
        assert verdict.solved == (verdict.violations == 0)
        assert bool(verdict.broken) == (verdict.violations > 0)
        soft = any(bool(constraint.soft.any()) for constraint in csp.constraints)
        assert verdict.objective == (pytest.approx(float(csp.cost(values[None]))) if soft else None)
        best = replace(csp, maximise=True)
        assert check(best, values.tolist()).objective == pytest.approx(-float(csp.cost(values[None])))


def test_wrong_length() -> None:
    csp = problem([], n=3, m=2)
    for values in ([], [0, 1], [0, 1, 0, 1]):
        verdict = check(csp, values)
        assert not verdict.solved
        assert verdict.broken == (f"3 values are needed, there are {len(values)}",)


@pytest.mark.parametrize("value", [-1, 2, 3, 10**12])
def test_outside_the_domain(value: int) -> None:
    csp = problem([], n=2, m=3, forbidden=[(1, 2)])
    verdict = check(csp, [2, value])
    assert not verdict.solved
    assert verdict.broken == ("1 has a value outside its domain",)


def test_changed_given() -> None:
    csp = problem([], n=3, m=3, given={1: 2})
    assert check(csp, [0, 2, 0]).solved
    verdict = check(csp, [0, 1, 0])
    assert not verdict.solved
    assert verdict.violations == 1
    assert verdict.broken == ("1 differs from its fixed value",)


def test_outside_values_have_no_objective() -> None:
    csp = problem([{"kind": "not_equal", "scope": [0, 1], "soft": True}], n=2, m=2)
    assert check(csp, [0, 5]).objective is None
    assert check(csp, [0, 0]).objective == 1.0


def test_objective() -> None:
    records = [{"kind": "not_equal", "scope": [0, 1], "soft": True, "weight": w} for w in (2.5, -1.0)]
    assert check(problem(records, n=2, m=2, offset=10), [0, 0]).objective == 12.5
    assert check(problem(records, n=2, m=2, offset=10, maximise=True), [0, 0]).objective == 7.5
    assert check(problem(records, n=2, m=2, offset=10, maximise=True), [0, 1]).objective == 9.0


def test_an_optimisation_problem_without_constraints_has_an_objective() -> None:
    assert check(problem([], n=1, m=2), [0]).objective is None
    for keys, objective in [({"maximise": True}, 0), ({"offset": 3}, 3), ({"offset": -1, "maximise": True}, -1)]:
        csp = problem([], n=1, m=2, **keys)  # type: ignore[arg-type]
        assert check(csp, [0]).objective == objective == solve_cpsat(csp, workers=1).objective


def test_soft_constraints_are_not_broken() -> None:
    csp = problem([{"kind": "not_equal", "scope": [0, 1], "soft": True}, {"kind": "all_different", "scope": [0, 2]}], n=3, m=2)
    verdict = check(csp, [0, 0, 0])
    assert verdict.violations == 1
    assert verdict.broken == ("all_different of 0, 2",)


def test_names_only_some_of_very_many() -> None:
    n = 3 * MOST_NAMED
    csp = problem([{"kind": "not_equal", "scope": [i, i + 1]} for i in range(n)], n=n + 1, m=2)
    verdict = check(csp, [0] * (n + 1))
    assert verdict.violations == n
    assert len(verdict.broken) == MOST_NAMED
    assert len(check(csp, [7] * (n + 1)).broken) == MOST_NAMED


def test_a_search_that_lies_does_not_fool_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(self: object, *arguments: Tensor) -> Tensor:
        return torch.zeros(1, 1, dtype=torch.int64)

    csp = impossible()
    for kind in (AllDifferent, Cardinality, NotEqual):
        for method in ("violation", "penalty", "expected", "conflicts"):
            monkeypatch.setattr(kind, method, nothing)
    assert int(csp.violations(torch.tensor([[0, 0, 0]]))) == 0
    result = Result.judged(csp, [0, 0, 0], Effort(0, 0.0, "liar", 0))
    assert result.status == "unsolved"
    assert result.violations == 3


def test_uses_no_torch() -> None:
    tree = ast.parse(inspect.getsource(checker))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    assert {name for name in imported if name.split(".")[0] not in sys.stdlib_module_names} == {"numpy", "numpy.typing", "consformer.csp"}

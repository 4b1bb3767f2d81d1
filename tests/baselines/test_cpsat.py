from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
import torch

from consformer import CSP, Model, all_different, cardinality
from consformer.baselines import solve_cpsat
from consformer.constraints import compile_records
from consformer.constraints.not_equal import NotEqual
from consformer.errors import ConsformerError, ModelError


def sudoku(givens: dict[tuple[int, int], int]) -> CSP:
    model = Model()
    x = model.variables((4, 4), values=range(1, 5), name="x")
    model.add([all_different(x[i]) for i in range(4)], [all_different(x[:, i]) for i in range(4)])
    model.add(all_different(x[r : r + 2, c : c + 2]) for r in (0, 2) for c in (0, 2))
    for cell, value in givens.items():
        model.fix(x[cell], value)
    return model.compile()


def maxcut(edges: list[tuple[int, int]], weights: list[float]) -> CSP:
    """The weight of the cut is the sum of positive weights less the cost of what is not as wished."""
    n = 1 + max(itertools.chain(*edges))
    return CSP(
        domain=torch.ones(n, 2, dtype=torch.bool),
        given=torch.full((n,), -1),
        positions=torch.arange(n)[:, None],
        constraints=compile_records(
            {"kind": "not_equal", "scope": list(e), "weight": w, "soft": True} for e, w in zip(edges, weights, strict=True)
        ),
        value_labels=(0, 1),
        maximise=True,
        offset=sum(weight for weight in weights if weight > 0),
    )


def test_solves_and_keeps_fixed_values() -> None:
    csp = sudoku({(0, 0): 1, (1, 2): 1, (3, 3): 4})
    result = solve_cpsat(csp, workers=1)
    assert result.status == "solved"
    assert result.values is not None
    assert int(csp.violations(torch.tensor([result.values]))) == 0
    assert [result.values[i] for i in (0, 6, 15)] == [0, 0, 3]
    assert result.objective == 0
    assert 0 < result.seconds < 10


def test_proves_that_there_is_no_solution() -> None:
    result = solve_cpsat(sudoku({(0, 0): 1, (0, 1): 2, (1, 2): 3}), workers=1)  # no place for the 3 of the first row
    assert (result.status, result.values, result.objective) == ("infeasible", None, None)


def test_domains_are_kept() -> None:
    model = Model()
    x = model.variables(3, values=range(5))
    model.restrict(x[0], [1, 4])
    model.restrict(x[1:], [1])
    model.add(x[0] != x[1])
    assert solve_cpsat(model.compile(), workers=1).values == [4, 1, 1]


def test_maximises_a_cut_with_weights_of_both_signs() -> None:
    rng = np.random.default_rng(0)
    edges = [(i, j) for i, j in itertools.combinations(range(7), 2) if rng.random() < 0.7]
    weights = rng.choice([-1.5, 1, 2], len(edges)).tolist()
    sides = np.array(list(itertools.product([0, 1], repeat=7)))
    best = max(sum(w for (i, j), w in zip(edges, weights, strict=True) if side[i] != side[j]) for side in sides)
    result = solve_cpsat(maxcut(edges, weights), workers=1)
    assert result.status == "optimal"
    assert result.objective == pytest.approx(best)


def test_soft_and_hard_together() -> None:
    model = Model()
    x = model.variables(4, values=["a", "b"])
    model.add(cardinality(x, "a", at_least=3))
    model.add(all_different(x[:2]), soft=0.1)
    model.add(x[2] != x[3], soft=1 / 3)
    result = solve_cpsat(model.compile(), workers=1)
    assert result.status == "optimal"
    assert result.objective == pytest.approx(0.1)


def test_deterministic_given_a_seed_and_one_worker() -> None:
    csp = sudoku({})
    assert solve_cpsat(csp, workers=1, seed=3).values == solve_cpsat(csp, workers=1, seed=3).values


def test_time_runs_out() -> None:
    rng = np.random.default_rng(0)
    edges = [(int(i), int(j)) for i, j in itertools.combinations(range(120), 2) if rng.random() < 0.5]
    csp = maxcut(edges, [1.0] * len(edges))
    assert solve_cpsat(csp, time_limit=0.0, workers=1).status == "unknown"
    result = solve_cpsat(csp, time_limit=0.7, workers=1)
    assert result.status in ("feasible", "unknown")
    assert result.seconds < 5


def test_a_hint_is_only_a_hint() -> None:
    csp = sudoku({(0, 0): 1})
    assert solve_cpsat(csp, workers=1, hint=[3] * 16).status == "solved"
    with pytest.raises(ModelError, match="16 values"):
        solve_cpsat(csp, hint=[1, 2])


def test_a_union_is_refused() -> None:
    with pytest.raises(ModelError, match="one by one"):
        solve_cpsat(CSP.union([sudoku({}), sudoku({})]))


def test_says_when_ortools_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    with pytest.raises(ConsformerError, match="pip install ortools"):
        solve_cpsat(sudoku({}))


def test_an_answer_that_violates_a_constraint_is_never_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model()
    x = model.variables(2, values=[0])
    model.add(x[0] != x[1])
    monkeypatch.setattr(NotEqual, "post", lambda self, cp: None)
    with pytest.raises(ConsformerError, match="violates a constraint"):
        solve_cpsat(model.compile(), workers=1)

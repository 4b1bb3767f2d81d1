from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consformer.baselines import solve_cpsat
from consformer.checker import check
from consformer.constraints import Constraint
from consformer.constraints.all_different import AllDifferent
from consformer.constraints.cardinality import Cardinality
from consformer.constraints.not_equal import NotEqual
from consformer.partners.local import LocalSearch
from tests.helpers import cycle, random_csp


@pytest.fixture(autouse=True)
def _silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """No kind says anything about itself."""
    for kind in (AllDifferent, Cardinality, NotEqual):
        monkeypatch.setattr(kind, "local", Constraint.local)


@given(seed=st.integers(0, 10**6))
def test_it_keeps_domains_and_fixed_values_and_judges_as_the_checker(seed: int) -> None:
    csp = random_csp(seed)
    search, again = LocalSearch(csp, seed), LocalSearch(csp, seed)
    search.run(moves=60)
    for _ in range(3):
        again.run(moves=20)
    assert (search.values, search.best) == (again.values, again.best)
    verdict = check(csp, search.best.values)
    assert verdict.violations == search.best.violations
    assert check(csp, search.values).violations == search.state.numbers[2]


def test_it_solves_what_can_be_solved() -> None:
    search = LocalSearch(cycle(9, 3), 0)
    assert search.run(moves=300)
    assert search.solved
    for seed in range(5):
        csp = random_csp(seed, soft=False)
        search = LocalSearch(csp, 0)
        search.run(moves=300)
        assert (search.best.violations == 0) == (solve_cpsat(csp, workers=1).status != "infeasible")

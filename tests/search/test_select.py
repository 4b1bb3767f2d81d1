from __future__ import annotations

import pytest
import torch

from consformer.csp import CSP
from consformer.search.select import SELECTORS, conflicts, uniform
from tests.helpers import cycle, problem


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_fixed_variables_are_never_chosen() -> None:
    csp = problem([], n=6, m=2, given={1: 0, 4: 1})
    values = csp.random_values(50, generator())
    for select in SELECTORS.values():
        subset = select(csp, values, torch.ones(50, 1), generator())
        assert subset.shape == (50, 6)
        assert bool((subset == csp.free).all())  # with p = 1 all free ones


def test_share_of_each_candidate_and_instance() -> None:
    csp = CSP.union([cycle(400, 2), cycle(600, 2)])
    p = torch.tensor([[0.1, 0.9], [0.5, 0.001]])
    subset = uniform(csp, csp.random_values(2, generator()), p, generator())
    for k in range(2):
        for index, part in enumerate(csp.split(subset)):
            assert float(part[k].float().mean()) == pytest.approx(float(p[k, index]), abs=0.08)


def test_follows_the_generator() -> None:
    csp, p = cycle(50, 2), torch.full((2, 1), 0.5)
    values = csp.random_values(2, generator())
    for select in SELECTORS.values():
        assert torch.equal(select(csp, values, p, generator(3)), select(csp, values, p, generator(3)))
        assert not torch.equal(select(csp, values, p, generator(3)), select(csp, values, p, generator(4)))


def test_variables_in_conflict_are_always_updated() -> None:
    csp = problem([{"kind": "all_different", "scope": [0, 1, 2]}, {"kind": "not_equal", "scope": [3, 4]}], n=6, m=4, given={1: 2})
    values = torch.tensor([[2, 2, 1, 0, 1, 3], [0, 2, 1, 3, 3, 3]])
    subset = conflicts(csp, values, torch.zeros(2, 1), generator())
    assert subset.int().tolist() == [[1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0]]  # variable 1 is fixed


def test_soft_constraints_are_no_conflicts() -> None:
    csp = problem([{"kind": "not_equal", "scope": [0, 1], "weight": 2.0, "soft": True}], n=2, m=2)
    assert not bool(conflicts(csp, torch.tensor([[1, 1]]), torch.zeros(1, 1), generator()).any())

from __future__ import annotations

import pytest
import torch

from consformer.csp import CSP
from consformer.search.select import uniform_subset
from tests.helpers import cycle, problem


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_fixed_variables_are_never_chosen() -> None:
    csp = problem([], n=6, m=2, given={1: 0, 4: 1})
    subset = uniform_subset(csp, torch.ones(50, 1), generator())
    assert subset.shape == (50, 6)
    assert bool((subset == csp.free).all())  # with p = 1 all free ones


def test_share_of_each_candidate_and_instance() -> None:
    csp = CSP.union([cycle(400, 2), cycle(600, 2)])
    p = torch.tensor([[0.1, 0.9], [0.5, 0.001]])
    subset = uniform_subset(csp, p, generator())
    for k in range(2):
        for index, part in enumerate(csp.split(subset)):
            assert float(part[k].float().mean()) == pytest.approx(float(p[k, index]), abs=0.08)


def test_follows_the_generator() -> None:
    csp, p = cycle(50, 2), torch.full((2, 1), 0.5)
    assert torch.equal(uniform_subset(csp, p, generator(3)), uniform_subset(csp, p, generator(3)))
    assert not torch.equal(uniform_subset(csp, p, generator(3)), uniform_subset(csp, p, generator(4)))

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from consformer.networks.inputs import conflict_inputs
from tests.helpers import problem, random_csp, random_inputs


def test_conflict_inputs_count_from_the_cheapest_value() -> None:
    csp = problem([{"kind": "not_equal", "scope": [0, 1]}, {"kind": "not_equal", "scope": [0, 2]}], n=3, m=2)
    current = csp.one_hot(torch.tensor([[0, 0, 1]]))
    nobody = torch.zeros(1, 3, dtype=torch.bool)
    outside, inside, floor = conflict_inputs(csp, current, nobody)
    assert outside[0, 0].tolist() == [0.0, 0.0]  # one neighbour at either value: both cost 1
    assert floor[0, :, 0].tolist() == [1.0, 0.0, 0.0]
    assert not inside.any()
    outside, inside, floor = conflict_inputs(csp, current, torch.tensor([[True, True, False]]))
    assert outside[0, 0].tolist() == [0.0, 1.0]  # variable 2 has value 1 for certain, variable 1 may take either
    assert inside[0, 0].tolist() == [1.0, 0.0]  # at present it has value 0
    assert floor[0, 0, 0] == 0.5


@given(seed=st.integers(0, 10_000))
def test_the_parts_add_up(seed: int) -> None:
    """Up to a constant per variable, both parts together are what a value costs now; every variable has one that costs nothing."""
    csp = random_csp(seed)
    values, subset, _ = random_inputs(csp, pool=2, seed=seed)
    current = csp.one_hot(values)
    outside, inside, _ = conflict_inputs(csp, current, subset)
    difference = outside + inside - csp.conflicts(current)
    lowest, highest = (difference.masked_fill(~csp.domain, nothing) for nothing in (float("inf"), -float("inf")))
    torch.testing.assert_close(lowest.amin(-1), highest.amax(-1))
    for part in (outside, inside):
        cheapest = part.masked_fill(~csp.domain, float("inf")).amin(-1)
        assert torch.equal(cheapest, torch.zeros_like(cheapest))

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consformer import families
from consformer.baselines import solve_cpsat
from consformer.constraints import Constraint
from consformer.errors import ModelError

planted = families.get("planted")


@given(seed=st.integers(0, 10**6))
def test_there_is_always_a_solution(seed: int) -> None:
    (csp,) = planted.generate(np.random.default_rng(seed), 1, {"variables": [2, 25], "values": [2, 6], "fixed": [0.0, 0.5]})
    assert solve_cpsat(csp, workers=1).status == "solved"


def test_all_kinds_occur() -> None:
    drawn = planted.generate(np.random.default_rng(0), 10)
    assert {constraint.kind for csp in drawn for constraint in csp.constraints} == set(Constraint.registry)


@pytest.mark.parametrize(
    ("params", "told"), [({"variables": 1}, "start from 2"), ({"fixed": [0.5, 1.5]}, "at most 1"), ({"values": [1, 3]}, "start from 2")]
)
def test_impossible_parameters(params: dict[str, object], told: str) -> None:
    with pytest.raises(ModelError, match=told):
        planted.settings(params)

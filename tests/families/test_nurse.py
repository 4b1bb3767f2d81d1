from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from consformer import families
from consformer.baselines import solve_cpsat
from consformer.errors import ConsformerError
from consformer.families.nurse import template

family = families.get("nurse")


def test_default_is_the_papers() -> None:
    (csp,) = family.generate(np.random.default_rng(0), 1)
    assert (csp.n, csp.m) == (90, 10)
    assert csp.positions[-1].tolist() == [9, 2, 2]
    fixed = csp.given[csp.given >= 0].tolist()
    assert sorted(fixed) == list(range(10))  # every nurse once


@given(seed=st.integers(0, 10**6), days=st.integers(1, 4), shifts=st.integers(1, 3), slots=st.integers(1, 2), spare=st.integers(0, 2))
def test_generated_rosters_can_be_filled(seed: int, days: int, shifts: int, slots: int, spare: int) -> None:
    nurses = max(shifts, 2) * slots + spare
    (csp,) = family.generate(np.random.default_rng(seed), 1, {"days": days, "shifts": shifts, "slots": slots, "nurses": nurses})
    result = solve_cpsat(csp, workers=1)
    assert result.status == "solved"


def test_rules() -> None:
    """Two days of two shifts of one slot: everybody once a day, and not from the last shift into the next morning."""
    csp = template(2, 2, 1, 3)
    rosters = {"fine": [0, 1, 0, 1], "twice a day": [0, 0, 1, 2], "no rest": [0, 1, 1, 2]}
    broken = {name: int(csp.violations(torch.tensor([roster]))[0, 0]) for name, roster in rosters.items()}
    assert broken == {"fine": 0, "twice a day": 1, "no rest": 1}


def test_all_pairs_of_slots_between_days_are_tied() -> None:
    csp = template(3, 3, 3, 10)
    (ties,) = [constraint for constraint in csp.constraints if constraint.kind == "not_equal"]
    assert len(ties) == 2 * 9


@pytest.mark.parametrize(
    "params, message",
    [
        ({"nurses": 8}, "need 9 nurses or more, not 8"),
        ({"days": 0}, "'days' must start from 1"),
        ({"shifts": 1, "nurses": 5}, "need 6 nurses"),
    ],
)
def test_wrong_parameters_are_told(params: dict[str, object], message: str) -> None:
    with pytest.raises(ConsformerError, match=message):
        family.settings(params)


def test_answer_is_a_roster_by_day_shift_and_slot() -> None:
    assert family.answer(template(2, 2, 1, 3), [0, 1, 2, 0]) == {"roster": [[[1], [2]], [[3], [1]]]}


def test_view_has_a_row_per_day() -> None:
    view = family.view(template(2, 2, 1, 3), [0, 0, 2, 1])
    assert [row["label"] for row in view["rows"]] == ["1", "2"]
    assert view["columns"] == ["shift 1", "shift 2"]
    assert [cell[0]["conflict"] for row in view["rows"] for cell in row["cells"]] == [True, True, False, False]


def test_slots_with_names_of_their_own_are_no_roster() -> None:
    csp = template(2, 2, 1, 3)
    assert families.of(replace(csp, variable_labels=None)).name == "nurse"
    assert families.of(replace(csp, variable_labels=tuple("dcba"))).name == "csp"
    named = replace(csp, value_labels=("Ann", "Bob", "Cy"))
    assert families.of(named).answer(named, [0, 1, 2, 0]) == {"roster": [[["Ann"], ["Bob"]], [["Cy"], ["Ann"]]]}

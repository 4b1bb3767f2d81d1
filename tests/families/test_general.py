from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from consformer import families, formats
from consformer.csp import CSP
from consformer.errors import ModelError
from consformer.families.general import General


def sample(**changes: object) -> CSP:
    (csp,) = formats.read_problems(formats.get("csp_json").sample())
    return replace(csp, **changes)  # type: ignore[arg-type]


def test_problems_of_no_family_are_a_table_of_variables() -> None:
    csp = sample()
    family = families.of(csp)
    assert family.name == "csp"
    assert family.answer(csp, [0, 1, 0]) == {"values": {"WA": "red", "NT": "green", "SA": "red"}}
    assert [row["label"] for row in family.view(csp, [0, 1, 0])["rows"]] == ["WA", "NT", "SA"]


@pytest.mark.parametrize("name", [*families.names(), "unheard of"])
@pytest.mark.parametrize("info", [{}, {"box": [3]}, {"box": 3}, {"shape": "x"}, {"shape": [1, 1, 3, -2]}])
def test_problems_that_only_claim_a_family_are_shown_in_general(name: str, info: dict[str, object]) -> None:
    csp = sample(family=name, info=info)
    assert families.of(csp).view(csp, [0, 1, 0])["type"] == "table"


def test_general_problems_are_not_drawn_at_random() -> None:
    with pytest.raises(ModelError, match="name a family"):
        General().generate(np.random.default_rng(0), 1)


def test_names_that_are_equal_as_text_have_no_answer() -> None:
    csp = sample(variable_labels=(1, "1", 2))
    with pytest.raises(ModelError, match="equal as text"):
        families.of(csp).answer(csp, [0, 1, 0])

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pytest

from consformer import families
from consformer.errors import InputError, ModelError, UnknownNameError
from consformer.families.base import Family, Params, entries, python_random, setting
from consformer.families.general import General
from consformer.formats.payloads import Board, GraphData
from tests.helpers import cycle


@dataclass(frozen=True)
class BeadParams(Params):
    """One parameter of every type there is."""

    count: int = setting(3, "a whole number")
    share: float = setting(0.5, "a number")
    round: bool = setting(True, "yes or no")
    label: str = setting("bead", "a text")
    colour: Literal["red", "green"] = setting("red", "one of a few")
    holes: Literal[1, 2] = setting(1, "one of a few numbers")
    size: tuple[int, int] = setting((1, 2), "a range")
    weight: tuple[float, float] | None = setting(None, "a range, or none")
    strings: tuple[Literal["silk", "wire"], ...] = setting(("silk",), "some of a few")
    knots: tuple[int, ...] | None = setting(None, "a list, or none")


EDGE = GraphData(2, np.array([[0, 1]]), np.ones(1), np.ones(1, dtype=np.int64))


class Beads(General[Any], registered=False):
    name = "beads"
    params: Any = BeadParams


@pytest.fixture
def beads() -> Family[Any]:
    return Beads()


# --- generation parameters ----------------------------------------------------------------------------------------


def test_defaults(beads: Family[Any]) -> None:
    assert beads.settings() == beads.settings(None) == beads.settings({}) == BeadParams()


def test_parameters_that_are_ready_are_taken_as_they_are(beads: Family[Any]) -> None:
    params = BeadParams(count=7)
    assert beads.settings(params) is params


@pytest.mark.parametrize(
    ("key", "given", "kept"),
    [
        ("count", 0, 0),
        ("share", 0.25, 0.25),
        ("share", 1, 1.0),
        ("round", False, False),
        ("label", "", ""),
        ("colour", "green", "green"),
        ("holes", 2, 2),
        ("size", [3, 5], (3, 5)),
        ("size", (4, 4), (4, 4)),
        ("size", 7, (7, 7)),
        ("weight", None, None),
        ("weight", [1, 2.5], (1.0, 2.5)),
        ("weight", 2, (2.0, 2.0)),
        ("strings", "wire,silk", ("wire", "silk")),
        ("strings", ["wire"], ("wire",)),
        ("strings", [], ()),
        ("knots", None, None),
        ("knots", [1, 2, 3], (1, 2, 3)),
    ],
)
def test_plain_values_become_what_a_parameter_is(beads: Family[Any], key: str, given: Any, kept: Any) -> None:
    found = getattr(beads.settings({key: given}), key)
    assert found == kept
    assert type(found) is type(kept)
    if isinstance(kept, tuple):
        assert [type(item) for item in found] == [type(item) for item in kept]


@pytest.mark.parametrize(
    ("key", "given", "wanted"),
    [
        ("count", 1.0, "must be a whole number, not 1.0"),
        ("count", True, "must be a whole number, not True"),
        ("count", "3", "must be a whole number, not '3'"),
        ("count", None, "must be a whole number, not None"),
        ("share", "half", "must be a number, not 'half'"),
        ("share", False, "must be a number, not False"),
        ("round", 1, "must be true or false, not 1"),
        ("label", 3, "must be a text, not 3"),
        ("colour", "gren", "must be 'red' or 'green', not 'gren': did you mean 'green'?"),
        ("colour", None, "must be 'red' or 'green', not None"),
        ("holes", 3, "must be 1 or 2, not 3"),
        ("size", [1], r"must be a range \[low, high\] or one number"),
        ("size", [1, 2, 3], r"must be a range \[low, high\] or one number"),
        ("size", "12", r"must be a range \[low, high\] or one number"),
        ("size", True, r"must be a range \[low, high\] or one number"),
        ("size", {"low": 1}, r"must be a range \[low, high\] or one number"),
        ("size", [5, 3], r"must be a range \[low, high\] with low <= high, not \[5, 3\]"),
        ("size", [1, 2.5], "must be a whole number, not 2.5"),
        ("size", 2.5, "must be a whole number, not 2.5"),
        ("weight", ["a", "b"], "must be a number, not 'a'"),
        ("strings", "silk,wier", "must be 'silk' or 'wire', not 'wier': did you mean 'wire'?"),
        ("strings", 3, "must be a list, not 3"),
        ("knots", [1, "2"], "must be a whole number, not '2'"),
    ],
)
def test_wrong_values_are_told_by_name(beads: Family[Any], key: str, given: Any, wanted: str) -> None:
    with pytest.raises(ModelError, match=f"^beads parameter '{key}' {wanted}"):
        beads.settings({key: given})


def test_unknown_parameters(beads: Family[Any]) -> None:
    with pytest.raises(UnknownNameError, match="unknown beads parameter 'colur': did you mean 'colour'"):
        beads.settings({"colur": "red"})
    with pytest.raises(UnknownNameError, match="unknown beads parameter '3'"):
        beads.settings({3: 1})
    for nonsense in ("count=3", [("count", 3)], 7):
        with pytest.raises(ModelError, match="beads: parameters must be a table of names and values"):
            beads.settings(nonsense)


def test_parameters_of_another_family_are_none(beads: Family[Any]) -> None:
    with pytest.raises(ModelError, match="must be a table"):
        beads.settings(families.get("sudoku").params())


def test_a_negative_number_of_problems() -> None:
    with pytest.raises(ModelError, match="sudoku: the number of problems must be at least 0, not -1"):
        families.get("sudoku").generate(np.random.default_rng(0), -1)


# --- problems from files ------------------------------------------------------------------------------------------


def test_a_payload_of_another_family() -> None:
    with pytest.raises(InputError, match="does not hold a coloring problem but a board"):
        families.get("coloring").build(Board(np.full((4, 4), -1)))
    with pytest.raises(InputError, match="does not hold a sudoku problem but a graph"):
        families.get("sudoku").build(EDGE)
    with pytest.raises(InputError, match="does not hold a sudoku problem but something else"):
        families.get("sudoku").build("a text")


def test_options_of_another_family() -> None:
    with pytest.raises(ModelError, match=r"sudoku has no option 'colors' for problems from files \(there are: none\)"):
        families.get("sudoku").build(Board(np.full((4, 4), -1)), colors=4)
    with pytest.raises(ModelError, match=r"coloring has no option 'colours' .* \(there are: colors\)"):
        families.get("coloring").build(EDGE, colours=4)


# --- what families share ------------------------------------------------------------------------------------------


@pytest.fixture
def registry() -> Iterator[dict[str, type[Family[Any]]]]:
    before = dict(Family.registry)
    yield Family.registry
    Family.registry.clear()
    Family.registry.update(before)


def test_subclassing_registers_unless_asked_not_to(registry: dict[str, type[Family[Any]]]) -> None:
    assert "beads" not in registry

    class Found(General[Any]):
        name = "found"

    assert registry["found"] is Found
    assert "found" in families.names()


def test_entries_say_what_is_given_and_what_is_in_conflict() -> None:
    csp = cycle(4, 3)
    given = csp.given.clone()
    given[0] = 2
    csp = csp.with_given(given)
    assert [entry["text"] for entry in entries(csp, None)] == ["2", "", "", ""]
    shown = entries(csp, [2, 2, 0, 1])
    assert [entry["given"] for entry in shown] == [True, False, False, False]
    assert [entry["conflict"] for entry in shown] == [True, True, False, False]
    with pytest.raises(ModelError, match="4 variables need as many values, not 3"):
        entries(csp, [0, 1, 2])


def test_single_draws_follow_the_generator() -> None:
    once, again, other = (python_random(np.random.default_rng(seed)).random() for seed in (1, 1, 2))
    assert once == again != other

from __future__ import annotations

from pathlib import Path

import pytest

from consformer import errors
from consformer.errors import ConsformerError, InputError, UnknownNameError, did_you_mean


@pytest.mark.parametrize("name", ["InputError", "ModelError", "CheckpointError", "RecipeError", "UnknownNameError"])
def test_one_root(name: str) -> None:
    assert issubclass(getattr(errors, name), ConsformerError)


@pytest.mark.parametrize(
    ("source", "line", "text"),
    [
        (None, None, "no edges"),
        ("a.col", None, "a.col: no edges"),
        (Path("a.col"), 3, "a.col:3: no edges"),
        (None, 3, "line 3: no edges"),
    ],
)
def test_input_errors_name_the_place(source: str | Path | None, line: int | None, text: str) -> None:
    assert str(InputError("no edges", source=source, line=line)) == text


def test_the_file_can_be_added_once() -> None:
    error = InputError("no edges", line=3).at("a.col")
    assert str(error) == "a.col:3: no edges"
    assert str(error.at("b.col")) == "a.col:3: no edges"


def test_unknown_names_suggest_the_nearest() -> None:
    assert str(UnknownNameError("family", "nurses", ["sudoku", "nurse"])) == (
        "unknown family 'nurses': did you mean 'nurse'? (there are: nurse, sudoku)"
    )
    assert str(UnknownNameError("family", "xyz", ["sudoku", "nurse"])) == "unknown family 'xyz': there are: nurse, sudoku"


def test_only_short_texts_are_compared() -> None:
    assert did_you_mean("nurses", ["sudoku", "nurse"]) == ": did you mean 'nurse'?"
    assert did_you_mean(3, [3, 4]) == did_you_mean("x" * 10**6, ["x" * 10**6]) == ""

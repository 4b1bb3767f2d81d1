from __future__ import annotations

import json

import pytest

from consformer import families
from consformer.cli.show import short_answer, show
from consformer.csp import CSP
from consformer.formats import read_problems

LONG = "x" * 200
NAMED = {
    "format": "consformer-csp",
    "version": 1,
    "values": ["[red]", ":cow:"],
    "variables": {"count": 3, "names": ["[/b]", LONG, "third"], "fixed": {"0": ":cow:"}},
    "constraints": [{"kind": "all_different", "scope": [0, 2]}],
}


@pytest.fixture
def csp() -> CSP:
    """A problem of no family, with labels that look like markup and one that is wider than a terminal."""
    (csp,) = read_problems(json.dumps(NAMED).encode())
    return csp


def test_labels_are_shown_as_they_are_and_in_full(csp: CSP, capsys: pytest.CaptureFixture[str]) -> None:
    show(csp, [1, 0, 1])
    shown, told = capsys.readouterr()
    assert told == ""
    rows = [line.split() for line in shown.splitlines()]
    assert ["[/b]", ":cow:'!"] in rows
    assert ["third", ":cow:!"] in rows
    assert shown.count("x") == 200
    assert "[red]" in shown
    assert "' given   ! in conflict" in shown


def test_a_problem_without_an_answer(csp: CSP, capsys: pytest.CaptureFixture[str]) -> None:
    show(csp, None)
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["third", "."] in rows
    assert ["[/b]", ":cow:'"] in rows


def test_the_short_answer_is_one_line(csp: CSP) -> None:
    assert json.loads(short_answer(csp, [1, 0, 0])) == {"values": {"[/b]": ":cow:", LONG: "[red]", "third": "[red]"}}
    board = families.get("sudoku").unpack("1" + "." * 15)
    assert short_answer(board, [0, 3, 2, 1] * 4) == "1432" * 4

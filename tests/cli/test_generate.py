from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from consformer import CSP, families, formats
from consformer.cli.generate import PORTION
from consformer.families.sudoku import Sudoku
from consformer.families.sudoku_boards import count_solutions
from tests.cli.running import Cli, no_space, not_yet

SMALL: dict[str, list[object]] = {
    "coloring": ["--vertices", "10..12", "--colors", 5, "--no-filter"],
    "latin": ["--order", 4],
    "maxcut": ["--vertices", "9..12", "--density", "0.3..0.5"],
    "nurse": ["--days", 2, "--shifts", 2, "--slots", 1, "--nurses", "3..4"],
    "planted": ["--variables", "4..6", "--values", 3, "--constraints", 1],
    "sudoku": ["--box", 2],
}

every_family = pytest.mark.parametrize("family", families.names())


def small(family: str, *options: object) -> list[object]:
    """A command that draws small problems of the family."""
    return ["generate", family, *SMALL.get(family, []), *options]


def givens(csps: Sequence[CSP]) -> list[int]:
    return [int((csp.given >= 0).sum()) for csp in csps]


# --- what is drawn ------------------------------------------------------------------------------------------------


@every_family
def test_by_default_one_problem_with_the_familys_own_parameters(cli: Cli, family: str) -> None:
    ran = cli("generate", family)
    owner = families.get(family)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == owner.write(owner.generate(np.random.default_rng(0), 1))


@every_family
@pytest.mark.parametrize("count", [1, 3])
def test_what_is_generated_can_be_read_and_solved(cli: Cli, network: Path, family: str, count: int) -> None:
    generated = cli(*small(family, "--count", count))
    assert (generated.code, generated.err) == (0, "")
    problems = formats.read_problems(generated.out.encode())
    assert [csp.family for csp in problems] == [family] * count
    solved = cli("solve", "-", "--network", network, "--iterations", 300, "--pool", 8, "--json", input=generated.out)
    assert (solved.code, solved.err) == (0, "")
    assert [len(document["values"]) for document in solved.documents] == [csp.n for csp in problems]


@every_family
def test_the_seed_decides(cli: Cli, family: str) -> None:
    def drawn(*options: object) -> str:
        return cli(*small(family, "-n", 2, *options)).out

    assert drawn("--seed", 5) == drawn("--seed", 5)
    assert drawn("--seed", 5) != drawn("--seed", 6)
    assert drawn() == drawn("--seed", 0)
    assert drawn("--seed", 10**40)


@pytest.mark.parametrize(
    ("options", "format"),
    [
        (small("sudoku"), "sudoku_lines"),
        (small("sudoku", "-n", 3), "sudoku_lines"),
        (["generate", "sudoku", "--box", 4], "sudoku_lines"),
        (small("coloring"), "dimacs_col"),
        (small("coloring", "-n", 3), "csp_json"),
        (small("maxcut"), "gset"),
        (small("maxcut", "-n", 3), "csp_json"),
        (small("nurse"), "csp_json"),
    ],
    ids=lambda given: " ".join(map(str, given)) if isinstance(given, list) else given,
)
def test_problems_come_in_the_customary_format_where_it_can_hold_them(cli: Cli, options: list[object], format: str) -> None:
    assert formats.recognise(cli(*options).out.encode()).name == format


def test_many_are_drawn_in_portions_and_are_all_different(cli: Cli) -> None:
    boards = cli("generate", "sudoku", "--count", PORTION + 10).out.splitlines()
    assert len(set(boards)) == len(boards) == PORTION + 10
    assert boards[:PORTION] == cli("generate", "sudoku", "--count", PORTION).out.splitlines()


def test_a_range_of_givens(cli: Cli) -> None:
    found = givens(formats.read_problems(cli("generate", "sudoku", "--givens", "31..42", "--count", 60).out.encode()))
    assert set(found) == set(range(31, 43))


@pytest.mark.parametrize(("text", "number"), [("35", 35), ("35..35", 35), ("0", 0), ("81", 81)])
def test_one_number_of_givens(cli: Cli, text: str, number: int) -> None:
    assert givens(formats.read_problems(cli("generate", "sudoku", "--givens", text, "-n", 3).out.encode())) == [number] * 3


def test_unique_boards_have_one_solution(cli: Cli) -> None:
    def solutions(*options: str) -> list[int]:
        ran = cli("generate", "sudoku", "--box", 2, "--givens", "4..5", "--count", 6, *options)
        return [count_solutions(csp.given.view(4, 4).numpy()) for csp in formats.read_problems(ran.out.encode())]

    assert solutions("--unique") == [1] * 6
    assert 2 in solutions()
    assert solutions("--no-unique") == solutions()


def test_the_kinds_of_graph(cli: Cli) -> None:
    def kinds(family: str, text: str) -> set[str]:
        return {json.loads(line)["info"]["kind"] for line in cli(*small(family, "--kinds", text, "--count", 12)).out.splitlines()}

    assert kinds("coloring", "geo") == {"geo"}
    assert kinds("coloring", "er,ba") == {"er", "ba"}
    assert kinds("maxcut", "torus,regular") == {"torus", "regular"}


def test_without_the_filter_the_number_of_colours_is_free(cli: Cli) -> None:
    arguments = ["generate", "coloring", "--vertices", 6, "--colors", 12]
    cli(*arguments).refused("3 to 10 colours, not 12 to 12", "--no-filter")
    assert "c to be coloured with 12 colours" in cli(*arguments, "--no-filter").out


def test_weights_of_both_signs(cli: Cli) -> None:
    _, *edges = cli(*small("maxcut", "--weights", "signed")).out.splitlines()
    assert {edge.split()[2] for edge in edges} == {"1", "-1"}


# --- where it goes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "told"), [(1, "1 sudoku problem written to"), (3, "3 sudoku problems written to")])
def test_a_file_holds_what_standard_output_would_show(cli: Cli, tmp_path: Path, count: int, told: str) -> None:
    path = tmp_path / "[b]oards.txt"
    path.write_text("old")
    ran = cli(*small("sudoku", "--count", count, "--output", path))
    assert (ran.code, ran.out, ran.err) == (0, "", f"{told} {path}\n")
    assert path.read_text() == cli(*small("sudoku", "-n", count)).out
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_the_old_file(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "boards.txt"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", no_space)
    cli(*small("sudoku", "-o", path)).refused(f"{path}: cannot be written: No space left on device")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_output_that_cannot_be_written_is_told_before_drawing(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sudoku, "_draw", not_yet)
    cli("generate", "sudoku", "--output", tmp_path).refused(f"error: {tmp_path}: this is a directory; name a file to write")
    cli("generate", "sudoku", "--output", tmp_path / "nowhere" / "a.txt").refused("a.txt: cannot be written: there is no folder")
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("terminal")
def test_a_progress_bar_on_a_terminal_leaves_standard_output_alone(cli: Cli) -> None:
    ran = cli(*small("sudoku", "-n", 3))
    assert [csp.n for csp in formats.read_problems(ran.out.encode())] == [16] * 3
    assert "drawing sudoku" in ran.err
    assert "3/3" in ran.err


def test_ctrl_c_writes_nothing(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual, drawn = Sudoku._draw, 0

    def draw(self: Sudoku, rng: np.random.Generator, count: int, params: Any) -> list[CSP]:
        nonlocal drawn
        if drawn:
            raise KeyboardInterrupt
        drawn += count
        return usual(self, rng, count, params)

    monkeypatch.setattr(Sudoku, "_draw", draw)
    for output in ([], ["--output", tmp_path / "boards.txt"]):
        drawn = 0
        ran = cli(*small("sudoku", "--count", PORTION + 1, *output))
        assert (ran.code, ran.out, ran.err) == (130, "", "interrupted\n")
        assert drawn == PORTION
    assert not list(tmp_path.iterdir())


# --- wrong parameters ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ("sudoku --box 7", ["'box' must be 2, 3, 4 or 5, not 7"]),
        ("sudoku --box three", ["'box' must be a whole number, not 'three'"]),
        ("sudoku --box 2..3", ["'box' must be a whole number, not [2, 3]"]),
        ("sudoku --givens 42..31", ["'givens'", "low <= high", "[42, 31]"]),
        ("sudoku --givens 31-42", ["'givens'", "low..high on the command line", "'31-42'"]),
        ("sudoku --givens 31..", ["'givens'", "low..high on the command line"]),
        ("sudoku --givens 1,2,3", ["'givens'", "low..high on the command line"]),
        ("sudoku --givens 30.5", ["'givens' must be a whole number, not 30.5"]),
        ("sudoku --givens -5", ["'givens' must lie within 0 and 81, not -5"]),
        (f"sudoku --givens {10**30}", ["'givens' must lie within 0 and 81"]),
        ("sudoku --givens 20..25 --unique", ["9×9 with one solution", "22 givens or more, not 20"]),
        ("sudoku --given 30", ["--given", "--givens", "See consformer generate sudoku --help"]),
        ("sudoku --unique yes", ["unexpected extra argument", "yes"]),
        ("sudoku --count many", ["Invalid value for '--count'"]),
        ("coloring --vertices 1", ["'vertices' must start from 2, not 1"]),
        ("coloring --vertices 5 --colors 9", ["none of", "5 vertices", "9 colours", "--no-filter"]),
        ("coloring --kinds er,bb", ["'kinds'", "'er' or 'ba' or 'geo'", "not 'bb'", "did you mean 'ba'?"]),
        ("coloring --kinds=", ["'kinds'", "'er' or 'ba' or 'geo'"]),
        (f"coloring --vertices {10**30}", ["at most 10000000 variables"]),
        (f"coloring --vertices 6 --no-filter --colors {10**9}", ["6 variables with 1000000000 values"]),
        ("maxcut --vertices 8", ["'vertices' must start from 9, not 8"]),
        ("maxcut --density 0", ["'density' must be above 0 and at most 1"]),
        ("maxcut --density nan", ["'density'", "'nan'"]),
        ("maxcut --density 1e999", ["'density' must be above 0 and at most 1"]),
        ("maxcut --weights sined", ["'weights' must be 'unit' or 'signed'", "did you mean 'signed'?"]),
        (f"maxcut --vertices {10**30}", ["at most 10000000 variables"]),
        ("nurse --days 0", ["'days' must start from 1, not 0"]),
        ("nurse --nurses 5", ["3 shifts of 3 slots need 9 nurses or more, not 5"]),
        (f"nurse --days {10**9}", ["at most 10000000 variables"]),
    ],
)
def test_wrong_parameters_are_told_in_one_line(cli: Cli, tmp_path: Path, arguments: str, parts: list[str]) -> None:
    cli("generate", *arguments.split(), "--output", tmp_path / "problems.txt").refused(*parts)
    assert not list(tmp_path.iterdir())

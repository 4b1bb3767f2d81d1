from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from consformer import CSP, formats
from consformer.checker import check
from consformer.solving import refine
from tests.cli.running import Cli, clique, no_space, process
from tests.helpers import gibbs

KEYS = ["status", "family", "values", "violations", "objective", "iterations", "seconds", "network", "seed"]


# --- one problem --------------------------------------------------------------------------------------------------


def test_a_document(cli: Cli, board: Path, network: Path) -> None:
    ran = cli("solve", board, "--network", network, "--iterations", 300, "--seed", 3, "--json")
    assert (ran.code, ran.err) == (0, "")
    document = ran.document
    assert [key for key in document if key in KEYS] == KEYS
    assert "index" not in document
    assert (document["status"], document["family"], document["violations"], document["objective"]) == ("solved", "sudoku", 0, None)
    assert (document["network"], document["seed"]) == ("gibbs", 3)
    assert document["broken"] == []
    assert 0 < document["iterations"] <= 300
    assert document["seconds"] >= 0
    (csp,) = formats.read_problems(board)
    assert check(csp, [value - 1 for value in document["values"]]).solved
    assert document["answer"]["board"] == "".join(map(str, document["values"]))


def test_shown_to_people(cli: Cli, board: Path, network: Path) -> None:
    ran = cli("solve", board, "--network", network, "--iterations", 300)
    assert (ran.code, ran.err) == (0, "")
    *grid, last = ran.out.splitlines()
    assert grid[0] == "+-------+-------+"
    assert last.startswith("SOLVED · ")
    assert last.endswith("network gibbs, seed 0")


def test_the_best_attempt_is_given_when_the_limit_is_reached(cli: Cli, unsolvable: Path, network: Path) -> None:
    arguments = ["solve", unsolvable, "--colors", 4, "--network", network, "--iterations", 40]
    ran = cli(*arguments, "--json")
    assert (ran.code, ran.err) == (3, "")
    document = ran.document
    assert (document["status"], document["violations"], document["iterations"]) == ("unsolved", 1, 40)
    assert len(document["broken"]) == 1
    ran = cli(*arguments)
    assert ran.code == 3
    assert "edges in conflict (1)" in ran.out
    assert ran.out.splitlines()[-1].startswith("BEST FOUND · 1 violated · 40 iterations")


def test_wide_boards_are_not_cut_off(cli: Cli, tmp_path: Path, network: Path) -> None:
    (tmp_path / "large.txt").write_text(" ".join(["0"] * 625))
    ran = cli("solve", tmp_path / "large.txt", "--network", network, "--iterations", 0)
    assert len({len(line) for line in ran.out.splitlines()[:31]}) == 1
    assert ran.out.splitlines()[0].count("+") == 6


def test_the_objective_of_maxcut_is_the_cut(cli: Cli, tmp_path: Path, network: Path) -> None:
    edges = {(1, 2): 3, (2, 3): -1, (3, 4): 2, (1, 4): 2.5, (1, 3): 1}
    (tmp_path / "graph.txt").write_text("4 5\n" + "".join(f"{one} {two} {weight}\n" for (one, two), weight in edges.items()))
    ran = cli("solve", tmp_path / "graph.txt", "--network", network, "--iterations", 60, "--json")
    assert (ran.code, ran.err) == (0, "")
    document = ran.document
    sides = document["values"]
    cut = sum(weight for (one, two), weight in edges.items() if sides[one - 1] != sides[two - 1])
    assert document["family"] == "maxcut"
    assert document["objective"] == document["answer"]["cut"] == cut == 6.5
    text = cli("solve", tmp_path / "graph.txt", "--network", network, "--iterations", 60).out
    assert "cut 6.5" in text
    assert "objective 6.5" in text


def test_any_csp_as_json_in_the_users_own_terms(cli: Cli, tmp_path: Path, network: Path) -> None:
    (tmp_path / "map.json").write_bytes(formats.get("csp_json").sample())
    ran = cli("solve", tmp_path / "map.json", "--network", network, "--iterations", 100, "--json")
    assert ran.code == 0
    assert ran.document["values"] == ["red", "green", "red"]
    assert ran.document["answer"]["values"] == {"WA": "red", "NT": "green", "SA": "red"}


def test_standard_input(cli: Cli, board: Path, network: Path) -> None:
    ran = cli("solve", "-", "--network", network, "--iterations", 300, "--json", input=board.read_bytes())
    assert ran.document["values"] == cli("solve", board, "--network", network, "--iterations", 300, "--json").document["values"]
    cli("solve", "-", "--network", network, input="12\n").refused("error: standard input: ")


# --- many problems ------------------------------------------------------------------------------------------------


def test_a_document_per_line(cli: Cli, boards: Path, network: Path) -> None:
    ran = cli("solve", boards, "--network", network, "--iterations", 300, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert [next(iter(document)) for document in ran.documents] == ["index"] * 3
    assert [document["index"] for document in ran.documents] == [0, 1, 2]
    assert all(set(KEYS) <= set(document) for document in ran.documents)
    ran = cli("solve", boards, "--network", network, "--iterations", 300)
    lines = ran.out.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("    0  SOLVED · ")
    assert lines[-1] == "3 of 3 solved (100.0 %)"


def test_one_unsolved_among_many(cli: Cli, tmp_path: Path, network: Path) -> None:
    problem = json.loads(formats.get("csp_json").sample())
    impossible = problem | {"constraints": [{"kind": "cardinality", "scope": [0], "value": "green", "count": 1}]}
    (tmp_path / "maps.jsonl").write_text(json.dumps(problem) + "\n" + json.dumps(impossible) + "\n")
    ran = cli("solve", tmp_path / "maps.jsonl", "--network", network, "--iterations", 50, "--json")
    assert (ran.code, ran.err) == (3, "")
    assert [document["status"] for document in ran.documents] == ["solved", "unsolved"]
    assert cli("solve", tmp_path / "maps.jsonl", "--network", network, "--iterations", 50).out.endswith("1 of 2 solved (50.0 %)\n")


# --- options ------------------------------------------------------------------------------------------------------


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What `solve` asks for, filled by a call."""
    asked: dict[str, Any] = {}

    def note(problems: list[CSP], **given: Any) -> Any:
        asked.update(given, problems=problems)
        return refine(problems, **given | {"network": gibbs(), "iterations": 0})

    monkeypatch.setattr("consformer.solving.refine", note)
    return asked


def test_every_option_arrives(cli: Cli, settings: dict[str, Any], tmp_path: Path) -> None:
    graph = clique(tmp_path / "graph.txt", 3)
    cli(
        *("solve", graph, "--family", "coloring", "--format", "dimacs_col", "--colors", 6, "--network", "any", "--pool", 3),
        *("--iterations", 9, "--time-limit", 2.5, "--p", "0.5..0.9", "--temperature", "0.5->0.1", "--select", "conflicts"),
        *(
            "--redraw",
            1,
            "--decode",
            "greedy",
            "--restart",
            7,
            "--restarts",
            "cross",
            "--patience",
            "luby",
            "--depth",
            2,
            "--seed",
            11,
            "--quiet",
        ),
    )
    (csp,) = settings.pop("problems")
    assert (csp.family, csp.n, csp.m) == ("coloring", 3, 6)
    assert settings == {
        "network": "any",
        "pool": 3,
        "iterations": 9,
        "time_limit": 2.5,
        "p": "0.5..0.9",
        "temperature": "0.5->0.1",
        "select": "conflicts",
        "redraw": "1",
        "decode": "greedy",
        "restart": 7,
        "restarts": "cross",
        "patience": "luby",
        "depth": 2,
        "seed": 11,
    }


def test_what_is_asked_for_by_default(cli: Cli, settings: dict[str, Any], board: Path) -> None:
    cli("solve", board)
    settings.pop("problems")
    names = ["iterations", "time_limit", "p", "temperature", "select", "redraw", "decode", "restart", "restarts", "patience", "depth"]
    nothing = dict.fromkeys(["network", "pool", *names])
    assert settings == {"seed": 0, **nothing}


def test_a_graph_as_another_family(cli: Cli, settings: dict[str, Any], tmp_path: Path) -> None:
    cli("solve", clique(tmp_path / "graph.col", 3), "--family", "maxcut")
    assert settings["problems"][0].family == "maxcut"


def test_the_same_seed_gives_the_same_answer(cli: Cli, tmp_path: Path, network: Path) -> None:
    graph = clique(tmp_path / "k9.col", 9)

    def values(seed: int) -> list[int]:
        arguments = ["solve", graph, "--colors", 8, "--network", network, "--iterations", 5, "--pool", 2, "--json"]
        document = cli(*arguments, "--seed", seed).document
        assert document["seed"] == seed
        found: list[int] = document["values"]
        return found

    assert values(1) == values(1)
    assert len({tuple(values(seed)) for seed in range(4)}) > 1


@pytest.mark.parametrize(
    "options",
    [
        ["--select", "conflicts"],
        ["--select", "bandit"],
        ["--decode", "greedy"],
        ["--restart", 5],
        ["--restart", 5, "--restarts", "mixed", "--patience", "adaptive"],
        ["--p", "0.5"],
        ["--temperature", "0.3^1/10"],
        ["--temperature", "0.5->0.2/10"],
        ["--pool", 4],
    ],
    ids=lambda options: "".join(map(str, options)),
)
def test_ways_to_search(cli: Cli, board: Path, network: Path, options: list[object]) -> None:
    ran = cli("solve", board, "--network", network, "--iterations", 40, "--json", *options)
    assert ran.code in (0, 3)
    assert ran.document["violations"] < 12


def test_the_time_limit_is_kept(cli: Cli, unsolvable: Path, network: Path) -> None:
    """(To less than an iteration: see the tests of `search/refine.py`, which have a clock of their own.)"""
    ran = cli("solve", unsolvable, "--colors", 4, "--network", network, "--method", "network", "--time-limit", 0.5, "--json")
    assert ran.code == 3
    assert ran.document["iterations"] > 0
    assert 0.4 < ran.document["seconds"] < 5  # on a busy machine, too


def test_no_time_at_all_still_gives_an_attempt(cli: Cli, boards: Path, network: Path) -> None:
    ran = cli("solve", boards, "--network", network, "--time-limit", 0, "--json")
    assert ran.code == 3
    assert [len(document["values"]) for document in ran.documents] == [16, 16, 16]
    assert ran.err == "time was over before 3 of 3 problems had a turn: give more with --time-limit\n"


def test_standard_output_is_no_file(cli: Cli, board: Path) -> None:
    cli("solve", board, "--output", "-").refused("the answers are on standard output anyway")


# --- by several parts ---------------------------------------------------------------------------------------------


def test_what_has_no_solution_is_proved(cli: Cli, unsolvable: Path) -> None:
    ran = cli("solve", unsolvable, "--colors", 4)
    assert (ran.code, ran.err) == (4, "")
    assert ran.out.startswith(
        "INFEASIBLE · proved by propagation (not_equal over 1, 2, 3, 4, 5: the values 1, 2, 3, 4 are left for 5 variables)"
    )
    document = cli("solve", unsolvable, "--colors", 4, "--json").document
    assert (document["status"], document["proof"]["by"], document["proof"]["of"]) == ("infeasible", "propagation", "infeasible")


@pytest.mark.parametrize("quiet", [False, True])
def test_compiling_is_told(cli: Cli, boards: Path, network: Path, quiet: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consformer.compiled.SLOW", 0.02)
    monkeypatch.setattr("consformer.compiled.loaded", lambda module: False)
    monkeypatch.setattr("consformer.compiled.failure", lambda module: time.sleep(0.2))
    ran = cli("solve", boards, "--network", network, "--method", "local", "--json", *(["--quiet"] if quiet else []))
    line = "compiling local search: once per installation, and off the clock\n"
    assert (ran.code, ran.err) == (0, "" if quiet else line * 3)


def test_a_puzzle_that_propagation_settles_needs_no_compiler(board: Path) -> None:
    code = "import sys; from consformer.cli.app import run; from consformer.cli import commands\n"
    code += "code = run(sys.argv[1:]); print('numba' in sys.modules, file=sys.stderr); sys.exit(code)"
    (board.parent / "easy.txt").write_text("1234341221430000\n")
    with process("solve", board.parent / "easy.txt", "--json", code=code) as ran:
        out, told = ran.communicate()
    assert (ran.returncode, told) == (0, "False\n")
    assert json.loads(out)["account"]["parts"][0]["finished"]


def test_the_account_names_who_found_it(cli: Cli, boards: Path) -> None:
    for document in cli("solve", boards, "--json").documents:
        finders = [part["name"] for part in document["account"]["parts"] if part["finished"]]
        assert finders == [document["account"]["steps"][-1]["part"]]
        assert document["account"]["steps"][-1]["violations"] == 0


def test_the_way_to_the_answer_is_drawn(cli: Cli, unsolvable: Path, boards: Path, tmp_path: Path) -> None:
    ran = cli("solve", unsolvable, "--colors", 5, "--plot", tmp_path / "way.png")
    assert ran.code == 0
    assert (tmp_path / "way.png").read_bytes().startswith(b"\x89PNG")
    assert cli("solve", unsolvable, "--colors", 4, "--method", "network", "--iterations", 5, "--plot", tmp_path / "way.svg").code == 3
    assert "violations of the best" in (tmp_path / "way.svg").read_text()
    cli("solve", boards, "--plot", tmp_path / "way.png").refused("--plot draws the way to one answer")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--method", "hybird"], "did you mean 'hybrid'"),
        (["--without", "network", "--method", "local", "--without", "local"], "nothing is left"),
        (["--without", "locale"], "did you mean 'local'"),
    ],
)
def test_wrong_methods_and_parts(cli: Cli, board: Path, options: list[str], told: str) -> None:
    cli("solve", board, *options).refused(told)


# --- written to a file --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "option"), [("a.json", []), ("a.jsonl", []), ("a.txt", ["--json"])])
def test_answers_as_json_in_a_file(cli: Cli, boards: Path, network: Path, tmp_path: Path, name: str, option: list[str]) -> None:
    ran = cli("solve", boards, "--network", network, "--iterations", 200, "--output", tmp_path / name, *option)
    written = [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]
    assert [document["index"] for document in written] == [0, 1, 2]
    assert set(KEYS) <= set(written[0])
    if option:
        assert ran.documents == written


def test_answers_as_text_in_a_file(cli: Cli, boards: Path, network: Path, tmp_path: Path) -> None:
    path = tmp_path / "solved.txt"
    ran = cli("solve", boards, "--network", network, "--iterations", 300, "-o", path)
    assert (ran.code, ran.err) == (0, "")
    assert all(csp.given.min() >= 0 for csp in formats.read_problems(path)), "boards without a blank"
    graph = clique(tmp_path / "graph.col", 3)
    cli("solve", graph, "--network", network, "--output", tmp_path / "colours.txt")
    assert set(json.loads((tmp_path / "colours.txt").read_text())["colors"]) == {"1", "2", "3"}


@pytest.mark.usefixtures("never_solving")
def test_an_output_that_cannot_be_written_is_told_before_solving(cli: Cli, board: Path, tmp_path: Path) -> None:
    cli("solve", board, "--output", tmp_path / "nowhere" / "a.txt").refused("a.txt: cannot be written: there is no folder", "make it")
    cli("solve", board, "--output", tmp_path).refused(f"{tmp_path}: this is a directory; name a file")
    cli("solve", board, "--output", board).refused(f"{board}: this is the file with the problems")
    assert board.read_text() == "1030020000004003\n"
    assert [path.name for path in tmp_path.iterdir()] == ["board.txt"]


@pytest.mark.usefixtures("never_solving")
def test_an_output_without_permission(cli: Cli, board: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text("old")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    cli("solve", board, "--output", tmp_path / "a.txt").refused("a.txt: cannot be written: no permission")
    assert (tmp_path / "a.txt").read_text() == "old"


def test_a_disk_that_is_full_at_the_end(cli: Cli, board: Path, network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is on standard output, and what was in the file before still is."""
    path = tmp_path / "a.txt"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", no_space)
    ran = cli("solve", board, "--network", network, "--iterations", 300, "--output", path, "--json")
    assert ran.code == 2
    assert ran.document["status"] == "solved"
    assert ran.err == f"error: {path}: cannot be written: No space left on device; name another file\n"
    assert path.read_text() == "old"

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from consformer import CSP, families, formats
from consformer.checker import check
from consformer.cli.solve import _done, _note, headline
from consformer.networks import EquivariantNetwork, TokenConfig, TokenNetwork
from consformer.search.refine import Event
from consformer.solving import refine, solve
from consformer.training.checkpoint import Card, save_network
from tests.cli.running import Cli, clique, no_permission, no_space, not_yet, process
from tests.helpers import cycle, gibbs

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
    nothing = dict.fromkeys(names)
    assert settings == {"network": "auto", "pool": 1, "seed": 0, **nothing}


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
    monkeypatch.setattr("consformer.hybrid.run.SLOW", 0.02)
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


@pytest.fixture
def never_solving(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consformer.solving.refine", not_yet)


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


# --- bad input ----------------------------------------------------------------------------------------------------

CSP_JSON = '{"format": "consformer-csp", "version": 1, "values": [1, 2], "variables": {"count": 2, "fixed": {"0": 7}}, "constraints": []}'

BAD_FILES: dict[str, tuple[str | bytes, list[str]]] = {
    "a board of 80 characters": ("." * 80, [":1: ", "81", "80"]),
    "a letter in a board": ("." * 81 + "\n" + "12x" + "." * 78, [":2: ", "'x'", "r1c3", "1 to 9"]),
    "contradictory givens": ("1" + "." * 7 + "1" + "." * 72, [":1: ", "r1c1 and r1c9", "same row", "must go"]),
    "a header that disagrees": ("c comment\np edge 3 5\ne 1 2\n", [":2: ", "5 edges, but 1", "correct"]),
    "a vertex out of range": ("p edge 3 1\ne 1 4\n", [":2: ", "vertex 4 is out of range", "1 to 3"]),
    "a self-loop": ("p edge 3 1\ne 2 2\n", [":2: ", "vertex 2", "itself", "no colouring exists", "remove"]),
    "an empty file": ("", [": ", "empty", "at least one problem"]),
    "nothing but blanks": (" \n\n", [": ", "empty", "at least one problem"]),
    "a binary file": (b"\x00\xff\xfe" * 50, [": ", "not a text file", "give a text file"]),
    "a torch file that is none": (b"PK\x03\x04" + b"\x00" * 50, [": ", "torch", "damaged"]),
    "a value outside a domain": (CSP_JSON, [": ", "variables.fixed.0", "7", "values"]),
    "no JSON": ('{"format": "consformer-csp",\n "version" 1}', [":2: ", "not valid JSON"]),
    "a poem": ("Shall I compare thee to a summer's day?\n", [": ", "no format known here", "name the format"]),
}


@pytest.mark.usefixtures("never_solving")
@pytest.mark.parametrize("name", BAD_FILES)
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_bad_files(cli: Cli, tmp_path: Path, name: str, as_json: bool) -> None:
    content, (place, *parts) = BAD_FILES[name]
    path = tmp_path / "problem.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    ran = cli("solve", path, "--output", tmp_path / "answers.txt", *(["--json"] if as_json else []))
    ran.refused(f"error: {path}{place}", *parts)
    assert [found.name for found in tmp_path.iterdir()] == ["problem.txt"]


@pytest.mark.usefixtures("never_solving")
def test_files_that_cannot_be_read(cli: Cli, tmp_path: Path, board: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("solve", tmp_path).refused(f"error: {tmp_path}: this is a directory", "give a file")
    cli("solve", tmp_path / "nowhere.txt").refused("nowhere.txt: there is no such file", "check the path")
    monkeypatch.setattr(Path, "read_bytes", no_permission)
    cli("solve", board).refused(f"error: {board}: ", "no permission", "chmod +r")


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--family", "sodoku"], ["unknown family 'sodoku'", "did you mean 'sudoku'?", "coloring"]),
        (["--family", "coloring"], ["does not hold a coloring problem but a board"]),
        (["--format", "sudoku_line"], ["unknown format 'sudoku_line'", "did you mean 'sudoku_lines'?"]),
        (["--format", "gset"], ["board.txt:1: ", "<vertices> <edges>"]),
        (["--network", "ani"], ["unknown network 'ani'", "did you mean 'any'?"]),
        (["--network", "nowhere.safetensors"], ["nowhere.safetensors: cannot be read"]),
        (["--colors", "3"], ["sudoku has no option 'colors'"]),
        (["--pool", "0"], ["pool must be a whole number from 1, not 0"]),
        (["--iterations", "-1"], ["iterations must be a whole number from 0, not -1"]),
        (["--time-limit", "nan"], ["time limit must be a number"]),
        (["--p", "half"], ["p 'half' is not understood", "0.7..1"]),
        (["--temperature", "0"], ["temperature '0' is out of range"]),
        (["--select", "best"], ["unknown selection 'best'", "conflicts, gradient"]),
        (["--decode", "best"], ["unknown decoding 'best'", "greedy, sample"]),
        (["--restart", "0"], ["restart must be a whole number from 1"]),
        (["--seed", "-1"], ["seed must be a whole number from 0"]),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) and str(given[0]).startswith("--") else "",
)
def test_bad_options(cli: Cli, board: Path, network: Path, options: list[str], parts: list[str]) -> None:
    default = [] if "--network" in options else ["--network", str(network)]
    cli("solve", board, *default, *options, "--output", board.with_name("a.txt")).refused(*parts)
    assert not board.with_name("a.txt").exists()


def test_damaged_networks(cli: Cli, board: Path, network: Path, tmp_path: Path) -> None:
    for size in (0, 4, 100, -1):
        (tmp_path / "cut.safetensors").write_bytes(network.read_bytes()[:size])
        cli("solve", board, "--network", tmp_path / "cut.safetensors").refused(f"error: {tmp_path}/cut.safetensors: ")
    (tmp_path / "text.safetensors").write_text("not a network")
    cli("solve", board, "--network", tmp_path / "text.safetensors").refused("text.safetensors: is not a safetensors file")
    cli("solve", board, "--network", tmp_path).refused(str(tmp_path))


def test_a_network_that_does_not_fit(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "large.txt").write_text(" ".join(["0"] * 256))
    token = TokenNetwork(TokenConfig(values=9, width=8, layers=1, heads=1))
    save_network(tmp_path / "nine.safetensors", token, Card("nine", "token", token.config_dict()))
    ran = cli("solve", tmp_path / "large.txt", "--network", tmp_path / "nine.safetensors", "--output", tmp_path / "a.txt")
    ran.refused("at most 9 values, the problem has 16")
    assert not (tmp_path / "a.txt").exists()


# --- interrupted --------------------------------------------------------------------------------------------------


@pytest.fixture
def press_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Ctrl-C at the given calls of the network."""

    def at(*calls: int) -> None:
        made = 0
        usual = EquivariantNetwork.forward

        def forward(self: EquivariantNetwork, csp: CSP, values: Tensor, subset: Tensor, temperature: Tensor) -> Tensor:
            nonlocal made
            made += 1
            for _ in range(calls.count(made)):
                signal.raise_signal(signal.SIGINT)
            return usual(self, csp, values, subset, temperature)

        monkeypatch.setattr(EquivariantNetwork, "forward", forward)

    return at


def test_ctrl_c_gives_the_best_attempt(
    cli: Cli, unsolvable: Path, network: Path, press_ctrl_c: Callable[..., None], tmp_path: Path
) -> None:
    press_ctrl_c(25)
    arguments = ["solve", unsolvable, "--colors", 4, "--network", network, "--method", "network", "--time-limit", 60, "--json"]
    arguments += ["-o", tmp_path / "a.json"]
    ran = cli(*arguments)
    assert ran.code == 130
    assert ran.err == "interrupted: this is the best that was found until then\n"
    assert (ran.document["status"], ran.document["violations"], ran.document["iterations"]) == ("unsolved", 1, 25)
    assert json.loads((tmp_path / "a.json").read_text()) == ran.document


def test_a_second_ctrl_c_does_not_wait(cli: Cli, unsolvable: Path, network: Path, press_ctrl_c: Callable[..., None]) -> None:
    press_ctrl_c(5, 5)
    ran = cli("solve", unsolvable, "--colors", 4, "--network", network, "--method", "network", "--time-limit", 60, "--json")
    assert (ran.code, ran.out, ran.err) == (130, "", "interrupted\n")


def test_ctrl_c_while_the_answers_are_checked(cli: Cli, board: Path, network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted_check(*arguments: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return check(*arguments)

    monkeypatch.setattr("consformer.checker.check", interrupted_check)
    ran = cli("solve", board, "--network", network, "--iterations", 300, "--json")
    assert ran.code == 130
    assert ran.document["status"] == "solved"


def test_results_tell_which_searches_were_interrupted(press_ctrl_c: Callable[..., None]) -> None:
    easy, hard = cycle(4, 4), families.get("coloring").unpack({"n": 3, "colors": 2, "kind": None, "edges": [0, 1, 0, 2, 1, 2]})
    press_ctrl_c(200)
    results = solve([easy, hard], network=gibbs(), method="network", time_limit=60)
    assert [(result.status, result.effort.interrupted) for result in results] == [("solved", False), ("unsolved", True)]
    assert not solve(hard, network=gibbs(), iterations=5).effort.interrupted


def test_ctrl_c_at_the_keyboard(unsolvable: Path, network: Path) -> None:
    """As a process of its own, in the middle of a long search."""
    command = ["solve", unsolvable, "--colors", 4, "--network", network, "--method", "network", "--time-limit", 60, "--json"]
    running = process(*command, code=TELL_WHEN_SOLVING)
    assert running.stderr is not None
    assert running.stderr.readline() == "solving\n"
    time.sleep(0.3)
    running.send_signal(signal.SIGINT)
    out, told = running.communicate(timeout=30)
    assert running.returncode == 130
    assert told == "interrupted: this is the best that was found until then\n"
    document = json.loads(out)
    assert (document["status"], document["violations"]) == ("unsolved", 1)
    assert document["seconds"] < 30


TELL_WHEN_SOLVING = """
import sys
from consformer.cli import main
from consformer.search.refine import Refinement

usual = Refinement.__iter__

def started(self):
    print("solving", file=sys.stderr, flush=True)
    return usual(self)

Refinement.__iter__ = started
main()
"""


# --- the progress bar ---------------------------------------------------------------------------------------------


def event(**given: Any) -> Event:
    return Event(**{"iteration": 5, "seconds": 1.0, "total": 1, "finished": 0, "solved": 0, "violations": 2, "cost": 0.0, **given})


def test_what_the_progress_bar_says() -> None:
    csp = cycle(4, 2)
    assert _note(event(), [csp]) == "iteration 5, 2 violated"
    assert _note(event(total=7, solved=3), [csp] * 7) == "3/7 solved, iteration 5"
    (cut,) = formats.read_problems(b"3 2\n1 2 2\n2 3 2\n")
    assert _note(event(violations=0, cost=2.0), [cut]) == "iteration 5, objective 2"


def test_how_far_the_progress_bar_is() -> None:
    def done(found: Event, **settings: Any) -> float:
        return _done(found, refine([cycle(4, 2)], network=gibbs(), **settings))

    assert done(event(), iterations=20) == 0.25
    assert done(event(), iterations=20, time_limit=2) == 0.5
    assert done(event(total=4, finished=3), iterations=20) == 0.75
    assert done(event(seconds=3.0), time_limit=2) == 1.0


def test_headline() -> None:
    torch.manual_seed(0)
    result = solve(cycle(4, 2), network=gibbs(), iterations=1)
    assert "1 iteration, " in headline(result) or "0 iterations, " in headline(result)
    assert headline(result).endswith("network EquivariantNetwork, seed 0")

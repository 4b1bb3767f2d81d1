"""`consformer solve` with files, options and networks that are not as they should be."""

from __future__ import annotations

from pathlib import Path

import pytest

from consformer.networks import TokenConfig, TokenNetwork
from consformer.training.checkpoint import Card, save_network
from tests.cli.running import Cli, no_permission

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

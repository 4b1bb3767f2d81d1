from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from consformer.training.checkpoint import Card, network_names, read_card, save_network
from tests.cli.running import Cli
from tests.helpers import gibbs

TRAINING = {
    "steps": 2000,
    "samples": 128_000,
    "core_minutes": 7.5,
    "machine": "an abacus, 9 cores",
    "date": "2026-01-02",
    "commit": "abc123",
}
MEASURED = {
    "set": "sudoku 31..42",
    "solved": 98,
    "count": 100,
    "result": "98 of 100 = 98.0 %",
    "limit": "200 iterations",
    "cpsat": "100 in 10 s",
    "command": "python benchmarks/shipped.py",
    "date": "2026-01-03",
    "commit": "def456",
}
FIGURES: dict[str, Any] = {
    "families": ("sudoku", "nurse"),
    "constraints": ("all_different",),
    "recipe": {"description": "Made for a [b]test[/]", "seed": 7},
    "training": TRAINING,
    "results": {"validation": {"sudoku/0": 0.875, "maxcut/1 weight": 0.9}, "measured": [MEASURED]},
    "search": {"p": "0.9", "temperature": "0.25^1/25"},
    "soft_search": {"p": "0.2", "temperature": "0.5->0.1"},
}


@pytest.fixture
def described(tmp_path: Path) -> Callable[..., Path]:
    """Makes a network file that says this about itself."""

    def make(**figures: Any) -> Path:
        path = tmp_path / "mine.safetensors"
        save_network(path, gibbs(), Card("mine", "equivariant", gibbs().config_dict(), **figures))
        return path

    return make


# --- what ships ---------------------------------------------------------------------------------------------------


def test_what_ships_is_listed_with_its_figures(cli: Cli) -> None:
    ran = cli("models")
    assert (ran.code, ran.err) == (0, "")
    titles = [line for line in ran.out.splitlines() if not line.startswith(" ")]
    cards = [read_card(name) for name in network_names()]
    assert titles == [f"{card.name}  {card.architecture}, {card.parameters:,} parameters" for card in cards]
    for card in cards:
        assert str(card.recipe["description"]) in ran.out
        assert f"{card.training['steps']:,} steps" in ran.out
        assert f"temperature {card.search['temperature']}" in ran.out


def test_the_list_as_json(cli: Cli) -> None:
    ran = cli("models", "--json")
    assert (ran.code, ran.err) == (0, "")
    (listed,) = map(json.loads, ran.out.splitlines())
    assert [entry["name"] for entry in listed] == network_names()
    assert listed == [cli("models", name, "--json").document for name in network_names()]


# --- one network --------------------------------------------------------------------------------------------------


def test_everything_about_a_network_file(cli: Cli, described: Callable[..., Path]) -> None:
    path = described(**FIGURES)
    ran = cli("models", path)
    assert (ran.code, ran.err) == (0, "")
    text, brace, rest = ran.out.partition("{\n")
    assert text.splitlines() == [
        f"mine  equivariant, {read_card(path).parameters:,} parameters",
        "  Made for a [b]test[/]",
        "  trained on    sudoku, nurse (constraints: all_different)",
        "  training      2,000 steps, 128,000 samples, 7.5 core-minutes on an abacus, 9 cores, 2026-01-02",
        "  validation    sudoku/0: 87.5 % solved",
        "  validation    maxcut/1: 90.0 % of the weight",
        "  measured      sudoku 31..42: 98 of 100 = 98.0 % in 200 iterations; CP-SAT 100 in 10 s",
        "                by python benchmarks/shipped.py, 2026-01-03, commit def456",
        "  solves with   p 0.9, temperature 0.25^1/25",
        "  solves with   p 0.2, temperature 0.5->0.1 on soft constraints",
    ]
    assert json.loads(brace + rest) == {
        "config": gibbs().config_dict(),
        "recipe": FIGURES["recipe"],
        "results": FIGURES["results"],
    }


def test_the_list_leaves_out_how_it_was_measured(cli: Cli, described: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = described(**FIGURES).parent
    monkeypatch.setattr("consformer.training.checkpoint._shipped", lambda: shipped)
    ran = cli("models")
    assert ran.out.startswith("mine  equivariant, ")
    assert "98 of 100" in ran.out
    assert "benchmarks/shipped.py" not in ran.out
    assert "{" not in ran.out


def test_a_network_file_as_json(cli: Cli, described: Callable[..., Path]) -> None:
    path = described(**FIGURES)
    ran = cli("models", path, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.document == json.loads(json.dumps(asdict(read_card(path))))


def test_a_network_that_says_little_about_itself(cli: Cli, described: Callable[..., Path]) -> None:
    ran = cli("models", described())
    assert (ran.code, ran.err) == (0, "")
    title, brace, *_ = ran.out.splitlines()
    assert title.startswith("mine  equivariant, ")
    assert brace == "{"


# --- what is none -------------------------------------------------------------------------------------------------


def test_unknown_names(cli: Cli) -> None:
    cli("models", "ani").refused("unknown network 'ani': did you mean 'any'?", "there are: ")
    cli("models", "zzz", "--json").refused("unknown network 'zzz': there are: ", "any")


def test_files_that_are_no_networks(cli: Cli, tmp_path: Path, board: Path) -> None:
    cli("models", tmp_path / "nowhere.safetensors").refused("nowhere.safetensors: cannot be read: No such file")
    cli("models", tmp_path).refused(f"error: {tmp_path}: cannot be read: Is a directory")
    cli("models", board).refused(f"error: {board}: is not a safetensors file")


@pytest.mark.parametrize(
    "wrong",
    [
        {"training": {"steps": 5}},
        {"training": TRAINING | {"steps": "many"}},
        {"results": {"validation": [1]}},
        {"results": {"validation": {"sudoku/0": None}}},
        {"results": {"measured": [{}]}},
        {"results": {"measured": 3}},
    ],
)
def test_a_damaged_description(cli: Cli, described: Callable[..., Path], wrong: dict[str, Any]) -> None:
    path = described(**FIGURES | wrong)
    cli("models", path).refused(f"error: {path}: its description is damaged; get or train it again")

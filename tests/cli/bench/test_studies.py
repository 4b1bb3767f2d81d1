"""The commands of the studies: options arrive where they belong, help teaches, and a run can be looked at again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import Cli

STUDIES = ("selection", "positions", "gumbel", "multistart", "sgd", "speed")


@pytest.mark.parametrize("name", STUDIES)
def test_help_says_what_and_how(cli: Cli, name: str) -> None:
    shown = cli("bench", name, "--help").out
    assert "Examples" in shown
    assert f"consformer bench {name} --quick" in shown
    assert "--output" in shown


def test_pools_as_asked_for(cli: Cli, tmp_path: Path) -> None:
    command = ("bench", "multistart", "coloring-5-50", "--pool", 1, "--pool", 3, "--count", 1, "--time-limit", 0.2, "-o", tmp_path)
    ran = cli(*command, "--json", "--plot", tmp_path)
    assert ran.code == 0
    (table,) = json.loads(ran.out)["tables"]
    assert [row["candidates"] for row in table["rows"]] == ["1", "3", "CP-SAT"]
    assert (tmp_path / "multistart.png").stat().st_size > 1000
    again = cli(*command, "--markdown")
    assert again.out.startswith("**colouring-5, 50 vertices**")
    assert "0 of 3 to do" in again.err


def test_networks_are_trained_under_the_budget_asked_for(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONSFORMER_CACHE", str(tmp_path / "cache"))
    ran = cli(
        "bench", "gumbel", "--quick", "--core-minutes", 0.001, "--count", 2, "--iterations", 2, "--json", "-o", tmp_path, "--plot", tmp_path
    )
    assert ran.code == 0
    table, _ = json.loads(ran.out)["tables"]
    assert [(row["relaxation"], row["τ"]) for row in table["rows"]] == [
        ("Gumbel-softmax", 0.1),
        ("Gumbel-softmax", 1.0),
        ("softmax", 0.1),
        ("softmax", 1.0),
    ]
    assert len(list((tmp_path / "cache/networks").glob("*.safetensors"))) == 4
    assert (tmp_path / "gumbel.png").exists()


def test_what_is_wrong_is_told(cli: Cli, tmp_path: Path) -> None:
    cli("bench", "multistart", "colouring").refused("unknown set 'colouring'")
    cli("bench", "speed", "--graph", tmp_path / "none.txt").refused("none.txt")
    cli("bench", "selection", "--network", "anny", "--quick").refused("did you mean 'any'")

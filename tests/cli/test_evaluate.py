from __future__ import annotations

import json
from pathlib import Path

import pytest

from consformer.evaluation import set_names
from tests.cli.running import Cli


def test_a_summary_for_people(cli: Cli, boards: Path, network: Path) -> None:
    ran = cli("evaluate", network, boards, "--iterations", 300)
    assert (ran.code, ran.err) == (0, "")
    assert "gibbs on boards.txt" in ran.out
    assert "solved 3 of 3 = 100.0 % [43.8, 100.0]" in ran.out
    assert "within iterations" in ran.out
    assert "within seconds" not in ran.out


def test_a_document(cli: Cli, boards: Path, network: Path) -> None:
    document = cli("evaluate", network, boards, "--time-limit", 5, "--cpsat", 5, "--json").document
    assert (document["solved"], document["count"], document["cpsat"]["ratio"]) == (3, 3, 1.0)
    assert document["evaluation"]["limits"]["seconds"] == 5.0
    assert document["by_second"][-1][1] == 3


def test_recorded_and_resumed(cli: Cli, boards: Path, network: Path, tmp_path: Path) -> None:
    arguments = ["evaluate", network, boards, "--iterations", 300, "-o", tmp_path / "runs/record.jsonl", "--json"]
    first = cli(*arguments).document
    lines = (tmp_path / "runs/record.jsonl").read_text().splitlines()
    assert len(lines) == 4
    (tmp_path / "runs/record.jsonl").write_text("\n".join(lines[:2]) + "\n")
    again = cli(*arguments).document
    assert again["solved"] == first["solved"]
    assert [json.loads(line)["label"] for line in (tmp_path / "runs/record.jsonl").read_text().splitlines()[1:]] == [
        "boards:0",
        "boards:1",
        "boards:2",
    ]


def test_plot(cli: Cli, boards: Path, network: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert cli("evaluate", network, boards, "--iterations", 50, "--plot", tmp_path / "share.png").code == 0
    assert (tmp_path / "share.png").stat().st_size > 1000


def test_list(cli: Cli) -> None:
    out = cli("evaluate", "--list").out
    assert all(name in out for name in set_names())


def test_bad_usage(cli: Cli, boards: Path, network: Path, tmp_path: Path) -> None:
    cli("evaluate").refused("name a network and a set")
    cli("evaluate", "any", "sudko").refused("did you mean 'sudoku'")
    cli("evaluate", "anyy", boards).refused("did you mean 'any'")
    cli("evaluate", network, boards, "--plot", tmp_path).refused("this is a directory")
    (tmp_path / "record.jsonl").write_text("[]\n")
    cli("evaluate", network, boards, "-o", tmp_path / "record.jsonl").refused("record.jsonl")

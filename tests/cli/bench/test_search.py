from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Cli


@pytest.mark.usefixtures("here")
def test_a_quick_look(cli: Cli, tmp_path: Path) -> None:
    command = ["bench", "search", "coloring-5-50", "--quick", "--variant", "hybrid", "--variant", "cpsat", "-o", tmp_path]
    ran = cli(*command, "--json")
    assert ran.code == 0
    assert "8 of 8 to do, about 8 seconds or less" in ran.err
    (table,) = ran.document["tables"]
    assert table["title"] == "coloring-5-50, 1 s each"
    assert [(line["variant"], line["solved, 95 % interval"]["count"]) for line in table["rows"]] == [("hybrid", 4), ("cpsat", 4)]
    assert cli(*command, "--json").document == ran.document  # nothing is measured twice
    shown = cli(*command)
    assert "coloring-5-50, 1 s each" in shown.out
    assert "ended by" in shown.out
    assert "| hybrid |" in cli(*command, "--markdown").out


def test_wrong_names(cli: Cli) -> None:
    cli("bench", "search", "coloring-5-50", "--variant", "hybird").refused("did you mean 'hybrid'")
    cli("bench", "search", "colouring").refused("unknown set, file or folder")
    cli("bench", "search", "data/qcp").refused("data/qcp: is not there. Expected: a folder with Latin squares")
    assert "search" in cli("bench", "--help").out

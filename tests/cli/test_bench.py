from __future__ import annotations

import json
from pathlib import Path

from tests.cli.running import Cli


def test_a_quick_look(cli: Cli, tmp_path: Path) -> None:
    ran = cli("bench", "search", "coloring-5-50", "--quick", "--variant", "hybrid", "--variant", "cpsat", "--json", "-o", tmp_path)
    assert ran.code == 0
    document = json.loads(ran.out)
    assert document["set"] == "coloring-5-50"
    assert [(line["variant"], line["count"]) for line in document["lines"]] == [("hybrid", 4), ("cpsat", 4)]
    again = cli("bench", "search", "coloring-5-50", "--quick", "--variant", "hybrid", "--variant", "cpsat", "--json", "-o", tmp_path)
    assert json.loads(again.out) == document  # nothing is measured twice
    shown = cli("bench", "search", "coloring-5-50", "--quick", "--variant", "hybrid", "--variant", "cpsat", "-o", tmp_path)
    assert "coloring-5-50, 1 s each" in shown.out
    assert "ended by" in shown.out


def test_wrong_names(cli: Cli) -> None:
    cli("bench", "search", "coloring-5-50", "--variant", "hybird").refused("did you mean 'hybrid'")
    cli("bench", "search", "colouring").refused("unknown set, file or folder")
    assert "search" in cli("bench", "--help").out

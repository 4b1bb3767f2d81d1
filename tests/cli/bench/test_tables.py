"""A quick run of each table of the paper, with few problems and short limits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from consformer import families
from consformer.bench.data import VARIABLE
from tests.cli.running import Cli

pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture(autouse=True)
def _by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """No data of the machine."""
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.fixture
def graphs(tmp_path: Path) -> tuple[Path, Path]:
    """Three small graphs in the form of Gset, and their best cuts, or so."""
    folder = tmp_path / "graphs"
    folder.mkdir()
    maxcut = families.get("maxcut")
    rows = ["instance,recommended,weights"]
    for number, weights in ((1, "unit"), (2, "unit"), (3, "signed")):
        csps = maxcut.generate(np.random.default_rng(number), 1, {"vertices": [12, 12], "density": [0.3, 0.3], "weights": weights})
        (folder / f"G{number}.txt").write_text(maxcut.write(csps))
        rows.append(f"G{number},{csps[0].offset:g},{'+1' if weights == 'unit' else '+-1'}")
    (tmp_path / "best.csv").write_text("\n".join(rows) + "\n")
    return folder, tmp_path / "best.csv"


def test_coloring(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    chosen = ["--variant", "hybrid", "--variant", "cpsat", "--variant", "greedy-dsatur", "--variant", "tabucol"]
    command = ["bench", "coloring", "coloring-5-50", "--quick", *chosen, "-o", tmp_path / "records"]
    ran = cli(*command, "--json", "--plot", tmp_path / "plots")
    assert ran.code == 0, ran.err
    assert "8 of 8 to do" in ran.err
    (table,) = ran.document["tables"]
    assert [name for name in table["columns"] if "100" not in name] == ["", "50 vertices: % solved", "50 vertices, published", "notes"]
    measured = {row[""]: row["50 vertices: % solved"] for row in table["rows"]}
    assert measured["ours: hybrid"]["count"] == 2
    assert measured["ANYCSP"] is None
    assert (tmp_path / "plots/coloring.png").stat().st_size > 5000
    assert "published" in cli(*command).out
    cli("bench", "coloring", "coloring-5-5").refused("did you mean 'coloring-5-50'")
    cli("bench", "coloring", "--variant", "tabucoll").refused("did you mean 'tabucol'")


def test_nurse(cli: Cli) -> None:
    ran = cli("bench", "nurse", "nurse-10", "--quick", "--variant", "hybrid", "--network", "strict-nurse", "--markdown")
    assert ran.code == 0, ran.err
    assert "| ours: network strict-nurse alone | " in ran.out
    assert "| the paper's network | – | 100 |" in ran.out


def test_maxcut(cli: Cli, graphs: tuple[Path, Path], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    folder, best = graphs
    places = ["--graphs", folder, "--best-known", best, "--time-limit", 0.2]
    chosen = ["--variant", "hybrid", "--variant", "greedy", "--variant", "goemans-williamson"]
    ran = cli("bench", "maxcut", *places, *chosen, "--plot", tmp_path, "--json")
    assert ran.code == 0, ran.err
    unit, signed, published = ran.document["tables"]
    assert [row[""] for row in unit["rows"]] == ["ours: hybrid", "greedy", "Goemans–Williamson SDP (SCS)"]
    assert "Graphs: 2 (|V| = 800)." in unit["caption"]
    assert "Graphs: 1 (|V| = 800)." in signed["caption"]
    assert published["title"].startswith("Published")
    assert (tmp_path / "maxcut.png").stat().st_size > 5000
    only = cli("bench", "maxcut", *places, "--where", "weights=+1", "--count", 1, "--variant", "greedy", "--json")
    assert len(only.document["tables"]) == 2
    cli("bench", "maxcut").refused("--graphs is missing", "Gset", "CONSFORMER_DATA")
    cli("bench", "maxcut", "--graphs", tmp_path / "nowhere").refused("nowhere: is not there", "web.stanford.edu")


def test_sudoku(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    boards = tmp_path / "rrn.csv"
    boards.write_text("quiz,solution\n" + "1" + "0" * 80 + "," + "\n")
    command = ["bench", "sudoku", "--count", 2, "--iterations", 40, "--network", "any", "--variant", "cpsat"]
    ran = cli(*command, "--rrn", boards, "--json", "--plot", tmp_path)
    assert ran.code == 0, ran.err
    total = ran.document["tables"][0]
    row = next(row for row in total["rows"] if row[""] == "ours: network any alone, 40 iterations")
    assert (row["31–42 givens: % solved"]["count"], row["17–34 givens: % solved"]["count"]) == (2, 1)
    assert (tmp_path / "sudoku.png").stat().st_size > 5000
    without = cli(*command, "--variant", "none")
    assert "without boards of 17 to 34 givens" in without.err
    assert "Share solved" in without.out
    cli(*command, "--rrn", tmp_path / "none.csv").refused("is not there", "quiz,solution")
    cli("bench", "sudoku", "--variant", "hybird").refused("did you mean 'hybrid'")
    cli("bench", "sudoku", "--network", "anyy").refused("did you mean 'any'")


def test_report(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert cli("bench", "nurse", "nurse-10", "--count", 1, "--time-limit", 2, "--variant", "hybrid", "-o", tmp_path / "records").code == 0
    ran = cli("bench", "report", tmp_path / "records", "-o", tmp_path / "results.md")
    assert ran.code == 0, ran.err
    assert "## Nurse rostering" in (tmp_path / "results.md").read_text()
    assert (tmp_path / "results/nurse.png").exists()
    cli("bench", "report", tmp_path / "nowhere").refused("there is no such folder")

from __future__ import annotations

from pathlib import Path

import pytest

from consformer.bench import BenchRun
from consformer.bench.base import Unit
from consformer.bench.selection import CEILING, SHARES, Selection


def test_values_of_p_take_turns_on_the_same_problems() -> None:
    units = Selection(quick=True).units()
    boards = [unit for unit in units if unit.key[0] == "sudoku"]
    graphs = [unit for unit in units if unit.key[0] == "coloring-5-50"]
    assert [unit.key[1] for unit in boards] == list(SHARES)
    assert [unit.key[1] for unit in graphs] == [*SHARES, CEILING]


def test_counts_are_of_whole_portions() -> None:
    boards = [unit.key for unit in Selection(count=100).units() if unit.key[0] == "sudoku"]
    assert [key[2] for key in boards] == [0] * 6 + [1] * 6
    assert {key[2] for key in (unit.key for unit in Selection(count=30).units())} == {0}


def test_small_blocks_are_slower(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consformer.bench.selection.PORTION", 3)
    benchmark = Selection(count=3, iterations=12)
    monkeypatch.setattr(benchmark, "units", lambda: [Unit(("coloring-5-50", p, 0), 1.0) for p in ("0.7", "0.1", CEILING)])
    run = BenchRun(benchmark, tmp_path)
    assert len(list(run)) == 3
    (table,) = run.tables
    assert table.columns == ("p", "1 iterations", "5 iterations", "10 iterations")
    assert [line[0] for line in table.text()] == ["0.7", "0.1"]
    assert "CP-SAT finds a solution within 10 s for" in table.caption
    assert [plot.name for plot in run.plots] == ["selection"]
    quick, slow = ([row for row in run.record.rows if row["p"] == p] for p in ("0.7", "0.1"))
    assert sum(row["solved"] for row in quick) >= sum(row["solved"] for row in slow)


@pytest.mark.parametrize("count, told", [(100, ""), (150, " --count 150")])
def test_the_command_tells_how_many_problems(count: int, told: str) -> None:
    rows = [{"set": "sudoku", "p": "0.5", "index": index} for index in range(count)]
    assert Selection.asked(Selection(count=count).about, rows) == f"consformer bench selection{told}"
    assert Selection.asked(Selection().about, []) == "consformer bench selection"

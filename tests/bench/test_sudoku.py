from __future__ import annotations

from pathlib import Path

import pytest

from consformer.bench.run import BenchRun
from consformer.bench.sudoku import SudokuBench, solved_by
from consformer.bench.tables import Percent
from consformer.evaluation import load_set


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> BenchRun:
    folder: Path = tmp_path_factory.mktemp("records")
    started = BenchRun(SudokuBench([load_set("sudoku", count=5)], ["any"], ["hybrid"], iterations=30), folder)
    assert len(list(started)) == 6  # all boards together, and one by one
    return started


def test_rows_are_per_board(run: BenchRun) -> None:
    networks = [row for row in run.record.rows if row["variant"] == "network:any"]
    assert [row["label"] for row in networks] == ["0", "1", "2", "3", "4"]
    assert all(31 <= row["givens"] <= 42 for row in networks)
    assert all(row["iterations"] <= 30 for row in networks)


def test_tables_by_iterations_and_by_givens(run: BenchRun) -> None:
    total, by_givens = run.tables
    lines = {line[0]: line for line in total.rows}
    assert lines["ours: hybrid, 10 s"][1] == Percent(5, 5)
    measured = lines["ours: network any alone, 30 iterations"]
    assert isinstance(measured[1], Percent)
    assert measured[1].count == 5
    assert measured[3:5] == (None, None)
    assert lines["IRED"][1:5] == (None, None, "99.4", "62.1")
    assert (
        sum(row["boards"] for row in by_givens.to_json()["rows"])
        == sum(row["ours: hybrid"]["count"] for row in by_givens.to_json()["rows"])
        == 5
    )


def test_shares_at_marks() -> None:
    rows = [{"status": "solved", "iterations": 10}, {"status": "solved", "iterations": 200}, {"status": "unsolved", "iterations": 200}]
    assert [solved_by(rows, mark) for mark in (5, 10, 200)] == [Percent(0, 3), Percent(1, 3), Percent(2, 3)]


def test_the_command_has_what_was_asked_for() -> None:
    usual = {"count": 1000, "iterations": 10_000, "jobs": 1}
    assert SudokuBench.asked(usual, []) == SudokuBench.command
    assert SudokuBench.asked(usual | {"count": 300, "jobs": 2}, []) == f"{SudokuBench.command} --count 300 --jobs 2"

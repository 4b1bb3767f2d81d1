from __future__ import annotations

from pathlib import Path

import pytest

from consformer.bench import BenchRun
from consformer.bench.figures import labelled
from consformer.bench.multistart import CPSAT, PAPER, Multistart
from consformer.errors import UnknownNameError
from consformer.plots import new_figure


def test_pools_take_turns_on_each_graph(tmp_path: Path) -> None:
    run = BenchRun(Multistart(sets=["coloring-5-50"], pools=[1, 4], count=2, seconds=0.3), tmp_path)
    units = list(run)
    assert [unit.key[2] for unit in units] == [CPSAT, "1", "4"] * 2
    (table,) = run.tables
    assert [line[0] for line in table.text()] == ["1", "4", CPSAT]
    assert table.columns[:3] == ("candidates", "solved", "iterations of each candidate")
    assert not any("published" in name for name in table.columns)  # the paper has no such table for these
    assert [plot.name for plot in run.plots] == ["multistart"]


def test_graphs_without_a_colouring_are_spared() -> None:
    bench = Multistart(sets=["coloring-5-50"], pools=[1], count=1, seconds=0.3)
    unit = bench.units()[1]
    proved = {"set": "coloring-5-50", "index": unit.key[1], "pool": CPSAT, "solved": False, "status": "infeasible"}
    bench.recall([proved])
    (row,) = bench.measure(unit)
    assert row["status"] == "hopeless"
    (table,) = Multistart.tables(bench.about, [proved, {"set": "coloring-5-50", "index": unit.key[1], "pool": "1", **row}])
    assert table.text()[0][1:4] == ["0.0 [0.0–79.3]", "–", "–"]


def test_iterations_are_those_of_graphs_that_had_the_whole_time() -> None:
    rows = [
        {"set": "coloring-5-100", "index": 0, "pool": "10", "solved": True, "status": "solved", "iterations": 3},
        {"set": "coloring-5-100", "index": 1, "pool": "10", "solved": False, "status": "unsolved", "iterations": 100},
        {"set": "coloring-5-100", "index": 2, "pool": "10", "solved": False, "status": "unsolved", "iterations": 200},
    ]
    (table,) = Multistart.tables({"network": "any", "seconds": 10.0, "threads": 2}, rows)
    (line,) = table.text()
    assert line[2:4] == ["150", "1,500"]
    assert line[4:] == [f"{PAPER['coloring-5-100']['10'][0]:.2f}", "1,634"]
    assert table.columns[4:] == ("published: solved, %", "published: iterations")
    assert "Published: 10 s on the paper's machine" in table.caption


def test_a_rival_that_is_not_there_is_told_and_not_counted() -> None:
    reason = "not installed: pip install ortools"
    rows = [
        {"set": "coloring-5-50", "index": 0, "pool": "1", "solved": False, "status": "unsolved", "iterations": 7},
        {"set": "coloring-5-50", "index": 0, "pool": CPSAT, "solved": False, "status": "missing", "reason": reason},
    ]
    about = {"network": "any", "seconds": 10.0, "threads": 2}
    (table,) = Multistart.tables(about, rows)
    assert table.text()[1][:2] == [CPSAT, "–"]
    assert reason in table.caption
    (plot,) = Multistart.plots(about, rows)
    figure = new_figure(plot.size)
    plot.draw(figure)
    assert "CP-SAT, measured" not in labelled(figure.axes[0])


def test_a_set_that_is_no_colouring() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'coloring-5-50'"):
        Multistart(sets=["coloring-5-5"])

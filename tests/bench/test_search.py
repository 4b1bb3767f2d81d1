from __future__ import annotations

from pathlib import Path

import pytest

from consformer.bench.run import BenchRun
from consformer.bench.search import SearchBench
from consformer.evaluation import ProblemSet
from consformer.evaluation.summary import Share
from tests.helpers import cycle, problem

CYCLES = ProblemSet("cycles", (cycle(4, 2), cycle(5, 2)), ("c4", "c5"))


@pytest.mark.usefixtures("here")
def test_rows_and_table(tmp_path: Path) -> None:
    run = BenchRun(SearchBench([CYCLES], ("hybrid", "cpsat", "network"), 3.0, 0), tmp_path)
    assert len(list(run)) == len(run.units) == 6
    assert [(row["variant"], row["status"]) for row in run.record.rows if row["label"] == "c5"] == [
        ("hybrid", "infeasible"),
        ("cpsat", "infeasible"),
        ("network", "unsolved"),
    ]
    (table,) = run.tables
    assert [row[:3] for row in table.rows] == [
        ("hybrid", Share(0, 1, 2), 1),
        ("network", Share(0, 1, 2), 0),
        ("cpsat", Share(0, 1, 2), 1),
    ]
    assert BenchRun(SearchBench([CYCLES], ("hybrid", "cpsat"), 3.0, 0), tmp_path).waiting == []


def test_gap_to_the_best_known() -> None:
    csp = problem([{"kind": "not_equal", "scope": [0, 1], "soft": True}], n=2, m=2, maximise=True, offset=1.0)
    run = BenchRun(SearchBench([ProblemSet("cut", (csp,), ("edge",), best=(2.0,))], ("hybrid",), 2.0, 0))
    assert len(list(run)) == 1
    (row,) = run.tables[0].to_json()["rows"]
    assert row["gap %"]["value"] == pytest.approx(50.0)
    assert (row["solved, 95 % interval"]["solved"], row["proved"]) == (1, 0)  # a cut of everything needs no proof


def test_usual_variants_are_those_with_the_same_time() -> None:
    assert all(SearchBench.ways[name].factor == 1 for name in SearchBench.usual)


def test_who_was_not_there_has_no_share() -> None:
    row = {"set": "a", "label": "x", "seconds": 0.0, "violations": None, "objective": None}
    rows = [
        row | {"variant": "tabucol", "status": "declined", "reason": "not run: no colouring"},
        row | {"variant": "network:any", "status": "solved", "seconds": 2.0, "by": "network"},
    ]
    (table,) = SearchBench.tables({"seconds": 10.0, "cores": 2, "seed": 0}, rows)
    lines = {line[0]: line for line in table.rows}
    assert lines["network:any"][1:3] == (Share(0, 1, 1), 0)
    assert lines["tabucol"][1] is None
    assert "no colouring" in str(lines["tabucol"][-1])
    assert table.caption.startswith("Problems: 1. 10 s for each problem unless stated otherwise, 2 cores")


def test_sets_of_which_others_were_asked_have_a_command_of_their_own() -> None:
    asked = {"a": ("hybrid", "cpsat"), "b": ("hybrid", "cpsat-6"), "c": ("cpsat", "hybrid")}
    rows = [{"set": name, "label": "x", "variant": variant} for name, variants in asked.items() for variant in variants]
    assert SearchBench.asked({"seconds": 10.0}, rows) == (
        "consformer bench search a c --count 1 --time-limit 10 --variant hybrid --variant cpsat"
        " && consformer bench search b --count 1 --time-limit 10 --variant hybrid --variant cpsat-6"
    )


def test_a_part_of_a_set_is_told_in_the_command() -> None:
    run = BenchRun(SearchBench([CYCLES], ("hybrid",), 2.0, 0, "--most 5"))
    assert len(list(run)) == 2
    assert SearchBench.asked(run.benchmark.about, run.record.rows) == (
        "consformer bench search cycles --most 5 --count 2 --time-limit 2 --variant hybrid"
    )

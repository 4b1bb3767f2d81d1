from __future__ import annotations

from pathlib import Path

import pytest

from consformer.bench.search import USUAL, VARIANTS, SearchBench, answer, lines, markdown
from consformer.evaluation import ProblemSet
from tests.helpers import cycle, problem

CYCLES = ProblemSet("cycles", (cycle(4, 2), cycle(5, 2)), ("c4", "c5"))


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_answers(name: str) -> None:
    found = answer(cycle(4, 2), VARIANTS[name], 5.0, 0)
    assert (found.status, found.violations) == ("solved", 0)
    assert found.by is not None


def test_rows_and_table(tmp_path: Path) -> None:
    bench = SearchBench(CYCLES, ("hybrid", "cpsat", "network"), 0.5, 0, tmp_path)
    rows = list(bench)
    assert len(rows) == len(bench) == 6
    assert [(row["variant"], row["status"]) for row in rows if row["label"] == "c5"] == [
        ("hybrid", "infeasible"),
        ("cpsat", "infeasible"),
        ("network", "unsolved"),
    ]
    hybrid, network, cpsat = lines(bench.record.rows, 0.5)
    assert [(line.variant, line.solved, line.proved) for line in (hybrid, network, cpsat)] == [
        ("hybrid", 1, 1),
        ("network", 1, 0),
        ("cpsat", 1, 1),
    ]
    assert sum(hybrid.by.values()) == 2
    assert "| hybrid | 1 of 2 = 50.0 %" in markdown("cycles", [hybrid])
    assert list(SearchBench(CYCLES, ("hybrid", "cpsat"), 0.5, 0, tmp_path)) == []  # all there


def test_gap_to_the_best_known() -> None:
    csp = problem([{"kind": "not_equal", "scope": [0, 1], "soft": True}], n=2, m=2, maximise=True, offset=1.0)
    cut = ProblemSet("cut", (csp,), ("edge",), best=(2.0,))
    (line,) = lines(list(SearchBench(cut, ("hybrid",), 2.0, 0, None)), 2.0)
    assert line.gap == pytest.approx(50.0)
    assert (line.solved, line.proved) == (1, 0)  # a cut of everything needs no proof


def test_usual_variants_are_those_with_the_same_time() -> None:
    assert all(VARIANTS[name].factor == 1 for name in USUAL)

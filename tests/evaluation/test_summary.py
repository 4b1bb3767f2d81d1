from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consformer.evaluation.run import Row
from consformer.evaluation.summary import Summary, interval, plot


def row(index: int, solved: bool, iterations: int, **more: object) -> Row:
    fields: dict[str, object] = {"objective": None, "best": None, "variables": 10, "seconds": iterations / 100} | more
    return Row(index=index, label=str(index), solved=solved, violations=0 if solved else 1, iterations=iterations, **fields)  # type: ignore[arg-type]


ROWS = [row(0, True, 1), row(1, True, 7), row(2, True, 20), row(3, False, 40)]


@given(count=st.integers(1, 1000), data=st.data())
def test_an_interval_holds_the_share(count: int, data: st.DataObject) -> None:
    solved = data.draw(st.integers(0, count))
    low, high = interval(solved, count)
    assert 0 <= low <= solved / count <= high <= 1


def test_nothing_is_known_of_nothing() -> None:
    assert interval(0, 0) == (0.0, 1.0)


def test_shares_by_iteration_and_second() -> None:
    summary = Summary(ROWS, timed=True)
    assert [(share.mark, share.solved) for share in summary.by_iteration()] == [(1, 1), (2, 1), (5, 1), (10, 2), (20, 3), (50, 3)]
    assert [(share.mark, share.solved) for share in summary.by_second()] == [(0.01, 1), (0.02, 1), (0.05, 1), (0.1, 2), (0.2, 3), (0.5, 3)]
    assert str(summary.total) == "3 of 4 = 75.0 % [30.1, 95.4]"


def test_against_cpsat() -> None:
    found = [row(0, True, 1, cpsat={"status": "solved", "seconds": 1}), row(1, True, 1, cpsat={"status": "unknown", "seconds": 9})]
    summary = Summary(found, timed=True)
    assert summary.against_cpsat() == 2.0
    assert Summary(ROWS, timed=True).cpsat() is None
    assert summary.to_json()["cpsat"] == {"solved": 1, "ratio": 2.0}


def test_gaps_by_size() -> None:
    sizes = ((800, 99.0), (800, 97.0), (2000, 90.0), (5000, 100.0))
    summary = Summary([row(i, True, 1, variables=n, objective=cut, best=100.0) for i, (n, cut) in enumerate(sizes)], timed=True)
    assert [(name, count, round(gap, 6)) for name, count, gap in summary.gaps()] == [
        ("0 to 999 variables", 2, 2.0),
        ("2000 to 2999 variables", 1, 10.0),
        ("3000 variables and more", 1, 0.0),
    ]


def test_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    plot(Summary(ROWS, timed=False), "iterations only", tmp_path / "one.png")
    timed = [row(0, True, 3, cpsat={"status": "solved", "seconds": 1.0}), row(1, False, 9, cpsat={"status": "unknown", "seconds": 2.0})]
    plot(Summary(timed, timed=True), "both", tmp_path / "two.svg")
    assert (tmp_path / "one.png").read_bytes()[:4] == b"\x89PNG"
    assert b"CP-SAT" in (tmp_path / "two.svg").read_bytes() or (tmp_path / "two.svg").stat().st_size > 1000


def test_no_row_at_all() -> None:
    summary = Summary([], timed=True)
    assert summary.to_json()["solved"] == 0
    assert summary.against_cpsat() is None

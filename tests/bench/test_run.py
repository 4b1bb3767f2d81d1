from __future__ import annotations

import threading
from multiprocessing import active_children
from pathlib import Path

import pytest

from consformer.bench.base import SIDE_BY_SIDE, About, Benchmark, Row, Rows, Unit
from consformer.bench.run import BenchRun
from consformer.bench.tables import Table
from consformer.errors import InputError


class Squares(Benchmark, registered=False):
    """Two rows per unit."""

    name = "squares"
    key = ("n",)

    def __init__(self, count: int = 3, power: int = 2) -> None:
        self.count, self.about, self.prepared = count, {"power": power}, 0

    def units(self) -> list[Unit]:
        return [Unit((n,), 2.0) for n in range(abs(self.count))]

    def prepare(self) -> None:
        self.prepared += 1

    def close(self) -> None:
        self.prepared = -1

    def measure(self, unit: Unit) -> list[Row]:
        assert self.prepared == 1
        assert self.count > 0
        return [{"part": part, "square": int(unit.key[0]) ** 2} for part in "ab"]

    @classmethod
    def tables(cls, about: About, rows: Rows) -> list[Table]:
        return [Table("squares", ("n", "square"), tuple((row["n"], row["square"]) for row in rows))]


def test_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    run = BenchRun(Squares(), tmp_path)
    assert (run.seconds, len(run.waiting)) == (6.0, 3)
    for _unit in run:
        break
    again = BenchRun(Squares(), tmp_path)
    assert [unit.key for unit in again] == [(1,), (2,)]
    assert BenchRun(Squares(4), tmp_path).seconds == 2.0
    assert again.tables[0].rows == ((0, 0), (0, 0), (1, 1), (1, 1), (2, 4), (2, 4))
    assert again.benchmark.prepared == -1  # type: ignore[attr-defined]


def test_something_else_is_refused(tmp_path: Path) -> None:
    BenchRun(Squares(), tmp_path)
    with pytest.raises(InputError, match=r"squares\.jsonl: holds results with another power"):
        BenchRun(Squares(power=3), tmp_path)
    BenchRun(Squares(power=3), tmp_path, quick=True)  # a file of its own


def test_several_at_a_time_and_what_is_under_way_is_kept(tmp_path: Path) -> None:
    run = BenchRun(Squares(20), tmp_path, jobs=2)
    assert run.seconds == 20.0
    units = iter(run)
    next(units)
    units.close()  # type: ignore[attr-defined]
    again = BenchRun(Squares(20), tmp_path, jobs=2)
    assert 2 <= len(again.record.done) <= 4
    assert all(row["square"] == row["n"] ** 2 for row in again.record.rows)
    assert active_children() == []


def test_a_process_that_fails_stops_it(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        list(BenchRun(Squares(-1), tmp_path, jobs=2))
    assert active_children() == []


class Pairs(Squares, registered=False):
    """Its first and fourth unit keep all cores busy, the others one each."""

    def __init__(self) -> None:
        super().__init__(5)
        self.meeting, self.closed = threading.Barrier(2), 0

    def units(self) -> list[Unit]:
        return [Unit((n,), 2.0, single=n in (1, 2, 4)) for n in range(5)]

    def measure(self, unit: Unit) -> list[Row]:
        if unit.key[0] in (1, 2):
            self.meeting.wait(30)  # they are under way at the same time
        return super().measure(unit)


def test_units_that_keep_one_core_busy_are_done_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.get_num_threads", lambda: 2)
    run = BenchRun(Pairs(), tmp_path)
    assert run.seconds == 8.0
    assert sorted(unit.key for unit in run) == [(n,) for n in range(5)]
    assert sorted(row["n"] for row in run.record.rows) == [n for n in range(5) for _ in "ab"]
    assert {row["n"] for row in run.record.rows if row.get(SIDE_BY_SIDE) == 2} == {1, 2}


def test_what_nobody_waits_for_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.get_num_threads", lambda: 2)

    class Waiting(Pairs, registered=False):
        def measure(self, unit: Unit) -> list[Row]:
            if unit.key[0] == 2:
                assert self.meeting.wait(30) is not None
                return []
            return [{"square": 0}]

        def close(self) -> None:
            self.closed += 1
            if self.closed == 1:  # the unit under way ends when what it needs is closed
                self.meeting.wait(30)

    benchmark = Waiting()
    for unit in BenchRun(benchmark, tmp_path):
        if unit.key == (1,):
            break
    assert benchmark.closed == 2
    assert BenchRun(Waiting(), tmp_path).record.done == {(0,), (1,)}

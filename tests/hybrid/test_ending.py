"""How a solve ends: in time, when it is told to, when nothing more can come."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from pathlib import Path
from typing import NoReturn

import pytest

from consformer import solve
from consformer.constraints import Record
from consformer.hybrid import PARTS, HybridRun
from consformer.hybrid import parts as parts_module
from consformer.solving import start
from tests.helpers import gibbs, hard_graph, problem


def children() -> list[str]:
    """The processes that this one has started and that are still there."""
    tasks = Path(f"/proc/{os.getpid()}/task")
    if not tasks.exists():
        pytest.skip("no /proc here")
    found: list[str] = []
    for task in tasks.iterdir():
        with contextlib.suppress(FileNotFoundError):  # a thread that has just ended
            found += (task / "children").read_text().split()
    return sorted(found)


@pytest.mark.parametrize("seconds", [0, 1e-6, 0.03])
def test_hardly_any_time(seconds: float) -> None:
    result = solve(hard_graph(), network=gibbs(), time_limit=seconds)
    assert result.status == "unsolved"
    assert len(result.assignment) == 150


@pytest.mark.parametrize("without", [[], ["local"], ["sat"], ["sat", "cpsat"]])
def test_the_time_limit_is_kept(without: list[str]) -> None:
    """Within 0.1 seconds on a machine that does nothing else, which the benchmarks count; a busy one gets more."""
    solve(hard_graph(seed=1), network=gibbs(), time_limit=0.5, without=without)  # what is needed once in a process is off the clock
    began = time.perf_counter()
    solve(hard_graph(), network=gibbs(), time_limit=0.6, without=without)
    assert time.perf_counter() - began < 1.2


def test_nothing_outlives_the_call() -> None:
    threads, processes = threading.active_count(), children()
    solve(hard_graph(), network=gibbs(), time_limit=1.5)
    assert threading.active_count() == threads
    assert children() == processes


@pytest.mark.parametrize("part", ["LocalPart", "LocalThread", "NetworkPart", "RepairPart", "BacktrackingPart", "SatPart", "ProverPart"])
def test_ctrl_c_in_the_middle_of_a_part(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cls = getattr(parts_module, part)
    usual, turns = cls.work, []
    absent = {"RepairPart": "local", "ProverPart": "sat"}  # beside which they do not take part
    monkeypatch.setattr("consformer.hybrid.run.SECOND_WIND", 0.1)

    def work(self: parts_module.Part, seconds: float) -> None:
        turns.append(seconds)
        if len(turns) == 2:
            raise KeyboardInterrupt
        usual(self, seconds)

    monkeypatch.setattr(cls, "work", work)
    threads, processes = threading.active_count(), children()
    without = [absent[part]] if part in absent else []
    result = solve(hard_graph(), network=gibbs(), time_limit=60, without=without)
    assert len(turns) >= 2
    assert (result.status, result.effort.interrupted) == ("unsolved", True)
    assert threading.active_count() == threads
    assert children() == processes


def test_ctrl_c_in_the_middle_of_propagation(monkeypatch: pytest.MonkeyPatch) -> None:
    def narrow(*arguments: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr("consformer.constraints.not_equal.NotEqual.narrow", narrow)
    result = solve(hard_graph(), network=gibbs(), time_limit=60)
    assert (result.status, result.effort.interrupted) == ("unsolved", True)


def test_who_stops_it_is_heard_within_propagation_and_before_a_search_begins() -> None:
    run = start([hard_graph()], network=gibbs(), time_limit=60, without=["backtracking"])
    assert isinstance(run, HybridRun)
    asked = []

    def stopped() -> bool:
        asked.append(True)
        return True

    run.stopped = stopped
    for _event in run:
        if run.stopped():
            break
    assert len(asked) > 1
    assert run.results()[0].effort.iterations == 0


@pytest.mark.parametrize("alone", [*PARTS, "all"])
@pytest.mark.parametrize("wrong", [{"soft": True, "weight": 2.0}, {}], ids=["soft", "hard"])
def test_nothing_is_waited_for_where_nothing_is_free(alone: str, wrong: dict[str, object]) -> None:
    csp = problem([{"kind": "not_equal", "scope": [0, 1], **wrong}], n=2, m=2, given={0: 1, 1: 1})
    began = time.perf_counter()
    result = solve(csp, network=gibbs(), time_limit=300, without=[] if alone == "all" else [name for name in PARTS if name != alone])
    assert time.perf_counter() - began < 200
    assert result.assignment == (1, 1)
    if not wrong:
        assert result.status in ("infeasible", "unsolved")
    elif alone in ("all", "propagation", "cpsat"):
        assert (result.status, result.objective) == ("optimal", 2.0)
    else:
        assert (result.status, result.objective) == ("solved", 2.0)


def test_it_ends_when_nothing_more_can_come() -> None:
    """Two fixed variables clash, and what can move is as good as it can be."""
    records: list[Record] = [{"kind": "not_equal", "scope": [0, 1]}, {"kind": "not_equal", "scope": [1, 2]}]
    began = time.perf_counter()
    result = solve(problem(records, n=3, m=2, given={0: 1, 1: 1}), method="local", time_limit=60)
    assert result.violations == 1
    assert time.perf_counter() - began < 30

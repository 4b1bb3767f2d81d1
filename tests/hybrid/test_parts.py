from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

from consformer import families
from consformer.hybrid import parts as parts_module
from consformer.hybrid.board import Board
from consformer.hybrid.parts import LocalPart, LocalThread, RepairPart
from consformer.partners.cuts import CutSearch
from consformer.partners.memetic import MemeticSearch
from tests.helpers import hard_graph, problem


def test_a_repair_is_not_begun_when_it_would_end_too_late() -> None:
    csp = hard_graph()
    part = RepairPart(Board(csp), csp, seed=0)
    try:
        part._slowest = 5.0
        assert part.turn(0.05) == 5.0
        part.take_turn(1.0)
        assert part.over
        assert part.seconds < 0.5
        assert "longer than the time that is left" in part.note
    finally:
        part.close()


def test_stating_cuts_is_known_to_take_less_than_stating_other_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts_module, "SECONDS_TO_STATE", {"cuts": 1e-3, "differences": 1.0})
    (cut,) = families.get("maxcut").generate(np.random.default_rng(0), 1, {"vertices": [60, 60]})
    assert parts_module.off(cut, "local", 10) is None
    assert "is not started" in str(parts_module.off(hard_graph(), "local", 10))


def test_a_second_local_search_that_begins_with_a_solution_gives_it() -> None:
    csp = problem([{"kind": "not_equal", "scope": [0, 1]}], n=2, m=2)
    board = Board(csp)
    part = LocalThread(board, csp, seed=0)
    part._thread.join(timeout=20)
    part.work(0.0)
    part.close()
    assert board.solved
    assert part.over


@pytest.mark.parametrize("part", [LocalPart, LocalThread])
def test_searches_that_can_join_cuts_tell_each_other(part: type[LocalPart | LocalThread], monkeypatch: pytest.MonkeyPatch) -> None:
    def run(self: CutSearch, seconds: float, stop: object = None) -> bool:
        time.sleep(0.01)  # it finds nothing by itself
        return False

    monkeypatch.setattr(CutSearch, "run", run)
    paths = [{"kind": "not_equal", "scope": [3 * k + i, 3 * k + j], "soft": True} for k in range(50) for i, j in ((0, 1), (1, 2))]
    csp = problem(paths, n=150, m=2)
    board = Board(csp)
    searching = part(board, csp, 0)
    until(searching, lambda: board.values is not None)  # where it begins
    board.offer("the other", [int(k % 3 == 1 and k < 75) for k in range(150)])  # half of the paths are right
    until(searching, lambda: len(board.steps) == 3)
    assert [step.part for step in board.steps] == [searching.name, "the other", searching.name]
    assert board.cost < board.steps[1].cost
    searching.close()


def until(part: LocalPart | LocalThread, there: Callable[[], bool]) -> None:
    end = time.perf_counter() + 20
    while not there() and time.perf_counter() < end:
        part.work(0.01)


def test_a_second_local_search_that_fails_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(self: MemeticSearch, **options: object) -> bool:
        raise MemoryError("too much")

    monkeypatch.setattr(MemeticSearch, "run", run)
    csp = hard_graph()
    part = LocalThread(Board(csp), csp, seed=0)
    part._thread.join(timeout=20)
    part.work(0.0)
    part.close()
    assert part.over
    assert part.note == "failed: too much"

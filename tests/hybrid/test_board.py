from __future__ import annotations

from consformer.account import Proof
from consformer.constraints import Record
from consformer.hybrid.board import Board
from tests.helpers import cycle, problem


def test_only_what_is_better_is_taken() -> None:
    board = Board(cycle(4, 2))
    assert (board.finished, board.finisher) == (False, None)
    assert board.offer("one", [0, 0, 0, 0])
    assert not board.offer("two", [1, 1, 1, 1])
    assert board.offer("two", [0, 0, 1, 1])
    assert (board.violations, board.values, board.finished) == (2, [0, 0, 1, 1], False)
    assert board.offer("one", [0, 1, 0, 1])
    assert [(step.part, step.violations) for step in board.steps] == [("one", 4), ("two", 2), ("one", 0)]
    assert (board.finished, board.finisher) == (True, "one")


def test_violations_count_before_cost() -> None:
    records: list[Record] = [{"kind": "not_equal", "scope": [0, 1]}, {"kind": "not_equal", "scope": [1, 2], "soft": True, "weight": 5.0}]
    board = Board(problem(records, n=3, m=2))
    assert board.offer("one", [0, 0, 1])
    assert board.offer("one", [0, 1, 1])
    assert (board.violations, board.cost, board.finished) == (0, 5.0, False)


def test_the_first_proof_stays() -> None:
    board = Board(cycle(3, 2))
    board.prove(Proof("infeasible", "one"))
    board.prove(Proof("infeasible", "two"))
    assert board.finished
    assert board.finisher == "one"

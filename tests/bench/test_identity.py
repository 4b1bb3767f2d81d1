from __future__ import annotations

from consformer.bench.identity import differing, entries, problem, weights
from tests.helpers import coloring, cycle


def test_problems_are_told_apart_by_what_they_ask_for() -> None:
    assert problem(cycle(5, 3)) == problem(cycle(5, 3))
    assert len({problem(csp) for csp in (cycle(5, 3), cycle(5, 4), cycle(6, 3), coloring([(0, 1)], n=5, m=3))}) == 4


def test_what_is_otherwise_is_told() -> None:
    now = entries(cycle(5, 3), "any")
    assert now["weights"] == weights("any") != weights("strict-sudoku")
    assert entries(cycle(5, 3), "auto") == now
    assert "weights" not in entries(cycle(5, 3))
    assert differing({"label": "a"}, now) is None  # a row from before such things were told
    assert differing({**now, "best": 3}, {**now, "best": 3}) is None
    assert differing({**now, "weights": "others"}, now) == "other weights under the same name"
    assert differing(entries(cycle(5, 4)), now) == "another problem under the same name"
    assert differing({**now, "best": 3}, {**now, "best": 4}) == "another best known objective under the same name"

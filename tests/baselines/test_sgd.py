from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from consformer import datasets
from consformer.baselines.sgd import descend, satisfied
from consformer.errors import UnknownNameError
from tests.helpers import cycle, impossible, random_csp


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_fills_a_nearly_full_board(optimiser: str) -> None:
    boards = datasets.load("sudoku", 2, 1, {"box": 2, "givens": [12, 12], "unique": True})
    for board, end in zip(boards, descend(boards, steps=300, optimiser=optimiser), strict=True):
        assert end.solved
        assert end.constraints == 12
        fixed = ~board.free
        assert (torch.tensor(end.values)[fixed] == board.given[fixed]).all()


def test_says_how_much_holds_where_not_all_can() -> None:
    (end,) = descend([impossible()], steps=50)
    assert (end.satisfied, end.constraints, end.solved) == (0, 1, False)


def test_problems_do_not_disturb_each_other() -> None:
    """Side by side, each gets the gradient that it gets alone (both start alike, as random numbers are drawn in blocks of 16)."""
    alone = descend([cycle(16, 2)], steps=40, seed=3)
    together = descend([cycle(16, 2), cycle(8, 2)], steps=40, seed=3)
    assert together[0] == alone[0]


def test_an_unknown_optimiser() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'adam'"):
        descend([cycle(3, 3)], optimiser="adams")


@given(st.integers(0, 10_000))
def test_counts_what_the_constraints_themselves_say(seed: int) -> None:
    csp = random_csp(seed)
    values = csp.random_values(1, torch.Generator().manual_seed(seed))
    held = sum(int((constraint.violation(values) == 0).sum()) for constraint in csp.constraints)
    assert satisfied(csp, values[0].tolist()) == (held, sum(map(len, csp.constraints)))

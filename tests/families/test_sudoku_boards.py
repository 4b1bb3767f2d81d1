from __future__ import annotations

import random
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from consformer.baselines import solve_cpsat
from consformer.csp import CSP
from consformer.families import sudoku_boards as boards
from consformer.families.squares import find_clash
from consformer.families.sudoku import template

seeds = st.integers(0, 10**6)


def is_filled(grid: boards.Grid) -> bool:
    return grid.min() >= 0 and grid.max() < len(grid) and find_clash(grid, boards.units(round(len(grid) ** 0.5))) is None


@given(seed=seeds, box=st.sampled_from([2, 3, 4, 5]), count=st.integers(1, 6))
def test_filled_grids_are_valid(seed: int, box: int, count: int) -> None:
    grids = boards.filled_grids(box, count, np.random.default_rng(seed))
    assert grids.shape == (count, box**2, box**2)
    assert all(is_filled(grid) for grid in grids)


def test_filled_grids_of_a_batch_are_all_different() -> None:
    grids = boards.filled_grids(3, 20, np.random.default_rng(0))
    assert len({grid.tobytes() for grid in grids}) == 20


def test_large_grids_are_mixed_differently() -> None:
    one, two = (boards.mixed_grid(4, random.Random(seed)) for seed in (0, 1))
    assert is_filled(one)
    assert is_filled(two)
    assert not np.array_equal(one, two)


@given(seed=seeds)
def test_symmetries_keep_a_grid_valid(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grid = boards.searched_grid(3, random.Random(seed))
    assert all(is_filled(image) for image in boards.shuffled(np.stack([grid] * 3), rng))


@given(seed=seeds, count=st.integers(0, 81))
def test_masked_leaves_as_many_cells_as_asked(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    grid = boards.filled_grids(3, 1, rng)
    (board,) = boards.masked(grid, np.array([count]), rng)
    assert (board >= 0).sum() == count
    assert np.array_equal(board[board >= 0], grid[0][board >= 0])


def with_board(board: boards.Grid) -> CSP:
    return template(round(len(board) ** 0.5)).with_given(torch.from_numpy(board.reshape(-1)))


def other_solution(board: boards.Grid, grid: boards.Grid) -> bool:
    """Whether CP-SAT finds a solution of a board that differs from `grid` in some cell."""
    for cell in np.argwhere(board < 0):
        csp = with_board(board)
        domain = csp.domain.clone()
        domain[int(cell[0]) * len(board) + int(cell[1]), int(grid[tuple(cell)])] = False
        if solve_cpsat(replace(csp, domain=domain), workers=1).status == "solved":
            return True
    return False


def test_unique_boards_have_no_second_solution_says_cpsat() -> None:
    (board,) = boards.unique_boards(3, np.array([60]), np.random.default_rng(3))
    values = solve_cpsat(with_board(board), workers=1).values
    assert values is not None
    assert not other_solution(board, np.array(values).reshape(9, 9))


@given(seed=seeds)
def test_count_agrees_with_brute_force(seed: int) -> None:
    """On 4×4 boards, of which all 288 solutions can be listed."""
    rng = np.random.default_rng(seed)
    every = all_small_grids()
    board = np.where(rng.random((4, 4)) < 0.3, every[rng.integers(len(every))], -1)
    fits = ((every == board) | (board < 0)).all((1, 2)).sum()
    assert boards.count_solutions(board, limit=500) == fits


@lru_cache(maxsize=1)
def all_small_grids() -> boards.Grid:
    """All 4×4 grids, one cell after the other."""
    rows: list[list[int]] = [[]]
    for cell in range(16):
        longer = [[*row, value] for row in rows for value in range(4)]
        rows = [row for row in longer if find_clash(np.array(row + [-1] * (15 - cell)).reshape(4, 4), boards.units(2)) is None]
    assert len(rows) == 288
    return np.array(rows).reshape(-1, 4, 4)


def test_contradictory_board_has_no_solution() -> None:
    board = np.full((9, 9), -1)
    board[0, 0] = board[0, 8] = 3
    assert boards.count_solutions(board) == 0


def test_a_hard_board_with_17_givens_is_counted_quickly() -> None:
    text = "000000010400000000020000000000050407008000300001090000300400200050100000000806000"
    board = np.array([int(cell) - 1 for cell in text]).reshape(9, 9)
    assert boards.count_solutions(board) == 1


@pytest.mark.parametrize("box, givens", [(2, 5), (3, 26), (3, 36), (4, 140), (5, 420)])
def test_unique_boards_keep_exactly_the_givens_asked_for(box: int, givens: int) -> None:
    (board,) = boards.unique_boards(box, np.array([givens]), np.random.default_rng(0))
    assert (board >= 0).sum() == givens
    assert boards.count_solutions(board) == 1

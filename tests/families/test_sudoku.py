from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from consformer import families
from consformer.baselines import solve_cpsat
from consformer.errors import ConsformerError, InputError, ModelError, UnknownNameError
from consformer.families import sudoku_boards as boards
from consformer.families.squares import find_clash
from consformer.families.sudoku import SudokuParams, template
from consformer.formats.payloads import Board

sudoku = families.get("sudoku")


@given(seed=st.integers(0, 10**6), givens=st.tuples(st.integers(0, 81), st.integers(0, 81)).map(sorted))
def test_generated_boards_are_valid_with_givens_in_range(seed: int, givens: list[int]) -> None:
    for csp in sudoku.generate(np.random.default_rng(seed), 3, {"givens": givens}):
        board = csp.given.view(9, 9).numpy()
        assert givens[0] <= (board >= 0).sum() <= givens[1]
        assert find_clash(board, boards.units(3)) is None


@pytest.mark.parametrize("box", [2, 3, 4, 5])
def test_generated_boards_can_be_solved(box: int) -> None:
    (csp,) = sudoku.generate(np.random.default_rng(1), 1, {"box": box})
    result = solve_cpsat(csp, workers=1)
    assert result.status == "solved"
    assert result.values is not None
    assert csp.violations(torch.tensor([result.values])).tolist() == [[0]]


def test_default_givens_are_the_papers() -> None:
    counts = [int((csp.given >= 0).sum()) for csp in sudoku.generate(np.random.default_rng(0), 200)]
    assert min(counts) == 31
    assert max(counts) == 42


def test_unique_boards_have_one_solution() -> None:
    for csp in sudoku.generate(np.random.default_rng(0), 3, {"unique": True, "givens": [28, 31]}):
        assert boards.count_solutions(csp.given.view(9, 9).numpy()) == 1


@pytest.mark.parametrize("params", [{"givens": 17}, {"givens": (10, 40)}, {"box": 4, "givens": 60}])
def test_unique_boards_with_too_few_givens_are_refused_at_once(params: dict[str, object]) -> None:
    with pytest.raises(ModelError, match="givens or more, not"):
        sudoku.settings({**params, "unique": True})


def test_unique_boards_that_are_not_found_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boards, "_PATIENCE", 1)
    with pytest.raises(ModelError, match="no board with 17 givens and a single solution found in 1 attempts"):
        boards.unique_boards(3, np.array([17]), np.random.default_rng(0))


@pytest.mark.parametrize(
    "params, message",
    [
        ({"box": 6}, "'box' must be 2, 3, 4 or 5, not 6"),
        ({"box": "3"}, "'box' must be a whole number, not '3'"),
        ({"givens": [40, 30]}, "low <= high"),
        ({"givens": [1, 2, 3]}, r"must be a range \[low, high\] or one number"),
        ({"givens": 82}, "must lie within 0 and 81"),
        ({"unique": 1}, "'unique' must be true or false, not 1"),
        ({"givenz": 30}, "did you mean 'givens'"),
    ],
)
def test_wrong_parameters_are_told(params: dict[str, object], message: str) -> None:
    with pytest.raises(ConsformerError, match=message):
        sudoku.settings(params)


def test_unknown_family_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'sudoku'"):
        families.get("sudku")


def test_all_boards_share_one_graph() -> None:
    one, two = sudoku.generate(np.random.default_rng(0), 2)
    assert one.graph is two.graph is template(3).graph
    assert set(one.graph.degree.tolist()) == {20}


@given(data=st.data(), seed=st.integers(0, 10**6), box=st.sampled_from([2, 3, 4]))
def test_contradictory_givens_are_always_found_and_named(data: st.DataObject, seed: int, box: int) -> None:
    size = box * box
    (grid,) = boards.filled_grids(box, 1, np.random.default_rng(seed))
    one = data.draw(st.integers(0, size**2 - 1))
    units = boards.units(box)
    peers = [cell for cell in range(size**2) if cell != one and set(units[cell]) & set(units[one])]
    two = data.draw(st.sampled_from(peers))
    board = np.full(size**2, -1)
    board[[one, two]] = data.draw(st.integers(0, size - 1))
    names = sorted([one, two])
    places = [f"r{cell // size + 1}c{cell % size + 1}" for cell in names]
    with pytest.raises(InputError, match=f"line 7: {places[0]} and {places[1]} are both {board[one] + 1}"):
        sudoku.build(Board(board.reshape(size, size), line=7))
    assert find_clash(grid, boards.units(round(len(grid) ** 0.5))) is None


def test_answer_is_the_board_in_the_users_terms() -> None:
    (csp,) = sudoku.generate(np.random.default_rng(0), 1, {"box": 2})
    values = solve_cpsat(csp, workers=1).values
    assert values is not None
    answer = sudoku.answer(csp, values)
    assert answer["board"] == "".join(str(value + 1) for value in values)
    assert answer["grid"][0] == [value + 1 for value in values[:4]]
    assert sudoku.solutions([csp], [values]) == answer["board"] + "\n"


def test_view_marks_givens_and_conflicts() -> None:
    csp = sudoku.unpack("1" + "." * 15)
    rows = sudoku.view(csp, [0, 0, *[1] * 14])["rows"]
    assert rows[0][0] == {"text": "1", "given": True, "conflict": True}
    assert rows[0][1] == {"text": "1", "given": False, "conflict": True}
    blank = sudoku.view(csp)["rows"]
    assert blank[0][0] == {"text": "1", "given": True, "conflict": False}
    assert blank[3][3]["text"] == ""


def test_params_are_kept_as_they_are() -> None:
    params = SudokuParams(box=2, givens=(5, 6))
    assert sudoku.settings(params) is params


@pytest.mark.parametrize(
    "changes",
    [
        {"value_labels": ("a", "b", "c", "d")},
        {"value_labels": (4, 3, 2, 1)},
        {"variable_labels": tuple(range(16))},
        {"info": {"box": True}},
        {"info": {"box": 3}},
    ],
)
def test_a_board_with_other_labels_is_no_board(changes: dict[str, Any]) -> None:
    csp = sudoku.unpack("1" + "." * 15)
    assert families.of(replace(csp, variable_labels=None)).name == "sudoku"
    assert families.of(replace(csp, **changes)).name == "csp"

"""Square boards on which every value stands once in each unit (row, column, box): what Sudoku and Latin squares share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from consformer.constraints.all_different import AllDifferent
from consformer.csp import CSP
from consformer.errors import InputError
from consformer.families.base import entries
from consformer.families.drawing import View
from consformer.formats.payloads import Board

Units = Sequence[tuple[int, ...]]  # of every cell of an N×N board: its row 0..N-1, its column N..2N-1, and its box from 2N on, if any


def empty_board(units: Units, family: str, info: Mapping[str, Any]) -> CSP:
    """The empty board. Boards made of it share its constraints and its graph."""
    count, size = len(units), round(len(units) ** 0.5)
    cells, per_cell = torch.arange(count), len(units[0])
    order = torch.argsort(torch.tensor(units).T.reshape(-1), stable=True)
    csp = CSP(
        domain=torch.ones(count, size, dtype=torch.bool),
        given=torch.full((count,), -1),
        positions=torch.stack([cells // size, cells % size], 1),
        constraints=(AllDifferent.of(cells.repeat(per_cell)[order].view(per_cell * size, size)),),
        value_labels=tuple(range(1, size + 1)),
        variable_labels=tuple(cell_name(index, size) for index in range(count)),
        family=family,
        info=info,
    )
    _ = csp.graph, csp.soft_scale, csp.energy_weights  # made now, so that `with_given` hands them on
    return csp


def is_filled_from(blank: CSP, csp: CSP) -> bool:
    """Whether a problem has the cells and the values of this empty board, by the same names."""
    return csp.value_labels == blank.value_labels and csp.n == blank.n and csp.variable_labels in (None, blank.variable_labels)


def fill(blank: CSP, board: Board, units: Units) -> CSP:
    """The problem of a board that was read; an error when its givens contradict each other."""
    clash = find_clash(board.cells, units)
    if clash is not None:
        (one, two, unit), size = clash, len(board.cells)
        value = int(board.cells.reshape(-1)[one]) + 1
        raise InputError(
            f"{cell_name(one, size)} and {cell_name(two, size)} are both {value}, in the same {unit}; one of them must go", line=board.line
        )
    return blank.with_given(torch.from_numpy(board.cells.reshape(-1).astype(np.int64)))


def find_clash(cells: NDArray[np.int64], units: Units) -> tuple[int, int, str] | None:
    """Two cells of a unit that hold the same value, the first such pair in reading order; None when there is none.

    >>> find_clash(np.array([[0, 0], [-1, -1]]), [(0, 2), (0, 3), (1, 2), (1, 3)])
    (0, 1, 'row')
    """
    size = len(cells)
    seen: dict[tuple[int, int], int] = {}
    for cell, value in enumerate(cells.reshape(-1).tolist()):
        if value < 0:
            continue
        for unit in units[cell]:
            if (unit, value) in seen:
                return seen[unit, value], cell, ("row", "column", "box")[unit // size]
            seen[unit, value] = cell
    return None


def line_of(cells: Sequence[int], size: int) -> str:
    """A board as text: characters up to 9×9, with "." for a blank; blank-separated numbers on larger boards, with 0.

    >>> line_of([0, 1, -1, 3] * 4, 4)
    '12.412.412.412.4'
    """
    if size <= 9:
        return "".join("." if value < 0 else str(value + 1) for value in cells)
    return " ".join(str(value + 1) for value in cells)


def given_of(line: str) -> torch.Tensor:
    """The way back: [N²] value indices, -1 for a blank.

    >>> given_of("12.4").tolist()
    [0, 1, -1, 3]
    """
    cells = line.split() if " " in line else line.replace(".", "0")
    return torch.tensor([int(cell) - 1 for cell in cells])


def grid(csp: CSP, values: Sequence[int] | None, box: int) -> View:
    """What to draw, with borders around boxes of this size."""
    shown, size = entries(csp, values), csp.m
    return {"type": "grid", "box": box, "rows": [shown[start : start + size] for start in range(0, csp.n, size)]}


def board_answer(csp: CSP, values: Sequence[int]) -> dict[str, Any]:
    """The filled board as a line and as rows."""
    return {"board": line_of(values, csp.m), "grid": (np.array(values).reshape(csp.m, csp.m) + 1).tolist()}


def cell_name(index: int, size: int) -> str:
    """
    >>> cell_name(10, 9)
    'r2c2'
    """
    return f"r{index // size + 1}c{index % size + 1}"

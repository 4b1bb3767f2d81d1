"""Sudoku: every value once in each row, column and box of an N×N board, N = 4, 9, 16 or 25."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from consformer.csp import CSP
from consformer.errors import ModelError
from consformer.families import squares
from consformer.families import sudoku_boards as boards
from consformer.families.base import Family, Params, setting
from consformer.families.drawing import View
from consformer.formats.payloads import Board

_GIVENS = {2: (6, 8), 3: (31, 42), 4: (98, 133), 5: (239, 324)}  # the paper's on 9×9, others in proportion
_FEWEST = {2: 4, 3: 22, 4: 105, 5: 330}  # givens with which a board with one solution is found within seconds


@dataclass(frozen=True)
class SudokuParams(Params):
    """How Sudoku boards are drawn."""

    box: int = setting(3, "size of a box: 2, 3, 4 or 5 for boards of 4, 9, 16 or 25 rows")
    givens: tuple[int, int] | None = setting(None, "range of the number of given cells; default 31 to 42 on 9×9, in proportion on others")
    unique: bool = setting(False, "give every board exactly one solution")

    def __post_init__(self) -> None:
        if self.box not in _GIVENS:
            raise ModelError(f"sudoku parameter 'box' must be 2, 3, 4 or 5, not {self.box}")
        low, high = self.range
        if low < 0 or high > self.box**4:
            raise ModelError(f"sudoku parameter 'givens' must lie within 0 and {self.box**4}, not {low} to {high}")
        if self.unique and low < _FEWEST[self.box]:
            fewest, size = _FEWEST[self.box], self.box**2
            raise ModelError(f"sudoku: boards of {size}×{size} with one solution are drawn with {fewest} givens or more, not {low}")

    @property
    def range(self) -> tuple[int, int]:
        """The range of the number of givens, default filled in."""
        if self.givens is not None:
            return self.givens
        low, high = _GIVENS[self.box]
        fewest = _FEWEST[self.box] if self.unique else 0
        return max(low, fewest), max(high, fewest)


@lru_cache(maxsize=4)
def template(box: int) -> CSP:
    """The empty board: rows, columns and boxes all different. All boards share its constraints and its graph.

    >>> template(2).n, template(2).m, len(template(2).constraints[0])
    (16, 4, 12)
    """
    return squares.empty_board(boards.units(box), "sudoku", {"box": box})


class Sudoku(Family[SudokuParams]):
    """Boards with random givens, by default 31 to 42 of them (the paper's).

    Drawn without `unique`, up to four boards of a batch are symmetric images of one solved grid (relabelled, bands, rows, stacks and
    columns shuffled, transposed), with other cells given. That takes about 0.2 ms a board (see docs/data.md).
    """

    name = "sudoku"
    params = SudokuParams
    accepts = (Board,)

    def _draw(self, rng: np.random.Generator, count: int, params: SudokuParams) -> list[CSP]:
        if count == 0:
            return []
        low, high = params.range
        counts = rng.integers(low, high, size=count, endpoint=True)
        if params.unique:
            grids = boards.unique_boards(params.box, counts, rng)
        else:
            grids = boards.masked(boards.filled_grids(params.box, count, rng), counts, rng)
        blank = template(params.box)
        return [blank.with_given(given) for given in torch.from_numpy(grids).view(count, -1)]

    def _build(self, payload: Board, **options: Any) -> CSP:
        box = round(len(payload.cells) ** 0.5)
        return squares.fill(template(box), payload, boards.units(box))

    def fits(self, csp: CSP) -> bool:
        box = csp.info.get("box")
        if type(box) is not int or box not in _GIVENS:
            return False
        return squares.is_filled_from(template(box), csp)

    def view(self, csp: CSP, values: Sequence[int] | None = None) -> View:
        return squares.grid(csp, values, csp.info["box"])

    def answer(self, csp: CSP, values: Sequence[int]) -> dict[str, Any]:
        return squares.board_answer(csp, values)

    def pack(self, csp: CSP) -> Any:
        return squares.line_of(csp.given.tolist(), csp.m)

    def unpack(self, data: Any) -> CSP:
        given = squares.given_of(data)
        return template(round(len(given) ** 0.25)).with_given(given)

    def write(self, csps: Sequence[CSP]) -> str:
        """One board a line."""
        return "".join(squares.line_of(csp.given.tolist(), csp.m) + "\n" for csp in csps)

    def solutions(self, csps: Sequence[CSP], values: Sequence[Sequence[int]]) -> str:
        """One filled board a line."""
        return "".join(squares.line_of(own, csp.m) + "\n" for csp, own in zip(csps, values, strict=True))

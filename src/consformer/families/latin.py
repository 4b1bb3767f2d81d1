"""Latin squares with holes: every value once in each row and column of an N×N board, some cells given."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from consformer.csp import CSP
from consformer.errors import ModelError
from consformer.families import squares
from consformer.families.base import Family, Params, python_random, setting
from consformer.families.drawing import View
from consformer.formats.payloads import LatinSquare


@dataclass(frozen=True)
class LatinParams(Params):
    """How Latin squares are drawn."""

    order: tuple[int, int] = setting((10, 10), "range of the number of rows")
    holes: tuple[float, float] = setting((0.3, 0.5), "range of the share of cells that are blank")
    balanced: bool = setting(False, "as many holes in every row and column, or one more: harder to complete")

    def __post_init__(self) -> None:
        if self.order[0] < 2 or self.order[1] > LatinSquare.largest:
            raise ModelError(f"latin parameter 'order' must lie within 2 and {LatinSquare.largest}, not {self.order[0]} to {self.order[1]}")
        if self.holes[0] < 0 or self.holes[1] > 1:
            raise ModelError(f"latin parameter 'holes' is a share: it must lie within 0 and 1, not {self.holes[0]:g} to {self.holes[1]:g}")


def units(order: int) -> list[tuple[int, int]]:
    """Row and column of every cell, as indices into one list of 2N units."""
    return [(row, order + column) for row in range(order) for column in range(order)]


@lru_cache(maxsize=16)
def template(order: int) -> CSP:
    """The empty square.

    >>> template(3).n, template(3).m, len(template(3).constraints[0])
    (9, 3, 6)
    """
    return squares.empty_board(units(order), "latin", {"order": order})


class Latin(Family[LatinParams]):
    """Random Latin squares from which a random share of the cells was taken, so that each can be completed."""

    name = "latin"
    params = LatinParams
    accepts = (LatinSquare,)

    def _draw(self, rng: np.random.Generator, count: int, params: LatinParams) -> list[CSP]:
        draw = python_random(rng)
        problems = []
        for _ in range(count):
            order = draw.randint(*params.order)
            cells = torch.tensor(random_square(order, draw)).view(-1)
            holes = round(draw.uniform(*params.holes) * order * order)
            cells[_balanced(order, holes, draw) if params.balanced else draw.sample(range(order * order), holes)] = -1
            problems.append(template(order).with_given(cells))
        return problems

    def _build(self, payload: LatinSquare, **options: Any) -> CSP:
        order = len(payload.cells)
        return squares.fill(template(order), payload, units(order))

    def fits(self, csp: CSP) -> bool:
        order = csp.info.get("order")
        if type(order) is not int or not 2 <= order <= LatinSquare.largest:
            return False
        return squares.is_filled_from(template(order), csp)

    def view(self, csp: CSP, values: Sequence[int] | None = None) -> View:
        return squares.grid(csp, values, csp.m)

    def answer(self, csp: CSP, values: Sequence[int]) -> dict[str, Any]:
        return squares.board_answer(csp, values)

    def pack(self, csp: CSP) -> Any:
        return squares.line_of(csp.given.tolist(), csp.m)

    def unpack(self, data: Any) -> CSP:
        given = squares.given_of(data)
        return template(round(len(given) ** 0.5)).with_given(given)

    def write(self, csps: Sequence[CSP]) -> str:
        """The order, then the rows, blanks as 0; a blank line between squares."""
        return "\n".join(_text(csp.given.tolist(), csp.m) for csp in csps)


def _text(cells: Sequence[int], order: int) -> str:
    rows = [" ".join(str(value + 1) for value in cells[start : start + order]) for start in range(0, order * order, order)]
    return f"{order}\n" + "".join(f"{row}\n" for row in rows)


def random_square(order: int, draw: random.Random) -> list[list[int]]:
    """A random Latin square: the cyclic one, changed by as many random switches as it has cells, in rows and in columns.

    A switch takes two rows and exchanges their values along a cycle of columns, from a random one on until both rows hold
    every value once again.

    >>> square = random_square(4, random.Random(0))
    >>> all(sorted(line) == [0, 1, 2, 3] for line in [*square, *zip(*square)])
    True
    """
    values = draw.sample(range(order), order)
    square = [[values[(row + column) % order] for column in range(order)] for row in range(order)]
    draw.shuffle(square)
    for _ in range(4):
        square = [list(column) for column in zip(*square, strict=True)]
        for _ in range(order * order // 4 + 1):
            one, two = draw.sample(range(order), 2)
            _switch(square[one], square[two], draw.randrange(order))
        draw.shuffle(square)
    return square


def _balanced(order: int, holes: int, draw: random.Random) -> list[int]:
    """So many cells, as evenly spread over rows and columns as can be: those where another random square has its first values."""
    by_value: list[list[int]] = [[] for _ in range(order)]
    for cell, value in enumerate(value for row in random_square(order, draw) for value in row):
        by_value[value].append(cell)
    whole, rest = divmod(holes, order)
    return [cell for cells in by_value[:whole] for cell in cells] + (draw.sample(by_value[whole], rest) if rest else [])


def _switch(one: list[int], two: list[int], start: int) -> None:
    place = {value: column for column, value in enumerate(one)}
    column = start
    while True:
        one[column], two[column] = two[column], one[column]
        column = place[one[column]]
        if column == start:
            return

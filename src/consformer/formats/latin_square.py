"""Latin squares with holes, as in the benchmarks of quasigroup completion."""

from __future__ import annotations

import numpy as np

from consformer.errors import InputError
from consformer.formats.base import Format, content_lines, head, shorten, text_of, whole
from consformer.formats.payloads import LatinSquare, Payload


class LatinSquareFile(Format):
    """A line with the order N, then N rows of N numbers, 0 (or a negative number, or `.`) for a hole; more squares may follow."""

    name = "latin_square"
    summary = "Latin squares with holes: the order N on a line, then N rows of N blank-separated numbers, 0 for a hole"
    default_family = "latin"

    def recognises(self, data: bytes) -> bool:
        lines = [line.split() for line in head(data, lines=2)]
        if len(lines) < 2 or lines[0][:-1] not in ([], ["order"]):
            return False
        order = whole(lines[0][-1])
        return order is not None and len(lines[1]) > 2 and abs(len(lines[1]) - order) <= 1

    def read(self, data: bytes) -> list[Payload]:
        lines = list(content_lines(text_of(data)))
        squares: list[Payload] = []
        while lines:
            (number, first), rest = lines[0], lines[1:]
            order = whole(first.split()[-1])
            if order is None or not 2 <= order <= LatinSquare.largest:
                raise InputError(
                    f"{shorten(first)} is no order; a square starts with its number of rows, 2 to {LatinSquare.largest}", line=number
                )
            if len(rest) < order:
                raise InputError(f"a square of order {order} has {order} rows, here are {len(rest)}; add the missing ones", line=number)
            rows = [_row(text, order, at) for at, text in rest[:order]]
            squares.append(LatinSquare(np.array(rows), number))
            lines = rest[order:]
        return squares

    @staticmethod
    def sample() -> bytes:
        return b"4\n1 0 3 0\n0 4 0 0\n0 0 0 1\n4 0 0 2\n"


def _row(text: str, order: int, line: int) -> list[int]:
    cells = text.split()
    if len(cells) != order:
        raise InputError(f"this row has {len(cells)} cells, a square of order {order} has {order}", line=line)
    values = []
    for column, cell in enumerate(cells):
        value = 0 if cell in (".", "-1") else whole(cell)
        if value is None or value > order:
            raise InputError(f"{shorten(cell)} in column {column + 1} is no value; use 1 to {order}, and 0 for a hole", line=line)
        values.append(value - 1)
    return values

"""Sudoku boards as text: one board a line, or a row a line with or without drawn borders."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from consformer.errors import InputError
from consformer.formats.base import Format, content_lines, head, shorten, text_of
from consformer.formats.payloads import Board, Payload

_ROWS = (4, 9, 16, 25)
_BOARDS = tuple(size * size for size in _ROWS)
_BORDER = re.compile(r"[-+=|\s]*[-=][-+=|\s]*")


class SudokuLines(Format):
    """Boards of 81 characters (16, 256, 625 too) or as many blank-separated numbers, or grids of rows; `.` or 0 is a blank cell."""

    name = "sudoku_lines"
    summary = "Sudoku, one board a line: 81 characters, . or 0 for a blank; larger boards as blank-separated numbers; or a drawn grid"
    default_family = "sudoku"

    def recognises(self, data: bytes) -> bool:
        first = [line.split("#")[0] for line in head(data, lines=5)]
        lines = [cells_of(line) for line in first if not _BORDER.fullmatch(line)]
        if not lines or "," in first[0]:
            return False
        text = "".join(lines[0])
        alike = sum(character in "0123456789." for character in text)
        if len(text) in _BOARDS[2:] or len(lines[0]) in (16, 25):
            alike += sum(character.isascii() and character.isalpha() for character in text)
        enough = len(lines[0]) >= 8 or (len(lines) > 1 and all(len(cells) == 4 for cells in lines))
        return enough and alike >= 0.7 * len(text)

    def read(self, data: bytes) -> list[Payload]:
        lines = []
        for number, line in content_lines(text_of(data)):
            text = line.split("#")[0].strip()
            if text and not _BORDER.fullmatch(text):
                lines.append((number, cells_of(text)))
        if not lines:
            return []
        width = _row_width([cells for _, cells in lines])
        if width is None:
            return [board_of(cells, number) for number, cells in lines]
        for number, cells in lines:
            if len(cells) != width:
                raise InputError(f"this row has {len(cells)} cells, the rows before have {width}", line=number)
        missing = -len(lines) % width
        if missing:
            last = len(lines) // width * width
            raise InputError(
                f"a board of {width} columns has {width} rows, here are {width - missing}; add the missing ones", line=lines[last][0]
            )
        starts = range(0, len(lines), width)
        return [board_of([cell for _, cells in lines[start : start + width] for cell in cells], lines[start][0]) for start in starts]

    @staticmethod
    def sample() -> bytes:
        return b"# one board a line\n53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79\n"


def cells_of(line: str) -> list[str]:
    """The cells of a line: its numbers if it is blank-separated, else its characters; borders are left out.

    >>> cells_of("53.|.7.|..."), cells_of("16 0 | 3 4"), cells_of("1234")
    (['5', '3', '.', '.', '7', '.', '.', '.', '.'], ['16', '0', '3', '4'], ['1', '2', '3', '4'])
    """
    tokens = line.replace("|", " ").split()
    width = len(tokens[0]) if tokens else 0
    in_boxes = len(tokens) == width and all(len(token) == width for token in tokens)  # as many characters as groups of them
    return list("".join(tokens)) if len(tokens) == 1 or in_boxes else tokens


def _row_width(lines: Sequence[Sequence[str]]) -> int | None:
    """How many columns boards have that are written a row a line; None when there is one board a line."""
    width = len(lines[0])
    if width not in _ROWS:
        return None
    # Sixteen cells are a row of a 16×16 board or a whole 4×4 board.
    if width == 16 and (len(lines) == 1 or all(cell in (".", "0", "1", "2", "3", "4") for cells in lines for cell in cells)):
        return None
    return width


def board_of(cells: Sequence[str], line: int) -> Board:
    """A board from the texts of its cells.

    >>> board_of(list("1234341221434321"), 1).cells[0].tolist()
    [0, 1, 2, 3]
    """
    if len(cells) not in _BOARDS:
        sizes = ", ".join(map(str, _BOARDS[:-1]))
        raise InputError(f"a board has 81 cells (or {sizes.replace('81, ', '')} or {_BOARDS[-1]}), here are {len(cells)}", line=line)
    size = round(len(cells) ** 0.5)
    values = _digits(cells, size)
    if values is None:
        values = np.array(_values(cells, size, line))
    return Board(values.reshape(size, size), line)


def _digits(cells: Sequence[str], size: int) -> NDArray[np.int64] | None:
    """The values of a board of digits; None when there is anything else. (Most boards, and files have thousands of them.)"""
    if size > 9:
        return None
    raw = np.frombuffer("".join(cells).replace(".", "0").encode("ascii", "replace"), dtype=np.uint8).astype(np.int64) - ord("0")
    return raw - 1 if len(raw) == len(cells) and raw.min() >= 0 and raw.max() <= size else None


def _values(cells: Sequence[str], size: int, line: int) -> list[int]:
    """The values of any board, one by one, so that a wrong cell can be told."""
    letters = [cell for cell in cells if len(cell) == 1 and "A" <= cell.upper() <= "Z"]
    first = "A" if size > 9 and letters and not any(cell.isdecimal() and cell != "0" for cell in cells) else "1"
    if letters and size > 9 and "0" in cells and "." in cells:
        raise InputError("both . and 0 stand in this board of letters, which one is blank? Use . and the letters, or numbers", line=line)
    values = []
    for index, cell in enumerate(cells):
        value = _value(cell, first) if size > 9 or not cell.isalpha() else None
        if value is None or not 0 <= value <= size:
            place = f"r{index // size + 1}c{index % size + 1}"
            raise InputError(f"{shorten(cell)} in {place} is no value; use 1 to {size}, and . or 0 for a blank cell", line=line)
        values.append(value - 1)
    return values


def _value(cell: str, first: str) -> int | None:
    """The number a cell stands for, 0 for a blank; letters go on after 9, or start from 1 when there are no digits."""
    if cell == ".":
        return 0
    if cell.isascii() and cell.isdecimal() and len(cell) < 4:
        return int(cell)
    if len(cell) == 1 and "A" <= cell.upper() <= "Z":
        return ord(cell.upper()) - ord("A") + (10 if first == "1" else 1)
    return None

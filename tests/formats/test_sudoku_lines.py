from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consformer import families, formats
from consformer.csp import CSP
from consformer.errors import InputError

BOARD = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
GRID = """
+-------+-------+-------+
| 5 3 . | . 7 . | . . . |
| 6 . . | 1 9 5 | . . . |
| . 9 8 | . . . | . 6 . |
+-------+-------+-------+
| 8 . . | . 6 . | . . 3 |
| 4 . . | 8 . 3 | . . 1 |
| 7 . . | . 2 . | . . 6 |
+-------+-------+-------+
| . 6 . | . . . | 2 8 . |
| . . . | 4 1 9 | . . 5 |
| . . . | . 8 . | . 7 9 |
+-------+-------+-------+
"""


def read(text: str) -> list[CSP]:
    return formats.read_problems(text.encode())


def boards(text: str) -> list[str]:
    return [families.get("sudoku").pack(csp) for csp in read(text)]


def refused(text: str) -> str:
    with pytest.raises(InputError) as caught:
        read(text)
    return str(caught.value)


@given(seed=st.integers(0, 10**6), box=st.sampled_from([2, 3, 4, 5]), count=st.integers(1, 3))
def test_boards_survive_writing_and_reading(seed: int, box: int, count: int) -> None:
    family = families.get("sudoku")
    csps = family.generate(np.random.default_rng(seed), count, {"box": box})
    assert boards(family.write(csps)) == [family.pack(csp) for csp in csps]


@pytest.mark.parametrize(
    "text",
    [
        BOARD,
        BOARD.replace(".", "0"),
        f"# a comment\n\n  {BOARD}  # and another\n",
        "\ufeff" + BOARD,
        " ".join(BOARD),
        GRID,
        GRID.replace(" ", ""),
        GRID.replace("+", "-").replace("| ", "").replace(" |", ""),
        "\n".join(BOARD[row : row + 9] for row in range(0, 81, 9)),
        "\n".join("|".join(BOARD[row + c : row + c + 3] for c in (0, 3, 6)) for row in range(0, 81, 9)),
    ],
)
def test_many_ways_to_write_a_board(text: str) -> None:
    assert boards(text) == [BOARD]


def test_many_boards_in_a_file() -> None:
    assert boards(f"{BOARD}\n# next\n{'.' * 81}\n") == [BOARD, "." * 81]
    assert boards(GRID + GRID) == [BOARD, BOARD]


@pytest.mark.parametrize(
    "text", ["12|..\n..|..\n--+--\n..|..\n..|21\n", "12..\n....\n....\n..21\n", "12............21", "1 2 . .\n. . . .\n. . . .\n. . 2 1"]
)
def test_small_boards(text: str) -> None:
    assert boards(text) == ["12............21"]


def test_large_boards_as_rows_or_letters() -> None:
    (csp,) = families.get("sudoku").generate(np.random.default_rng(0), 1, {"box": 4})
    numbers = families.get("sudoku").pack(csp).split()
    rows = "\n".join(" ".join(numbers[row : row + 16]) for row in range(0, 256, 16))
    letters = "".join(".123456789ABCDEFG"[int(number)] for number in numbers)
    from_a = "".join(".ABCDEFGHIJKLMNOP"[int(number)] for number in numbers)
    letter_rows = "\n".join(letters[row : row + 16] for row in range(0, 256, 16))
    assert boards(rows) == boards(letters) == boards(letters.lower()) == boards(from_a) == boards(letter_rows) == [" ".join(numbers)]


def test_a_wrong_number_of_cells_is_told_with_the_line() -> None:
    assert refused(f"{BOARD}\n{BOARD[:80]}") == "data:2: a board has 81 cells (or 16, 256 or 625), here are 80"
    assert "here are 82" in refused(BOARD + "1")
    assert "here are 255" in refused(" ".join(["0"] * 255))


def test_a_letter_is_told_with_its_cell() -> None:
    assert refused(f"# boards\n{BOARD[:10]}x{BOARD[11:]}") == "data:2: 'x' in r2c2 is no value; use 1 to 9, and . or 0 for a blank cell"


def test_a_value_outside_the_domain_is_told() -> None:
    assert "'17' in r1c2 is no value; use 1 to 16" in refused("0 17 " + "0 " * 254)
    assert "'5' in r1c1 is no value; use 1 to 4" in refused("5" + "." * 15)
    assert "'-3' in r1c1" in refused("-3 " + "0 " * 255)


def test_contradictory_givens_are_told_with_both_cells() -> None:
    assert refused(".5....5.." + "." * 72) == "data:1: r1c2 and r1c7 are both 5, in the same row; one of them must go"
    assert "r1c1 and r9c1 are both 1, in the same column" in refused("1" + "." * 71 + "1" + "." * 8)
    assert "r1c1 and r2c2 are both 1, in the same box" in refused("1........." + "1" + "." * 70)


def test_missing_rows_of_a_grid_are_told() -> None:
    lines = GRID.strip().splitlines()
    assert refused("\n".join(lines[:-2])) == "data:2: a board of 9 columns has 9 rows, here are 8; add the missing ones"
    assert "this row has 8 cells, the rows before have 9" in refused(GRID.replace("| . 7 9 |", "| 7 9 |"))


def test_two_signs_for_blank_among_letters_are_ambiguous() -> None:
    assert "which one is blank?" in refused("A0" + "." * 254)

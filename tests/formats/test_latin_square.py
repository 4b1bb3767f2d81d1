from __future__ import annotations

import pytest

from consformer import formats
from consformer.errors import InputError
from consformer.formats.payloads import LatinSquare

reader = formats.get("latin_square")


def test_several_squares_of_any_order() -> None:
    one, two = reader.read(b"# two squares\n2\n1 0\n0 .\n\norder 3\n1 2 3\n-1 0 0\n0 0 0\n")
    assert isinstance(one, LatinSquare)
    assert isinstance(two, LatinSquare)
    assert one.cells.tolist() == [[0, -1], [-1, -1]]
    assert (one.line, two.line) == (2, 6)
    assert two.cells.tolist()[:2] == [[0, 1, 2], [-1, -1, -1]]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("3\n1 2 3\n", "data:1: a square of order 3 has 3 rows, here are 1"),
        ("3\n1 2\n0 0 0\n0 0 0\n", "data:2: this row has 2 cells"),
        ("3\n1 2 4\n0 0 0\n0 0 0\n", "data:2: '4' in column 3 is no value; use 1 to 3"),
        ("3\n1 x 2\n0 0 0\n0 0 0\n", "data:2: 'x' in column 2"),
        ("1\n1\n", "data:1: '1' is no order"),
        ("x\n1\n", "data:1: 'x' is no order"),
    ],
)
def test_mistakes_are_told_with_their_line(text: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        formats.read_problems(text.encode(), format="latin_square")

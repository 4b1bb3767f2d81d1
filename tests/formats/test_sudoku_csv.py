from __future__ import annotations

import pytest

from consformer import families, formats
from consformer.errors import InputError
from consformer.formats.payloads import Board

QUIZ, SOLUTION = "1030020000004003", "1432321423414123"


def boards(text: str) -> list[str]:
    return [families.get("sudoku").pack(csp).replace(".", "0") for csp in formats.read_problems(text.encode())]


@pytest.mark.parametrize(
    "text",
    [
        f"quiz,solution\n{QUIZ},{SOLUTION}\n",
        f"{QUIZ},{SOLUTION}\n",
        f"quizzes,solutions\r\n{QUIZ.replace('0', '.')},{SOLUTION}\r\n",
        f'source,"question","answer",rating\nx,"{QUIZ}","{SOLUTION}",3\n',
        f"puzzle,difficulty\n{QUIZ},1.5\n",
    ],
)
def test_columns_are_found(text: str) -> None:
    assert boards(text) == [QUIZ]


def test_solutions_can_be_read_as_answers() -> None:
    reader = formats.get("sudoku_csv")
    (answer,) = reader.read_answers(f"quiz,solution\n{QUIZ},{SOLUTION}\n".encode())
    assert isinstance(answer, Board)
    assert "".join(str(cell + 1) for cell in answer.cells.flat) == SOLUTION
    for text in (f"quiz,solution\n{QUIZ},\n", f"quiz,level\n{QUIZ},1\n"):
        with pytest.raises(InputError, match="line 2: there is no solution in this row"):
            reader.read_answers(text.encode())


@pytest.mark.parametrize(
    "text, message",
    [
        (f"quiz,solution\n{QUIZ[:-1]},{SOLUTION}", "data:2: a board has 81 cells"),
        (f"quiz,solution\n{QUIZ},{SOLUTION[:-1]}", "data:2: the solution has 15 cells, the quiz 16"),
        (f"quiz,solution\n{QUIZ},2{SOLUTION[1:]}", "data:2: r1c1 is '1' in the quiz but '2' in the solution"),
        (f"id,quiz\n1,{QUIZ}\n2", "data:3: this row has 1 columns, 2 are needed"),
        (f"{QUIZ[:4]}x{QUIZ[5:]},{SOLUTION}", "data:1: 'x' in r2c1 is no value"),
        (f"11{QUIZ[2:]},\n", "data:1: r1c1 and r1c2 are both 1"),
        ("quiz,solution\n", "data: there is no problem in it"),
    ],
)
def test_mistakes_are_told_with_the_line(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        formats.read_problems(text.encode())

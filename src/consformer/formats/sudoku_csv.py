"""Sudoku boards as comma-separated values: `quiz,solution`."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from consformer.errors import InputError
from consformer.formats.base import Format, head, lines_of, text_of
from consformer.formats.payloads import Board, Payload
from consformer.formats.sudoku_lines import board_of

_QUIZ = ("quiz", "quizzes", "puzzle", "puzzles", "question", "board")
_SOLUTION = ("solution", "solutions", "answer", "answers")


class SudokuCsv(Format):
    """A board per row, with its solution or without; for a problem, it is only checked against the givens. A header is optional."""

    name = "sudoku_csv"
    summary = "Sudoku as csv: quiz,solution with 81 characters each, 0 or . for a blank; a header is optional"
    default_family = "sudoku"

    def recognises(self, data: bytes) -> bool:
        lines = head(data, lines=1)
        if not lines or "," not in lines[0] or lines[0][0] in "{[":
            return False
        names = [name.strip().strip('"').lower() for name in lines[0].split(",")]
        return any(name in _QUIZ for name in names) or any(_looks_like_board(name) for name in names)

    def read(self, data: bytes) -> list[Payload]:
        return [quiz for quiz, _, _ in _boards(data)]

    def read_answers(self, data: bytes) -> list[Payload]:
        answers: list[Payload] = []
        for _, solution, line in _boards(data):
            if not solution:
                raise InputError("there is no solution in this row; answers are the second column, or the one called solution", line=line)
            answers.append(board_of(list(solution), line))
        return answers

    @staticmethod
    def sample() -> bytes:
        return b"quiz,solution\n1030020000004003,1432321423414123\n"


def _boards(data: bytes) -> Iterator[tuple[Board, str, int]]:
    """The board of each row, the text of its solution ("" where there is none), and the number of its line."""
    columns: tuple[int, int | None] | None = None
    for line, fields in _rows(text_of(data)):
        if not any(fields) or fields[0].startswith("#"):
            continue
        if columns is None:
            columns, is_header = _columns(fields)
            if is_header:
                continue
        quiz, solution = columns
        if len(fields) <= max(quiz, solution or 0):
            raise InputError(f"this row has {len(fields)} columns, {max(quiz, solution or 0) + 1} are needed", line=line)
        board, solved = board_of(list(fields[quiz]), line), "" if solution is None else fields[solution]
        if solved:
            _check_solution(fields[quiz], solved, line)
        yield board, solved, line


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """The fields of each row, with the number of its line."""
    rows = csv.reader(lines_of(text))
    try:
        for row in rows:
            yield rows.line_num, [field.strip() for field in row]
    except csv.Error as error:
        raise InputError(f"this is not valid csv: {error}; put a row of quiz,solution on each line", line=rows.line_num) from None


def _columns(first: list[str]) -> tuple[tuple[int, int | None], bool]:
    """Which columns hold quiz and solution, and whether the first row is a header that says so."""
    names = [name.lower() for name in first]
    quiz = next((index for index, name in enumerate(names) if name in _QUIZ), None)
    if quiz is not None:
        return (quiz, next((index for index, name in enumerate(names) if name in _SOLUTION), None)), True
    return (0, 1 if len(first) > 1 else None), False


def _check_solution(quiz: str, solution: str, line: int) -> None:
    if len(solution) != len(quiz):
        raise InputError(f"the solution has {len(solution)} cells, the quiz {len(quiz)}; they must have as many", line=line)
    for index, (given, value) in enumerate(zip(quiz, solution, strict=True)):
        if given not in (".", "0", value):
            size = round(len(quiz) ** 0.5)
            place = f"r{index // size + 1}c{index % size + 1}"
            raise InputError(f"{place} is {given!r} in the quiz but {value!r} in the solution; one of them must be corrected", line=line)


def _looks_like_board(text: str) -> bool:
    return len(text) >= 16 and sum(character in "0123456789." for character in text) >= 0.7 * len(text)

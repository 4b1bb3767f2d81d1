"""`consformer check`: have the independent checker look at answers, from wherever they come."""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from consformer.cli.app import LIMIT_REACHED, SOLVED, app, busy, out
from consformer.cli.files import ColorsOption, FamilyOption, FormatOption, read_problems
from consformer.errors import InputError

if TYPE_CHECKING:
    from consformer.checker import Verdict
    from consformer.csp import CSP
    from consformer.formats.payloads import Board


@app.command()
def check(
    problems: Annotated[str, typer.Argument(help="Problem file, or - for standard input.")],
    answers: Annotated[str, typer.Argument(help="File with an answer for each problem, in the same order, or -.")],
    family: FamilyOption = None,
    format: FormatOption = None,
    colors: ColorsOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: one document, or one per line for many problems.")] = False,
) -> None:
    """Check answers against problems, independently of how they were found.

    Answers are what `solve --json` or `solve --output` writes, lists of values
    as JSON, or solved Sudoku boards: as text, the solutions of a csv file, or
    SATNet's labels.pt.

    [bold]Examples[/]
      consformer check boards.txt answers.jsonl
      consformer check boards.csv boards.csv
      consformer solve graph.col --json | consformer check graph.col -

    [bold]Exit codes[/]
      0  every constraint holds
      2  wrong usage or bad input
      3  some constraint is violated (up to ten of each problem are named)
    """
    from consformer import checker, formats

    if problems == answers == "-":
        raise InputError("problems and answers cannot both come from the standard input; put one of them in a file")
    stated = read_problems(problems, family, format, colors)
    with busy("checking the answers"):
        try:
            given = _read(formats.read_bytes(answers), stated)
        except (InputError, RecursionError) as error:
            told = error if isinstance(error, InputError) else InputError("the JSON is nested too deeply; give plain lists or tables")
            raise told.at("standard input" if answers == "-" else answers) from None
        verdicts = [checker.check(csp, values) for csp, values in zip(stated, given, strict=True)]
    for index, verdict in enumerate(verdicts):
        if as_json:
            print(json.dumps(_document(verdict) if len(verdicts) == 1 else {"index": index, **_document(verdict)}))
        else:
            _say(verdict, "" if len(verdicts) == 1 else f"{index:>5}  ")
    raise typer.Exit(SOLVED if all(verdict.solved for verdict in verdicts) else LIMIT_REACHED)


def _document(verdict: Verdict) -> dict[str, Any]:
    from consformer.constraints.base import plain_number

    return {
        "status": "solved" if verdict.solved else "unsolved",
        "violations": verdict.violations,
        "objective": None if verdict.objective is None else plain_number(verdict.objective),
        "broken": list(verdict.broken),
    }


def _say(verdict: Verdict, prefix: str) -> None:
    objective = "" if verdict.objective is None else f", objective {verdict.objective:.10g}"
    text = "all constraints hold" if verdict.solved else f"{verdict.violations} violated"
    out.print(f"{prefix}{text}{objective}", markup=False, soft_wrap=True)
    for line in verdict.broken:
        out.print(f"{' ' * len(prefix)}  {line}", markup=False, soft_wrap=True)


def _read(data: bytes, problems: Sequence[CSP]) -> list[list[int]]:
    """Value indices for every problem from an answer file."""
    from consformer import families, formats
    from consformer.formats.base import text_of
    from consformer.formats.payloads import Board

    if not data.removeprefix(BOM_UTF8).strip():
        raise InputError("the file is empty; it must hold an answer for every problem")
    found: list[Any]
    if formats.get("csp_json").recognises(data):
        found = _documents(text_of(data), len(problems))
    elif not all(Board in families.of(csp).accepts for csp in problems):
        raise InputError("answers to these problems are JSON: what `solve --json` prints, or lists of values")
    else:
        found = [[int(cell) + 1 for cell in board.cells.flat] for board in _boards(data)]
    if len(found) != len(problems):
        raise InputError(f"answers: {len(found)}, problems: {len(problems)}; give one answer for each, in the same order")
    pairs = enumerate(zip(problems, _in_order(found), strict=True))
    return [_indices(csp, answer, f"answer {index}: " if len(found) > 1 else "") for index, (csp, answer) in pairs]


def _boards(data: bytes) -> list[Board]:
    """The solved boards of a file in any format that has them."""
    from consformer import formats
    from consformer.formats.payloads import Board

    readers = [formats.get(name) for name in ("satnet", "sudoku_csv", "sudoku_lines")]
    reader = next((reader for reader in readers if reader.recognises(data)), readers[-1])
    return [board for board in reader.read_answers(data) if isinstance(board, Board)]


def _documents(text: str, count: int) -> list[Any]:
    """The JSON answers of a file: one after the other (one a line, say), or all in a list."""
    found = list(_parsed(text))
    only = found[0]
    if len(found) == 1 and isinstance(only, list) and (count > 1 or (only and isinstance(only[0], dict))):
        return only
    return found


def _parsed(text: str) -> Iterator[Any]:
    decoder, end = json.JSONDecoder(), 0
    while start := re.compile(r"\S").search(text, end):
        try:
            document, end = decoder.raw_decode(text, start.start())
        except json.JSONDecodeError as error:
            raise InputError(f"not valid JSON: {error.msg} (column {error.colno}); correct it", line=error.lineno) from None
        except ValueError:  # Python reads no whole numbers of thousands of digits
            raise InputError("not valid JSON: a number in it has too many digits; correct it") from None
        yield document


def _in_order(answers: list[Any]) -> list[Any]:
    """Answers in the order of their `index`, where they have one."""
    indices = [answer.get("index") if isinstance(answer, dict) else None for answer in answers]
    if len(answers) == 1 or not all(type(index) is int for index in indices):
        return answers
    places = {index: place for place, index in enumerate(indices)}
    for index in range(len(answers)):
        if index not in places:
            raise InputError(f"no answer has the index {index}; give each index from 0 to {len(answers) - 1} to one answer")
    return [answers[places[index]] for index in range(len(answers))]


def _indices(csp: CSP, answer: Any, which: str) -> list[int]:
    """Value indices from a list of values or a table {variable: value}, under the key `values` or another one, or by itself."""
    values = _values(csp, answer)
    if values is None:
        raise InputError(f"{which}there must be {csp.n} values, as a list in the order of the variables or as a table by their names")
    exact = {label: index for index, label in enumerate(csp.value_labels)}
    spelled = {str(label): index for index, label in enumerate(csp.value_labels)}
    found = []
    for variable, value in enumerate(values):
        index = exact.get(value) if isinstance(value, str) or type(value) is int else None
        index = spelled.get(str(value)) if index is None else index
        if index is None:
            known = ", ".join(map(str, csp.value_labels[:20])) + (", ..." if csp.m > 20 else "")
            raise InputError(f"{which}{value!r}, the value of {csp.name(variable)}, is none of the values {known}")
        found.append(index)
    return found


def _values(csp: CSP, answer: Any) -> list[Any] | None:
    """The values in the order of the variables; None when this is no answer to the problem."""
    names = [str(csp.name(variable)) for variable in range(csp.n)]
    if isinstance(answer, dict):
        if answer.keys() == set(names):
            return [answer[name] for name in names]
        parts = [answer["values"]] if "values" in answer else answer.values()
        return next((found for part in parts if (found := _values(csp, part)) is not None), None)
    flat = list(_flat(answer))
    return flat if isinstance(answer, list) and len(flat) == csp.n else None


def _flat(answer: Any) -> Iterator[Any]:
    if isinstance(answer, list):
        for part in answer:
            yield from _flat(part)
    else:
        yield answer

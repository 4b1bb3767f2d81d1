"""`consformer check`: have the independent checker look at answers, from wherever they come."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from consformer.cli.app import LIMIT_REACHED, SOLVED, app, out

if TYPE_CHECKING:
    from consformer.csp import CSP


@app.command()
def check(
    problems: Annotated[str, typer.Argument(help="Problem file, or - for standard input.")],
    answers: Annotated[str, typer.Argument(help="Answers: what `solve --json` prints, lists of values, or solved Sudoku boards; or -.")],
    family: Annotated[str | None, typer.Option(help="Read the problems as this family.")] = None,
    format: Annotated[str | None, typer.Option(help="Format of the problem file. Default: recognised from the content.")] = None,
    colors: Annotated[int | None, typer.Option(help="Graph colouring: number of colours.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: one document, or one per line for many problems.")] = False,
) -> None:
    """Check answers against problems, independently of how they were found.

    Exit codes: 0 every constraint holds, 2 bad input, 3 some constraint is violated (each is named).
    """
    from consformer import checker, formats
    from consformer.errors import InputError

    options = {} if colors is None else {"colors": colors}
    stated = formats.read_problems(problems, family=family, format=format, **options)
    try:
        given = _read(formats.read_bytes(answers), stated)
    except InputError as error:
        raise error.at("standard input" if answers == "-" else answers) from None
    verdicts = [checker.check(csp, values) for csp, values in zip(stated, given, strict=True)]
    for index, verdict in enumerate(verdicts):
        document: dict[str, Any] = {
            "status": "solved" if verdict.solved else "unsolved",
            "violations": verdict.violations,
            "objective": verdict.objective,
            "broken": list(verdict.broken),
        }
        if as_json:
            print(json.dumps(document if len(verdicts) == 1 else {"index": index, **document}))
        else:
            _say(index if len(verdicts) > 1 else None, document)
    raise typer.Exit(SOLVED if all(verdict.solved for verdict in verdicts) else LIMIT_REACHED)


def _say(index: int | None, document: dict[str, Any]) -> None:
    objective = "" if document["objective"] is None else f", objective {document['objective']:g}"
    prefix = "" if index is None else f"{index:>5}  "
    text = "all constraints hold" if document["status"] == "solved" else f"{document['violations']} violated"
    out.print(f"{prefix}{text}{objective}", markup=False)
    for line in document["broken"]:
        out.print(f"{' ' * len(prefix)}  {line}", markup=False, soft_wrap=True)


def _read(data: bytes, problems: Sequence[CSP]) -> list[list[int]]:
    """Value indices of every problem from an answer file."""
    from consformer import formats
    from consformer.errors import InputError
    from consformer.formats.base import text_of
    from consformer.formats.payloads import Board

    text = text_of(data).strip()
    if not text:
        raise InputError("the file is empty; it must hold an answer for every problem")
    if text[0] in "[{":
        found = _json_answers(text, len(problems))
        answers = [_indices(csp, answer) for csp, answer in zip(problems, found, strict=False)]
    else:
        found = formats.get("sudoku_lines").read(data)
        answers = [board.cells.flatten().tolist() for board in found if isinstance(board, Board)]
    if len(found) != len(problems):
        raise InputError(f"there are {len(found)} answers for {len(problems)} problems; give one for each, in the same order")
    return answers


def _json_answers(text: str, count: int) -> list[Any]:
    from consformer.errors import InputError

    try:
        document = json.loads(text)
    except ValueError:
        documents = []
        for number, line in enumerate(text.splitlines(), 1):
            try:
                documents += [json.loads(line)] if line.strip() else []
            except ValueError as error:
                raise InputError(f"not valid JSON: {error}", line=number) from None
        return documents
    many = isinstance(document, list) and (count > 1 or (bool(document) and isinstance(document[0], list | dict)))
    return list(document) if many else [document]


def _indices(csp: CSP, answer: Any) -> list[int]:
    """Value indices from `{"values": [...]}`, `{"values": {variable: value}}` or a plain list of values."""
    from consformer.errors import InputError

    values = answer.get("values") if isinstance(answer, dict) else answer
    if isinstance(values, dict):
        names = [str(csp.name(i)) for i in range(csp.n)]
        missing = [name for name in names if name not in values]
        if missing:
            raise InputError(f"the answer has no value for {missing[0]}")
        values = [values[name] for name in names]
    if not isinstance(values, list) or len(values) != csp.n:
        raise InputError(f"an answer must have the {csp.n} values of the variables in order, as a list or under the key 'values'")
    index = {str(label): i for i, label in enumerate(csp.value_labels)}
    for position, value in enumerate(values):
        if str(value) not in index:
            known = ", ".join(map(str, csp.value_labels[:20]))
            raise InputError(f"{value!r}, the value of {csp.name(position)}, is none of the values {known}")
    return [index[str(value)] for value in values]

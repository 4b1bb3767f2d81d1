"""`consformer generate FAMILY`: random problems, one sub-command per family made from its parameters."""

from __future__ import annotations

import inspect
import json
import re
import typing
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from consformer import families
from consformer.cli.app import app, err
from consformer.cli.files import check_writable, write_text
from consformer.csp import CSP
from consformer.families.base import Params

PORTION = 50  # problems drawn between two looks at the progress bar; part of what a seed means

generate = typer.Typer()
app.add_typer(generate, name="generate")


@generate.callback(invoke_without_command=True)
def _start(context: typer.Context) -> None:
    """Draw random problems and write them to a file or standard output.

    [bold]Examples[/]
      consformer generate sudoku --count 20 --unique --output boards.txt
      consformer generate coloring --vertices 30..60 | consformer solve -

    Every family has its own options: consformer generate FAMILY --help
    """
    if context.invoked_subcommand is None:
        print(context.get_help())


def _command(family: families.Family[Any]) -> Callable[..., None]:
    """A command whose options are the family's generation parameters."""
    hints = typing.get_type_hints(family.params)
    options = {item.name: _option(item.name, hints[item.name], item.default, item.metadata["help"]) for item in fields(family.params)}

    def run(
        count: Annotated[int, typer.Option("--count", "-n", help="How many problems.", min=1)] = 1,
        seed: Annotated[int, typer.Option(help="The same seed gives the same problems.", min=0)] = 0,
        output: Annotated[
            Path | None, typer.Option("--output", "-o", readable=False, help="File to write. Default: standard output.")
        ] = None,
        **params: Any,
    ) -> None:
        asked = {name: _value(text, hints[name]) for name, text in params.items() if text is not None}
        _generate(family, count, seed, output, asked)

    own = [parameter for parameter in inspect.signature(run, eval_str=True).parameters.values() if parameter.kind != parameter.VAR_KEYWORD]
    run.__signature__ = inspect.Signature([*own, *options.values()])  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, *options.values()]}
    run.__doc__ = _reflowed(family.__doc__ or "")
    return run


def _reflowed(text: str) -> str:
    """Paragraphs on one line each, to be wrapped as the terminal needs."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in inspect.cleandoc(text).split("\n\n"))


def _option(name: str, hint: Any, default: Any, help: str) -> inspect.Parameter:
    text = f"{help[:1].upper()}{help[1:]}."
    if hint is bool:
        kind, start = Annotated[bool, typer.Option(help=text)], default
    else:
        text += "" if default is None else f" Default: {_text(default)}."
        kind, start = Annotated[str | None, typer.Option(help=text, metavar=_metavar(hint))], None
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=start, annotation=kind)


def _metavar(hint: Any) -> str:
    text = str(hint)
    if "tuple[int, int]" in text or "tuple[float, float]" in text:
        return "LOW..HIGH"
    return "A,B,..." if "tuple" in text else "N" if hint is int else "TEXT"


def _text(default: Any) -> str:
    if not isinstance(default, tuple):
        return str(default)
    if all(isinstance(item, int | float) for item in default):
        return "..".join(map(str, dict.fromkeys(default)))
    return ",".join(map(str, default))


def _value(text: Any, hint: Any) -> Any:
    """What was typed, as plain data: 31..42 is a range, a,b a list, and numbers are numbers."""
    if not isinstance(text, str):
        return text
    if match := re.fullmatch(r"(.+?)\.\.(.+)", text):
        return [_value(match[1], hint), _value(match[2], hint)]
    if "," in text or "..." in str(hint):
        return [_value(part, str) for part in text.split(",")]
    try:
        return json.loads(text) if re.fullmatch(r"-?[\d.]+(e-?\d+)?", text) else text
    except ValueError:
        return text


def _generate(family: families.Family[Any], count: int, seed: int, output: Path | None, params: dict[str, Any]) -> None:
    settings = family.settings(params)
    if output is not None:
        check_writable(output)
    text = family.write(_draw(family, count, seed, settings))
    if output is None:
        print(text, end="")
        return
    write_text(output, text)
    err.print(f"{count} {family.name} problem{'s' if count > 1 else ''} written to {output}", markup=False, soft_wrap=True)


def _draw(family: families.Family[Any], count: int, seed: int, settings: Params) -> list[CSP]:
    """The problems, with a progress bar on a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    rng = np.random.default_rng(seed)
    found: list[CSP] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
        task = progress.add_task(f"drawing {family.name}", total=count)
        while len(found) < count:
            found += family.generate(rng, min(PORTION, count - len(found)), settings)
            progress.update(task, completed=len(found))
    return found


for _name in families.names():
    generate.command(_name)(_command(families.get(_name)))

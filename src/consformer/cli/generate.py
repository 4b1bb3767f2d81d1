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

import typer

from consformer import families
from consformer.cli.app import app, err

generate = typer.Typer(no_args_is_help=True, help="Draw random problems and write them to a file or standard output.")
app.add_typer(generate, name="generate")


def _command(family: families.Family[Any]) -> Callable[..., None]:
    """A command whose options are the family's generation parameters."""
    hints = typing.get_type_hints(family.params)
    options = {item.name: _option(item.name, hints[item.name], item.default, item.metadata["help"]) for item in fields(family.params)}

    def run(
        count: Annotated[int, typer.Option("--count", "-n", help="How many problems.", min=1)] = 1,
        seed: Annotated[int, typer.Option(help="The same seed gives the same problems.")] = 0,
        output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write; default: standard output.")] = None,
        **params: Any,
    ) -> None:
        asked = {name: _value(text, hints[name]) for name, text in params.items() if text is not None}
        _generate(family, count, seed, output, asked)

    own = [parameter for parameter in inspect.signature(run, eval_str=True).parameters.values() if parameter.kind != parameter.VAR_KEYWORD]
    run.__signature__ = inspect.Signature([*own, *options.values()])  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, *options.values()]}
    run.__doc__ = family.__doc__
    return run


def _option(name: str, hint: Any, default: Any, help: str) -> inspect.Parameter:
    if hint is bool:
        kind, start = Annotated[bool, typer.Option(help=help)], default
    else:
        kind, start = Annotated[str | None, typer.Option(help=help, show_default=_text(default), metavar=_metavar(hint))], None  # type: ignore[assignment]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=start, annotation=kind)


def _metavar(hint: Any) -> str:
    text = str(hint)
    if "tuple[int, int]" in text or "tuple[float, float]" in text:
        return "LOW..HIGH"
    return "A,B,..." if "tuple" in text else "N" if hint is int else "VALUE"


def _text(default: Any) -> str | bool:
    if default is None:
        return False
    if isinstance(default, tuple) and len(default) == 2 and all(isinstance(item, int | float) for item in default):
        return f"{default[0]}..{default[1]}" if default[0] != default[1] else str(default[0])
    return str(default)


def _value(text: Any, hint: Any) -> Any:
    """What was typed, as plain data: 31..42 is a range, a,b a list, and numbers are numbers."""
    if not isinstance(text, str):
        return text
    if match := re.fullmatch(r"(.+?)\.\.(.+)", text):
        return [_value(match[1], hint), _value(match[2], hint)]
    if "," in text or "..." in str(hint):
        return [_value(part, str) for part in text.split(",")]
    try:
        return json.loads(text)
    except ValueError:
        return text


def _generate(family: families.Family[Any], count: int, seed: int, output: Path | None, params: dict[str, Any]) -> None:
    import numpy as np

    from consformer.errors import InputError

    settings = family.settings(params)
    with err.status(f"drawing {count} {family.name} problems") if err.is_terminal else _quiet():
        text = family.write(family.generate(np.random.default_rng(seed), count, settings))
    if output is None:
        print(text, end="")
        return
    try:
        output.write_text(text)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", source=output) from error
    err.print(f"{count} {family.name} problem{'s' if count > 1 else ''} written to {output}", markup=False)


class _quiet:  # noqa: N801
    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...


for _name in families.names():
    generate.command(_name)(_command(families.get(_name)))

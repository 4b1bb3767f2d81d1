"""Reading problems and writing files, the same way in every command."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from consformer import families, formats
from consformer.cli.app import busy
from consformer.csp import CSP
from consformer.errors import InputError
from consformer.files import is_plain, replace_atomically

FamilyOption = Annotated[
    str | None, typer.Option(help=f"Read the problems as this family: {', '.join(families.names())}. Default: the format's.")
]
FormatOption = Annotated[
    str | None, typer.Option(help=f"Format of the problem file: {', '.join(formats.names())}. Default: recognised from the content.")
]
ColorsOption = Annotated[
    int | None,
    typer.Option(help="Graph colouring: number of colours. Default: what the file says, else as many as greedy colouring needs."),
]


def read_problems(file: str, family: str | None, format: str | None, colors: int | None) -> list[CSP]:
    """The problems of a file, with the options above."""
    options = {} if colors is None else {"colors": colors}
    with busy(f"reading {file}"):
        return formats.read_problems(file, family=family, format=format, **options)


def check_writable(path: Path) -> None:
    """Tell before the work, not after it, that a file cannot be written."""
    if path.is_dir():
        raise InputError("this is a directory; name a file to write", source=path)
    if not path.parent.is_dir():
        raise InputError(f"cannot be written: there is no folder {path.parent}; make it, or name another file", source=path)
    if path.exists() and not os.access(path, os.W_OK):
        raise InputError("cannot be written: no permission; name another file", source=path)
    if is_plain(path):
        try:
            with tempfile.TemporaryFile(dir=path.parent):
                pass
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror or error}; name another file", source=path) from error


def write_text(path: Path, text: str) -> None:
    """Write a file, all or nothing: on a full disk, what was there before is still there."""
    try:
        replace_atomically(path, text.encode())
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}; name another file", source=path) from error

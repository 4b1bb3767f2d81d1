"""The command line: one file per command, errors as one line, exit codes that scripts can rely on."""

from __future__ import annotations

import sys
from typing import NoReturn

import typer
from rich.console import Console

from consformer.errors import ConsformerError

SOLVED, BAD_INPUT, LIMIT_REACHED, INTERRUPTED = 0, 2, 3, 130

app = typer.Typer(
    name="consformer",
    help="Solve constraint problems with a Transformer that repairs assignments.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

# Colour only on a terminal; everything that is not the answer goes to standard error.
out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def fail(message: str) -> NoReturn:
    """Say what is wrong in one line and stop."""
    err.print(f"[bold red]error:[/] {_plain(message)}", soft_wrap=True)
    raise SystemExit(BAD_INPUT)


def main() -> None:
    """Entry point of the `consformer` command."""
    from consformer.cli import commands  # noqa: F401  (registers them)

    try:
        app()
    except ConsformerError as error:
        fail(str(error))
    except KeyboardInterrupt:
        err.print("interrupted")
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # `consformer ... | head`
        sys.stderr.close()
        sys.exit(BAD_INPUT)


def _plain(message: str) -> str:
    return " ".join(message.split()).replace("[", r"\[")

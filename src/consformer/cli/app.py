"""The command line: one file per command, errors as one line, exit codes that scripts can rely on."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from types import FrameType
from typing import Annotated, Any, TextIO

import typer
from rich.console import Console
from rich.text import Text

import consformer
from consformer.errors import ConsformerError

SOLVED, BAD_INPUT, LIMIT_REACHED, INFEASIBLE, INTERRUPTED, PIPE_CLOSED = 0, 2, 3, 4, 130, 141

app = typer.Typer(
    name="consformer",
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # `run` knows what to do


# Colour only on a terminal; everything that is not the answer goes to standard error.
out = _Console(highlight=False, emoji=False)
err = _Console(stderr=True, highlight=False, emoji=False)


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Solve constraint problems with a Transformer that repairs assignments.

    [bold]Examples[/]
      consformer generate sudoku --output board.txt
      consformer solve board.txt

    Options, examples and exit codes of a command: consformer COMMAND --help
    """
    if version:
        print(f"consformer {consformer.__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


def main() -> None:
    """Entry point of the `consformer` command."""
    from consformer.cli import commands  # noqa: F401  (registers them)

    if sys.stdin is None:  # closed by the caller: the same as empty
        sys.stdin = io.TextIOWrapper(io.BytesIO())
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # an odd character in a name is no reason to stop
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run a command and give its exit code; whatever a user may meet is told in one line."""
    try:
        return _told(arguments)
    except BrokenPipeError:  # `consformer ... | head`
        for stream in (sys.stdout, sys.stderr):
            _discard(stream)
        return PIPE_CLOSED


def _told(arguments: list[str]) -> int:
    try:
        code = _invoke(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        err.print("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:
        message = _explain(error)
        if message is None:
            raise
        err.print(Text.assemble(("error:", "bold red"), " ", " ".join(message.split())), soft_wrap=True)
        return BAD_INPUT


def _invoke(arguments: list[str]) -> int:
    command = typer.main.get_command(app)
    try:
        with command.make_context("consformer", arguments) as context:
            command.invoke(context)
    except typer.Exit as stop:
        return stop.exit_code
    return SOLVED


def _explain(error: Exception) -> str | None:
    """What to tell the user; None when it is a mistake of this program."""
    if isinstance(error, ConsformerError):
        return str(error)
    if hasattr(error, "format_message"):  # a command line that typer does not understand
        return _usage(error)
    if isinstance(error, OSError):
        if error.filename is None:  # a full disk, say
            _discard(sys.stdout)
        return f"{error.filename or 'standard output'}: {error.strerror or error}"
    if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
        return "there is not enough memory for this; take a smaller pool, or fewer or smaller problems at a time"
    return None


def _usage(error: Any) -> str:
    message = str(error.format_message())
    near = getattr(error, "possibilities", None)
    if near:
        message = f"{error.message}. Did you mean {' or '.join(sorted(near))}?"
    context = getattr(error, "ctx", None)
    return f"{message.rstrip('.')}{'' if message.endswith('?') else '.'} See {context.command_path if context else 'consformer'} --help"


def _discard(stream: TextIO) -> None:
    """Nobody reads the rest: Python must not try to write it when it ends."""
    with contextlib.suppress(OSError, ValueError, AttributeError):  # it may be closed, or none at all
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def busy(message: str) -> AbstractContextManager[object]:
    """Show on a terminal that something is going on that may take a while."""
    return err.status(Text(message)) if err.is_terminal else contextlib.nullcontext()


@contextlib.contextmanager
def noting_ctrl_c() -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C only makes the function that this gives say True, so that work ends in order; the second interrupts."""
    pressed = False

    def note(signum: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True

    usual = signal.getsignal(signal.SIGINT)
    # A job in the background ignores it, and only the main thread can be told.
    listen = usual is signal.default_int_handler and threading.current_thread() is threading.main_thread()
    if listen:
        signal.signal(signal.SIGINT, note)
    try:
        yield lambda: pressed
    finally:
        if listen:
            signal.signal(signal.SIGINT, usual)

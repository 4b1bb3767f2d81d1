"""Errors a user may meet. Every message says what was wrong and what would be right."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice
from pathlib import Path


class ConsformerError(Exception):
    """Root of all errors this package raises on purpose; the command line prints it as one line."""


class InputError(ConsformerError):
    """A file or text that cannot be read as a problem."""

    def __init__(self, message: str, *, source: str | Path | None = None, line: int | None = None) -> None:
        place = "" if source is None else f"{source}"
        if line is not None:
            place += f":{line}" if place else f"line {line}"
        super().__init__(f"{place}: {message}" if place else message)
        self.message, self.source, self.line = message, source, line

    def at(self, source: str | Path) -> InputError:
        """The same error, naming the file it came from."""
        return self if self.source is not None else type(self)(self.message, source=source, line=self.line)


class ModelError(ConsformerError):
    """A problem that cannot be stated this way: raised at the line of user code that made it."""


class CheckpointError(ConsformerError):
    """A network file that is damaged, of another version, or does not fit the problem."""


class RecipeError(ConsformerError):
    """A training recipe with a missing, unknown or impossible setting."""


class UnknownNameError(ConsformerError):
    """A name that is not in a registry; suggests the nearest one.

    >>> print(UnknownNameError("family", "sudku", ["sudoku", "nurse"]))
    unknown family 'sudku': did you mean 'sudoku'? (there are: nurse, sudoku)
    """

    def __init__(self, what: str, name: str, choices: Iterable[str]) -> None:
        known = sorted(choices)
        near, listed = did_you_mean(name, known), f"there are: {', '.join(known)}"
        super().__init__(f"unknown {what} {name!r}{near} ({listed})" if near else f"unknown {what} {name!r}: {listed}")


def did_you_mean(name: object, choices: Iterable[object]) -> str:
    """The end of a message about a misspelt name: the nearest of the choices, or nothing when none is near.

    >>> did_you_mean("sudku", ["sudoku", "nurse"]), did_you_mean("xyz", ["sudoku", "nurse"])
    (": did you mean 'sudoku'?", '')
    """
    if not isinstance(name, str) or len(name) > 100:  # comparing takes time in proportion to the lengths
        return ""
    near = difflib.get_close_matches(name, [str(choice) for choice in islice(choices, 1000)], n=1, cutoff=0.5)
    return f": did you mean {near[0]!r}?" if near else ""

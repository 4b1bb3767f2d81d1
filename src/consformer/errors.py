"""Errors a user may meet. Every message says what was wrong and what would be right."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
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
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}? (there are: {', '.join(known)})" if near else f"there are: {', '.join(known)}"
        super().__init__(f"unknown {what} {name!r}: {hint}")

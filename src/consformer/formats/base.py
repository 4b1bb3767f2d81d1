"""The contract of a file format.

A format is one file in this package (a large one a folder, as `csp_json`) with one subclass of `Format`: it recognises its files
by their content and reads them into payloads. Subclassing registers it; nothing else has to be edited. Every mistake in a file is
an `InputError` that says in one line where it is (line from 1) and what would be right; `read_problems` adds the file's name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from consformer.errors import InputError
from consformer.formats.payloads import Payload


class Format(ABC):
    """A file format. Objects have no state: `formats.get(name)` makes one."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """One line for the list of formats: what it looks like."""
    default_family: ClassVar[str | None] = None
    """The family its payloads are problems of unless the user says otherwise; None for ready problems."""
    registry: ClassVar[dict[str, type[Format]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        Format.registry[cls.name] = cls

    @abstractmethod
    def recognises(self, data: bytes) -> bool:
        """Whether a file looks as if it were meant to be in this format, right or wrong; at most one format may say yes."""

    @abstractmethod
    def read(self, data: bytes) -> list[Payload]:
        """All problems in a file; `InputError` with the line when something is wrong with it."""

    def read_answers(self, data: bytes) -> list[Payload]:
        """What a file in this format holds as answers: solved problems; by default all there is in it."""
        return self.read(data)

    @staticmethod
    @abstractmethod
    def sample() -> bytes:
        """A small right file, for tests and documentation."""


def text_of(data: bytes) -> str:
    """The content of a text file (UTF-8, a byte order mark is fine); an error for anything else.

    >>> text_of(b"\\xef\\xbb\\xbfp edge 2 1")
    'p edge 2 1'
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"this is not a text file (byte {error.object[error.start]:#04x} is not UTF-8); give a text file, or name its format"
        ) from None
    if "\0" in text:
        raise InputError("this is a binary file; give a text file, or name its format")
    return text


def lines_of(text: str) -> list[str]:
    r"""Lines as an editor counts them (`str.splitlines` knows too many line ends).

    >>> lines_of("a\r\nb\x0cc\n")
    ['a', 'b\x0cc', '']
    """
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def content_lines(text: str, comment: str = "#") -> Iterator[tuple[int, str]]:
    """Lines that are neither blank nor a comment, stripped, with their numbers from 1.

    >>> list(content_lines("# two\\n\\n a \\nb"))
    [(3, 'a'), (4, 'b')]
    """
    for number, line in enumerate(lines_of(text), 1):
        stripped = line.strip()
        if stripped and not stripped.startswith(comment):
            yield number, stripped


def head(data: bytes, comment: str = "#", lines: int = 3, size: int = 65536) -> list[str]:
    """The first content lines of what may be a text file, to recognise it by; none when it is binary.

    >>> head(b"# a\\n1 2 3\\n4"), head(b"\\x80\\x02")
    (['1 2 3', '4'], [])
    """
    try:
        text = data[:size].decode("utf-8-sig", errors="strict" if len(data) <= size else "ignore")
    except UnicodeDecodeError:
        return []
    if "\0" in text:
        return []
    return [line for _, line in content_lines(text, comment)][:lines]


def whole(word: str) -> int | None:
    """A word as a whole number from 0, of a size that fits an array; None when it is no such number.

    >>> whole("12"), whole("-1"), whole("1e3")
    (12, None, None)
    """
    return int(word) if word.isascii() and word.isdecimal() and len(word) <= 18 else None


def shorten(text: str, width: int = 40) -> str:
    """A piece of a file to quote in a message, on one line.

    >>> shorten("x" * 50)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'"
    """
    return repr(text if len(text) <= width else text[: width - 3] + "...")

"""Running the command line in tests: within this process, where errors are told as users get them, or as a process of its own."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Protocol


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def documents(self) -> list[dict[str, Any]]:
        """The JSON documents on standard output, which holds nothing else."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def document(self) -> dict[str, Any]:
        (document,) = self.documents
        return document

    def refused(self, *parts: str) -> None:
        """Bad input: exit code 2, one line on standard error that has these parts, nothing on standard output."""
        assert self.code == 2, self
        assert self.out == ""
        assert self.err.startswith("error: ")
        assert self.err.count("\n") == 1, self.err
        assert self.err.endswith("\n")
        for part in parts:
            assert part in self.err


class Cli(Protocol):
    """`cli("solve", path, input="...")`: run it in this process."""

    def __call__(self, *arguments: object, input: str | bytes | None = None) -> Ran: ...


def no_space(*_: object, **__: object) -> NoReturn:
    """In the place of a function that writes: the disk is full."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def no_permission(path: Path) -> NoReturn:
    """In the place of a function that reads a file."""
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def not_yet(*_: object, **__: object) -> NoReturn:
    """In the place of the work: what is wrong should have been told before it."""
    raise AssertionError("this should have been told before")


_LISTEN = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # even when these tests run in the background


def process(*arguments: object, code: str = "from consformer.cli import main; main()", **options: Any) -> subprocess.Popen[str]:
    """The command line as a process of its own."""
    environment = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE")}
    return subprocess.Popen(
        [sys.executable, "-c", _LISTEN + code, *map(str, arguments)],
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        text=True,
        env={**environment, "OMP_NUM_THREADS": "1", "TERM": "xterm-256color"},
        **options,
    )


def clique(path: Path, size: int) -> Path:
    """A graph file: every vertex joined to every other."""
    edges = [(one, two) for one in range(1, size + 1) for two in range(one + 1, size + 1)]
    path.write_text(f"p edge {size} {len(edges)}\n" + "".join(f"e {one} {two}\n" for one, two in edges))
    return path

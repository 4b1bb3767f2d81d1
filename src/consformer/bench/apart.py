"""Calling a function in a process of its own, which is killed when it overruns and may crash without taking anything along."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any, Generic, Literal, TypeVar

T = TypeVar("T")
STARTING = 300.0  # seconds within which a process must be there


@dataclass(frozen=True)
class Called(Generic[T]):
    """What came of a call."""

    status: Literal["returned", "overran", "crashed"]
    value: T | None = None
    reason: str = ""  # what was raised, or how the process ended


class Apart:
    """A process for calls, one after the other; started on first use and again after one that had to be killed.

    It starts with nothing of this process but what it imports, and ends with it.
    """

    def __init__(self) -> None:
        self._process: SpawnProcess | None = None
        self._line: Connection | None = None

    def __enter__(self) -> Apart:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Have the process there, so that a call need not wait for it."""
        if self._process is not None and self._process.is_alive():
            return
        self.close()
        context = get_context("spawn")
        self._line, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        other.close()
        if not self._line.poll(STARTING):
            self.close()
            raise RuntimeError("a process for measurements did not start")
        with contextlib.suppress(EOFError):  # it is gone already: the call will tell
            self._line.recv()

    def call(self, function: Callable[..., T], *arguments: Any, seconds: float) -> Called[T]:
        """Call a function of a module (both must be picklable); after so many seconds the process is killed."""
        self.start()
        assert self._line is not None
        assert self._process is not None
        try:
            self._line.send((function, arguments))
            if not self._line.poll(seconds):
                self.close()
                return Called("overran", reason=f"killed after {seconds:.1f} s")
            raised, value = self._line.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            self._process.join(5)
            code = self._process.exitcode
            self.close()
            return Called("crashed", reason=_ending(code))
        return Called("crashed", reason=value) if raised else Called("returned", value)

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None
        if self._line is not None:
            self._line.close()
            self._line = None


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


def _serve(line: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that calls ends this one
    threading.Thread(target=_end_with_caller, daemon=True).start()
    line.send("ready")
    while True:
        try:
            function, arguments = line.recv()
        except EOFError:
            return
        try:
            answer = (False, function(*arguments))
        except Exception as error:
            answer = (True, f"{type(error).__name__}: {error}")
        line.send(answer)


def _end_with_caller() -> None:
    """A caller that was killed cannot end this process, which may be in the middle of a long call."""
    caller = parent_process()
    if caller is not None:
        caller.join()
        os._exit(1)

"""Compiled code for what is too slow otherwise; each module has a slower twin with the same results (`chain`: with other random numbers).

Compiled on first use (attention takes about a second, local search and whole iterations more than ten, kept on disk afterwards), and
imported only then: loading the compiler takes time too.
"""

from __future__ import annotations

import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

SLOW = 2.0  # seconds after which loading is compiling, and is told
Function = TypeVar("Function", bound=Callable[..., Any])


@cache
def available() -> bool:
    """Whether there is a compiler (numba) for this version of Python."""
    return find_spec("numba") is not None


def loaded(module: str) -> bool:
    """Whether compiled code is there already, so that nobody has to wait for it."""
    return f"consformer.compiled.{module}" in sys.modules


@cache
def failure(module: str) -> str | None:
    """Load compiled code by the name of its module here; why that fails, if it does (a compiler that does not fit numpy, say)."""
    try:
        import_module(f"consformer.compiled.{module}")
    except Exception as error:  # whatever a compiler may raise, others can do without it
        return f"its compiled code cannot be loaded: {error}"
    return None


@contextmanager
def telling(tell: Callable[[str], None], what: str) -> Iterator[None]:
    """Around loading compiled code: when it takes so long that it must be compiling, that is told."""
    timer = threading.Timer(SLOW, tell, [f"compiling {what}: once per installation, and off the clock"])
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def stamped(*sources: Path) -> Callable[[Function], Function]:
    """Give a function a name, for the compiler only, that changes with these files.

    Compiled code is kept on disk by the function's name and is made anew when its own file changes; what it calls may stand in others.
    """
    stamp = f"_{zlib.crc32(b''.join(source.read_bytes() for source in sources)):08x}"

    def named(function: Function) -> Function:
        function.__qualname__ += stamp
        return function

    return named

"""Compiled code for what is too slow otherwise; each module has a slower twin with the same results.

Compiled on first use (attention takes about a second, local search more than ten, kept on disk afterwards), and imported only then:
loading the compiler takes time too.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec


@cache
def available() -> bool:
    """Whether there is a compiler (numba) for this version of Python."""
    return find_spec("numba") is not None

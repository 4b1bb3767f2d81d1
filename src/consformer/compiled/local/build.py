"""How the functions of local search are compiled: what is called from outside at once and for good, all else along with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from consformer.compiled import available, stamped
from consformer.compiled.local.state import State

Function = TypeVar("Function", bound=Callable[..., Any])


def part(inline: bool = False) -> Callable[[Function], Function]:
    """Compile, where there is a compiler, along with what calls it."""
    if not available():
        return lambda function: function
    import numba

    return numba.njit(inline="always" if inline else "never", no_cpython_wrapper=True, no_cfunc_wrapper=True)  # type: ignore[no-any-return]


def entry(function: Function) -> Function:
    """Compile, where there is a compiler, at once, for good, and without holding up other threads."""
    if not available():
        return function
    import numba

    one, two = np.zeros(1, np.int64), np.zeros((1, 1), np.int64)
    matrices = ("variable", "table", "tabu", "pair", "scope", "ring", "kept")
    blank = State(**{name: two if name in matrices else one for name in State._fields if name != "random"}, random=np.zeros(1, np.uint64))
    keep = numba.njit(numba.int64(numba.typeof(blank), numba.int64), nogil=True, cache=True)
    return keep(stamped(*sorted(Path(__file__).parent.glob("*.py")))(function))  # type: ignore[no-any-return]

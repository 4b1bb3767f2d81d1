"""The twins that are not compiled: slow, and the same to the last move."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from consformer.compiled.local import anneal, best, chance, restart, table, tabu

PARTS = (chance, table, best, tabu, anneal, restart)


def plain(*more: ModuleType) -> dict[str, Callable[..., Any]]:
    """All functions of these modules, and of more that use them, as they are written; they call each other, and nothing compiled."""
    modules = (*PARTS, *more)
    shared: dict[str, Any] = {}
    for module in modules:
        shared |= vars(module)
    found: dict[str, Callable[..., Any]] = {}
    for module in modules:
        for name, function in vars(module).items():
            source = getattr(function, "py_func", function)
            if isinstance(source, FunctionType) and source.__module__ == module.__name__:
                shared[name] = found[name] = FunctionType(source.__code__, shared, name)
    return found

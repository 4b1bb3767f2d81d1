"""Constraint kinds: one file each, found by importing this package's modules (adding a kind is adding a file)."""

from __future__ import annotations

import importlib
import pkgutil

from consformer.constraints.base import Constraint, Record
from consformer.errors import UnknownNameError

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")


def kind(name: str) -> type[Constraint]:
    """The constraint kind of that name.

    >>> kind("all_different").__name__
    'AllDifferent'
    """
    if name not in Constraint.registry:
        raise UnknownNameError("constraint kind", name, Constraint.registry)
    return Constraint.registry[name]


__all__ = ["Constraint", "Record", "kind"]

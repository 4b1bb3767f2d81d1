"""Problem families: one file each, found by importing this package's modules (adding a family is adding a file)."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from consformer.csp import CSP
from consformer.errors import UnknownNameError
from consformer.families.base import Family, Params
from consformer.families.general import General

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")


def get(name: str) -> Family[Any]:
    """The family of that name.

    >>> get("sudoku").name
    'sudoku'
    """
    if name not in Family.registry:
        raise UnknownNameError("family", name, Family.registry)
    return Family.registry[name]()


def names() -> list[str]:
    """All families, in alphabetical order.

    >>> names()
    ['coloring', 'latin', 'maxcut', 'nurse', 'planted', 'sudoku']
    """
    return sorted(Family.registry)


def of(csp: CSP) -> Family[Any]:
    """The family a problem belongs to; one that knows nothing but variables and values when it belongs to none.

    >>> of(get("sudoku").unpack("." * 81)).name
    'sudoku'
    """
    if csp.family in Family.registry:
        family = get(csp.family)
        if family.fits(csp):
            return family
    return General[Params]()


__all__ = ["Family", "get", "names", "of"]

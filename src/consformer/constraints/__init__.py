"""Constraint kinds: one file each, found by importing this package's modules (adding a kind is adding a file)."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable

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


def compile_records(records: Iterable[Record]) -> tuple[Constraint, ...]:
    """Records of any kinds as a CSP holds them: one entry per kind, ordered by name.

    >>> [c.kind for c in compile_records([{"kind": "not_equal", "scope": [0, 1]}, {"kind": "all_different", "scope": [0, 1, 2]}])]
    ['all_different', 'not_equal']
    """
    by_kind: dict[str, list[Record]] = {}
    for record in records:
        by_kind.setdefault(record["kind"], []).append(record)
    return tuple(kind(name).from_records(by_kind[name]) for name in sorted(by_kind))


__all__ = ["Constraint", "Record", "compile_records", "kind"]

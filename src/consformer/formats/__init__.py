"""File formats: one file each, found by importing this package's modules (adding a format is adding a file)."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path
from typing import Any

from consformer import families
from consformer.csp import CSP
from consformer.errors import InputError, UnknownNameError
from consformer.formats.base import Format, text_of
from consformer.formats.payloads import Payload

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")


def get(name: str) -> Format:
    """The format of that name.

    >>> get("gset").default_family
    'maxcut'
    """
    if name not in Format.registry:
        raise UnknownNameError("format", name, Format.registry)
    return Format.registry[name]()


def names() -> list[str]:
    """All formats, in alphabetical order.

    >>> "dimacs_col" in names()
    True
    """
    return sorted(Format.registry)


def recognise(data: bytes) -> Format:
    """The format of a file's content.

    >>> recognise(b"p edge 2 1\\ne 1 2\\n").name
    'dimacs_col'
    """
    if not data.strip():
        raise InputError("the file is empty; it must hold at least one problem")
    for name in names():
        if get(name).recognises(data):
            return get(name)
    text_of(data)  # a binary file is told as such
    raise InputError(f"this text is in no format known here; if it is one of {', '.join(names())}, name the format")


def read_problems(source: str | Path | bytes, *, family: str | None = None, format: str | None = None, **options: Any) -> list[CSP]:
    """All problems of a file ("-": of the standard input; bytes: of that content), read and checked as a whole.

    Format and family are found from the content unless named; options (`colors=5`, say) go to the family.

    >>> [csp.n for csp in read_problems(b"p edge 3 2\\ne 1 2\\ne 2 3\\n", colors=2)]
    [3]
    """
    where = "data" if isinstance(source, bytes) else "standard input" if str(source) == "-" else str(source)
    chosen = None if format is None else get(format)
    owner = None if family is None else families.get(family)
    try:
        data = read_bytes(source)
        if not data.strip():
            raise InputError("the file is empty; it must hold at least one problem")
        reader = chosen or recognise(data)
        payloads = reader.read(data)
        if not payloads:
            raise InputError(f"there is no problem in it; it must hold at least one ({reader.summary})")
        if owner is None and reader.default_family is not None:
            owner = families.get(reader.default_family)
        return [_problem(payload, owner, options) for payload in payloads]
    except InputError as error:
        raise error.at(where) from None


def _problem(payload: Payload, family: families.Family[Any] | None, options: dict[str, Any]) -> CSP:
    if not isinstance(payload, CSP):
        assert family is not None  # a format without a default family gives ready problems
        return family.build(payload, **options)
    if family is not None and payload.family != family.name:
        raise InputError(f"the file states a problem of family {payload.family!r} in full, it cannot be read as {family.name!r}")
    if options:
        raise InputError(f"the file states its problems in full, options do not apply: {', '.join(options)}")
    return payload


def read_bytes(source: str | Path | bytes) -> bytes:
    """The content of a file ("-": of the standard input; bytes: as they are); an `InputError` when it cannot be read.

    >>> read_bytes("no/such/file")
    Traceback (most recent call last):
    ...
    consformer.errors.InputError: no/such/file: there is no such file; check the path
    """
    if isinstance(source, bytes):
        return source
    if str(source) == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(source).read_bytes()
    except FileNotFoundError:
        problem = "there is no such file; check the path"
    except IsADirectoryError:
        problem = "this is a directory; give a file in it"
    except PermissionError:
        problem = "the file cannot be opened: no permission to read it; change its permissions (chmod +r)"
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        problem = f"the file cannot be read: {error.strerror if isinstance(error, OSError) else error}"
    raise InputError(problem, source=source)


__all__ = ["Format", "Payload", "get", "names", "read_bytes", "read_problems", "recognise"]

"""A record of a benchmark: one JSON document per line, the first tells what was measured, on which machine, by which versions."""

from __future__ import annotations

import json
from collections.abc import Hashable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import consformer
from consformer.errors import InputError
from consformer.machine import commit, machine

FORMAT = 1
PACKAGES = ("torch", "numpy", "numba", "ortools")


class Record:
    """Rows that are kept as soon as they are there; opened again, it goes on with what it has.

    `about` says what is measured: a file about something else, or of another form, is refused.
    """

    def __init__(self, path: Path | None, about: dict[str, Any], key: tuple[str, ...]) -> None:
        self.path, self.about, self.key = path, about, key
        self.rows: list[dict[str, Any]] = []
        if path is None:
            return
        if path.exists():
            self._resume(path)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._write({"format": FORMAT, **about, **circumstances()})

    @property
    def done(self) -> set[tuple[Hashable, ...]]:
        """The keys of the rows that are there."""
        return {self._key(row) for row in self.rows}

    def add(self, row: dict[str, Any]) -> None:
        self.rows.append(row)
        self._write(row)

    def _key(self, row: dict[str, Any]) -> tuple[Hashable, ...]:
        return tuple(row[name] for name in self.key)

    def _resume(self, path: Path) -> None:
        header, self.rows = read_record(path)
        for name, value in json.loads(json.dumps(self.about)).items():
            if header.get(name) != value:
                told = f"holds results with another {name} ({header.get(name)!r}, not {value!r}); name another folder to start anew"
                raise InputError(told, source=path)

    def _write(self, document: dict[str, Any]) -> None:
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(document) + "\n")


def read_record(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The header and the rows of a record."""
    try:
        header, *rows = [dict(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", source=path) from error
    except (ValueError, TypeError):
        raise InputError("is no record of a benchmark, or it is damaged; remove it or name another folder", source=path) from None
    if header.get("format") != FORMAT:
        raise InputError(
            f"is of form {header.get('format')!r}, this version reads {FORMAT}; name another folder to start anew", source=path
        )
    return header, rows


def circumstances() -> dict[str, Any]:
    """Machine, date, commit and versions: what figures are told with."""
    versions = {"consformer": consformer.__version__}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {"machine": machine(), "commit": commit(), "date": datetime.now(UTC).date().isoformat(), "versions": versions}

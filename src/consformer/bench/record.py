"""A record of a benchmark: one JSON document per line, the first tells what was measured, on which machine, by which versions."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import platform
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import consformer
from consformer.errors import InputError
from consformer.machine import commit, machine

FORMAT = 2
PACKAGES = ("torch", "numpy", "numba", "ortools", "python-sat", "networkx", "gcol", "dwave-samplers", "dimod", "scs", "scipy")
CONTINUED = "continued"  # the only entry of a line that tells of a later sitting under other circumstances


@dataclass(frozen=True)
class Sitting:
    """Rows that were measured under the same circumstances: machine, commit, date and versions."""

    circumstances: Mapping[str, Any]
    rows: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Content:
    """What a record holds."""

    header: Mapping[str, Any]  # what was measured, and the circumstances
    rows: list[dict[str, Any]]
    sittings: list[Sitting]  # one after the other, wherever circumstances changed


class Record:
    """Rows that are kept as soon as they are there; opened again, it goes on with what it has.

    `about` says what is measured: a file about something else, of another form or by another version, is refused. So is one with a row
    of which `differing` says what would be measured otherwise now.
    """

    def __init__(
        self,
        path: Path | None,
        about: Mapping[str, Any],
        key: tuple[str, ...],
        differing: Callable[[Mapping[str, Any]], str | None] = lambda row: None,
    ) -> None:
        self.path, self.about, self.key, self._differing = path, about, key, differing
        self.rows: list[dict[str, Any]] = []
        if path is None:
            return
        if path.exists():
            self._resume(path)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._write([{"format": FORMAT, **about, **circumstances()}])

    @property
    def done(self) -> set[tuple[Hashable, ...]]:
        """The keys of the rows that are there."""
        return {tuple(row[name] for name in self.key) for row in self.rows}

    def add(self, rows: Sequence[dict[str, Any]]) -> None:
        """Keep the rows of a unit, all or none."""
        self.rows += rows
        self._write(rows)

    def _resume(self, path: Path) -> None:
        _cut_short(path)
        content = read_record(path)
        header, self.rows = content.header, content.rows
        for name, value in json.loads(json.dumps(self.about)).items():
            if header.get(name) != value:
                told = f"holds results with another {name} ({header.get(name)!r}, not {value!r}); name another folder to start anew"
                raise InputError(told, source=path)
        for row in self.rows:
            if (other := self._differing(row)) is not None:
                which = " ".join(str(row[name]) for name in self.key)
                raise InputError(f"holds results of {other} ({which}); name another folder to start anew", source=path)
        made = header.get("versions", {}).get("consformer")
        if made != consformer.__version__:
            told = f"holds results of consformer {made}, this is {consformer.__version__}; name another folder to start anew"
            raise InputError(told, source=path)
        now, before = circumstances(), content.sittings[-1].circumstances
        if any(before.get(name) != value for name, value in now.items()):
            self._write([{CONTINUED: now}])

    def _write(self, documents: Sequence[dict[str, Any]]) -> None:
        """At once, so that a process that is killed leaves all of them or none, but for a disk that is full."""
        if self.path is None:
            return
        text = "".join(json.dumps(document) + "\n" for document in documents).encode()
        with self.path.open("ab", buffering=0) as file:
            before = file.seek(0, os.SEEK_END)
            if file.write(text) < len(text):
                file.truncate(before)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))


def _cut_short(path: Path) -> None:
    """Take off a last line that was not written to its end: the process was killed, or the disk was full."""
    with contextlib.suppress(OSError), path.open("rb+") as file:
        text = file.read()
        if text and not text.endswith(b"\n"):
            file.truncate(text.rfind(b"\n") + 1)


def read_record(path: Path) -> Content:
    """What a record holds."""
    try:
        header, *lines = [dict(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", source=path) from error
    except (ValueError, TypeError):
        raise InputError("is no record of a benchmark, or it is damaged; remove it or name another folder", source=path) from None
    if header.get("format") != FORMAT:
        raise InputError(
            f"is of form {header.get('format')!r}, this version reads {FORMAT}; name another folder to start anew", source=path
        )
    sittings = [Sitting(header)]
    for line in lines:
        if CONTINUED in line:
            sittings.append(Sitting(line[CONTINUED]))
        else:
            sittings[-1].rows.append(line)
    return Content(header, [row for sitting in sittings for row in sitting.rows], sittings)


def circumstances() -> dict[str, Any]:
    """Machine, date, commit and versions: what figures are told with."""
    versions = {"consformer": consformer.__version__, "Python": f"{platform.python_version()} on {platform.system()}"}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {"machine": machine(), "commit": commit(), "date": datetime.now(UTC).date().isoformat(), "versions": versions}

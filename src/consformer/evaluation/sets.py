"""Sets of problems to measure on: named ones, which are drawn from seeds that nothing else uses, and those of files and folders."""

from __future__ import annotations

import csv
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from consformer import datasets, formats
from consformer.constraints.not_equal import NotEqual
from consformer.csp import CSP
from consformer.errors import ConsformerError, InputError, UnknownNameError

_BOARDS = "one a line, numbers apart by blanks, 0 for a blank cell; to be had from Gecode's examples (sudoku.cpp)"
ORIGINS = {  # what is measured by name of folder or file, but does not come with this package: its form, and where it is to be had
    "dimacs_col": "a folder with graphs as .col files ('p edge N M', then 'e U V'); to be had from the DIMACS and COLOR02 collections",
    "qcp": "a folder with Latin squares (order, then a row per line, 0 for a hole); to be had from collections of quasigroup completion",
    "gecode_16x16.txt": f"16x16 boards, {_BOARDS}",
    "gecode_25x25.txt": f"25x25 boards, {_BOARDS}",
}
BEST_COLUMNS = ("recommended", "ub")  # where a table of best known values has them, first match


@dataclass(frozen=True)
class ProblemSet:
    """Problems with names, limits that are usual for them, and best known objectives where there are any."""

    name: str
    problems: tuple[CSP, ...]
    labels: tuple[str, ...]
    iterations: int | None = None
    seconds: float | None = None
    best: tuple[float | None, ...] = ()
    description: str = ""

    def sample(self, count: int, seed: int) -> ProblemSet:
        """A random part of so many problems, in their order; all when there are not more."""
        if count >= len(self.problems):
            return self
        return self._part(sorted(np.random.default_rng(seed).choice(len(self.problems), count, replace=False).tolist()))

    def mixed(self, seed: int, kind: Callable[[CSP], object] = lambda csp: None) -> ProblemSet:
        """The same problems in a random order, one of each kind in turn: any beginning of them is a fair sample."""
        order = np.random.default_rng(seed).permutation(len(self.problems)).tolist()
        before = Counter[object]()
        turns = {}
        for index in order:
            turns[index] = before[kind(self.problems[index])]
            before[kind(self.problems[index])] += 1
        return self._part(sorted(order, key=turns.__getitem__))

    def first(self, count: int) -> ProblemSet:
        """The first so many problems."""
        return self._part(list(range(min(count, len(self.problems)))))

    def up_to(self, variables: int) -> ProblemSet:
        """The problems with no more variables than this."""
        return self._part([index for index, csp in enumerate(self.problems) if csp.n <= variables])

    def without(self, label: str) -> ProblemSet:
        """All but the problem of that name."""
        return self._part([index for index, each in enumerate(self.labels) if each != label])

    def with_best(self) -> ProblemSet:
        """The problems whose best objective is known."""
        return self._part([index for index, best in enumerate(self.best) if best is not None])

    def _part(self, chosen: list[int]) -> ProblemSet:
        return replace(
            self,
            problems=tuple(self.problems[i] for i in chosen),
            labels=tuple(self.labels[i] for i in chosen),
            best=tuple(self.best[i] for i in chosen) if self.best else (),
        )


def set_names() -> list[str]:
    """The named sets.

    >>> "coloring-5-50" in set_names()
    True
    """
    return list(_described())


def describe(name: str) -> str:
    return str(_described()[name]["description"])


def load_set(
    name_or_path: str,
    *,
    count: int | None = None,
    best_known: Path | None = None,
    where: str | None = None,
    files: str | None = None,
    **options: Any,
) -> ProblemSet:
    """A named set, or the problems of a file or of all files in a folder; of `count` problems where that is fewer.

    `best_known` is a csv file with the columns `instance` and one of `BEST_COLUMNS`: the objective of an optimisation problem, or the
    number of colours of a graph that is to be coloured. `where` ("weights=+1", say) takes only the instances that have this entry in
    it, `files` ("qwh-*", say) only those of a folder whose names match. `options` go to the reader (`family="coloring"`, say).

    >>> load_set("sudoku", count=3).problems[0].n
    81
    """
    if name_or_path in _described():
        return _drawn(name_or_path, _described()[name_or_path], count)
    path = Path(name_or_path)
    if not path.exists():
        origin = ORIGINS.get(path.name)
        if origin is not None:
            raise InputError(f"is not there. Expected: {origin}", source=path)
        raise UnknownNameError("set, file or folder", name_or_path, set_names())
    if where is not None and best_known is None:
        raise ConsformerError("a choice by `where` needs the table of best known values that it is about")
    known = {} if best_known is None else read_best_known(best_known, where)
    found = _read(path, files or "*", known, options, only_known=where is not None)
    return found if count is None else found.sample(count, seed=0)


def signed(csp: CSP) -> bool:
    """Whether some weights are negative."""
    return any(isinstance(kind, NotEqual) and bool(kind.equal.any()) for kind in csp.constraints)


def read_best_known(path: Path, where: str | None = None) -> dict[str, float]:
    """The best known value of each instance from a csv file, or of those with this entry ("column=entry")."""
    chosen, _, entry = (where or "").partition("=")
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = csv.DictReader(file)
            column = next((name for name in BEST_COLUMNS if name in (rows.fieldnames or ())), None)
            if column is None or "instance" not in (rows.fieldnames or ()):
                raise InputError(f"needs a column 'instance' and one of {', '.join(BEST_COLUMNS)}", source=path)
            if chosen and chosen not in (rows.fieldnames or ()):
                raise UnknownNameError(f"column of {path}", chosen, rows.fieldnames or ())
            return {row["instance"]: float(row[column]) for row in rows if row[column] and (not chosen or row[chosen] == entry)}
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise InputError(f"cannot be read as a table of best known values: {error}", source=path) from error


def _described() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads((resources.files("consformer") / "evaluation/sets.toml").read_text())


def _drawn(name: str, described: Mapping[str, Any], count: int | None) -> ProblemSet:
    count = min(described["count"], count or described["count"])
    problems = datasets.load(described["family"], count, described["seed"], described["params"])
    return ProblemSet(
        name,
        tuple(problems),
        tuple(str(index) for index in range(count)),
        described.get("iterations"),
        described.get("seconds"),
        description=described["description"],
    )


def _read(path: Path, pattern: str, best_known: Mapping[str, float], options: Mapping[str, Any], only_known: bool) -> ProblemSet:
    files = sorted(file for file in path.glob(pattern) if file.suffix != ".csv" and file.is_file()) if path.is_dir() else [path]
    files = [file for file in files if not only_known or file.stem in best_known]
    if not files:
        raise InputError("there is no file in this folder" + (" that was asked for" if only_known or pattern != "*" else ""), source=path)
    problems: list[CSP] = []
    labels: list[str] = []
    best: list[float | None] = []
    for file in files:
        known = best_known.get(file.stem)
        asked = dict(options)
        if known is not None and _colours(file, asked):
            asked["colors"] = int(known)
        found = formats.read_problems(file, **asked)
        problems += found
        labels += [file.stem] if len(found) == 1 else [f"{file.stem}:{index}" for index in range(len(found))]
        best += [known if csp.maximise or csp.offset else None for csp in found]
    return ProblemSet(path.name, tuple(problems), tuple(labels), best=tuple(best))


def _colours(file: Path, options: Mapping[str, Any]) -> bool:
    """Whether the file is read as a graph to be coloured."""
    family = options.get("family") or formats.recognise(file.read_bytes()).default_family
    return family == "coloring" and "colors" not in options

"""Data sets of generated problems: drawn once for a family, parameters, count and seed, then kept on disk."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from consformer import families
from consformer.csp import CSP
from consformer.errors import ConsformerError
from consformer.families.base import Params
from consformer.files import replace_atomically


def load(family: str, count: int, seed: int, params: Params | Mapping[str, Any] | None = None) -> list[CSP]:
    """The same `count` problems for the same arguments, every time; a damaged or missing cache file is made again.

    >>> [csp.n for csp in load("sudoku", 2, seed=1, params={"box": 2})]
    [16, 16]
    """
    owner = families.get(family)
    settings = owner.settings(params)
    header = {"family": family, "version": owner.version, "count": count, "seed": seed, "params": asdict(settings)}
    key = json.dumps(header, sort_keys=True)
    path = cache_dir() / f"{family}-{hashlib.sha256(key.encode()).hexdigest()[:20]}.jsonl.gz"
    problems = _read(path, owner, key, count)
    if problems is None:
        problems = owner.generate(np.random.default_rng(seed), count, settings)
        _write(path, [key, *(json.dumps(owner.pack(csp), separators=(",", ":")) for csp in problems)])
    return problems


def cache_dir(kind: str = "datasets") -> Path:
    """Where data sets, or what else can be made again, are kept: in the user's cache directory, or where CONSFORMER_CACHE says."""
    return Path(os.environ.get("CONSFORMER_CACHE") or platformdirs.user_cache_dir("consformer")) / kind


def _read(path: Path, family: families.Family[Any], key: str, count: int) -> list[CSP] | None:
    """The problems of a cache file; None when there is none or anything about it is wrong."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            lines = file.read().splitlines()
        if not lines or lines[0] != key or len(lines) != count + 1:
            return None
        return [family.unpack(json.loads(line)) for line in lines[1:]]
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError, AttributeError, IndexError, RuntimeError, ConsformerError):
        return None


def _write(path: Path, lines: list[str]) -> None:
    """All or nothing: another process sees the whole file or none. A cache that cannot be written is done without."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_atomically(path, gzip.compress(("\n".join(lines) + "\n").encode(), compresslevel=6, mtime=0))
    except OSError:
        pass

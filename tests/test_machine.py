from __future__ import annotations

import errno
import os
import platform
import subprocess
from pathlib import Path
from typing import Any, NoReturn

import pytest

from consformer.machine import commit, machine

ROOT = Path(__file__).parents[1]
CPUINFO = "processor\t: 0\nmodel name\t: An Abacus: 7 beads\n\nprocessor\t: 1\nmodel name\t: Another\n"


@pytest.mark.parametrize(
    ("content", "named"), [(CPUINFO, "An Abacus: 7 beads, 9 cores"), ("processor\t: 0\n", "abacus, 9 cores"), (None, "abacus, 9 cores")]
)
def test_the_machine(monkeypatch: pytest.MonkeyPatch, content: str | None, named: str) -> None:
    """By its full name where that can be read, by its architecture elsewhere."""

    def read_text(path: Path) -> str:
        assert path == Path("/proc/cpuinfo")
        if content is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        return content

    monkeypatch.setattr(Path, "read_text", read_text)
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "abacus")
    monkeypatch.setattr(os, "cpu_count", lambda: 9)
    assert machine() == named


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
def test_the_commit_of_a_checkout_wherever_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    monkeypatch.chdir(tmp_path)
    found = commit()
    assert found
    assert head.startswith(found.removesuffix("+"))  # with changes that are not committed


@pytest.mark.parametrize(
    "error", [FileNotFoundError(errno.ENOENT, "git"), subprocess.CalledProcessError(128, "git"), subprocess.TimeoutExpired("git", 5)]
)
def test_no_commit_without_git(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def run(*_: Any, **__: Any) -> NoReturn:
        raise error

    monkeypatch.setattr(subprocess, "run", run)
    assert commit() is None

from __future__ import annotations

import ctypes
import sys
from types import SimpleNamespace

import pytest

from consformer.memory import keep_freed_memory


def test_asks_malloc_to_keep_large_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[int, int] = {}
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace(mallopt=asked.__setitem__))
    keep_freed_memory()
    assert set(asked) == {-1, -3}
    assert all(size >= 32 << 20 for size in asked.values())


@pytest.mark.parametrize("platform", ["darwin", "win32", "linux"])
def test_does_nothing_where_there_is_no_mallopt(monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace())
    keep_freed_memory()

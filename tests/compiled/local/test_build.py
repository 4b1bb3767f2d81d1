from __future__ import annotations

from typing import Any

from consformer.compiled.local import moves


def test_what_is_called_from_outside_is_compiled_once_and_kept_on_disk() -> None:
    entries: list[Any] = [moves.begin, moves.advance]
    for entry in entries:
        (signature,) = entry.signatures
        assert len(signature) == 2
        assert sum(entry.stats.cache_hits.values()) + sum(entry.stats.cache_misses.values()) == 1

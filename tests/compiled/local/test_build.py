from __future__ import annotations

from consformer.compiled.local import moves


def test_what_is_called_from_outside_is_compiled_once_and_kept_on_disk() -> None:
    for entry in (moves.begin, moves.advance):
        (signature,) = entry.signatures  # type: ignore[attr-defined]
        assert len(signature) == 2
        assert sum(entry.stats.cache_hits.values()) + sum(entry.stats.cache_misses.values()) == 1  # type: ignore[attr-defined]

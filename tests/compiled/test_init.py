from __future__ import annotations

from consformer import compiled


def test_what_cannot_be_loaded_is_told() -> None:
    assert compiled.failure("backtrack") is None
    assert "No module named 'consformer.compiled.nothing'" in str(compiled.failure("nothing"))

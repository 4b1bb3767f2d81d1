"""What tests of benchmarks share."""

from __future__ import annotations

import pytest

from tests.helpers import Here


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rivals are asked in this process."""
    monkeypatch.setattr("consformer.bench.ways.Apart", Here)

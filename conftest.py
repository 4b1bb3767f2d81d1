"""Settings for tests and doctests alike."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Data sets made by tests, and by the processes they start, do not end up in the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONSFORMER_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield

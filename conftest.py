"""Settings for tests and doctests alike."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True, scope="session")
def _cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Generated data sets go to a directory of the test run, not to the user's cache."""
    patch = pytest.MonkeyPatch()
    patch.setenv("CONSFORMER_CACHE", str(Path(tmp_path_factory.mktemp("cache"))))

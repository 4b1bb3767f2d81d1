"""Settings for all tests: hypothesis draws the same cases every time, and not too many of them."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
import torch
from hypothesis import settings

settings.register_profile("quick", max_examples=20, deadline=None, derandomize=True)
settings.load_profile("quick")

torch.set_num_threads(1)  # tests are tiny, and run side by side: more threads only wait for one another


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Data sets made by tests, and by the processes they start, do not end up in the user's cache."""
    before = os.environ.get("CONSFORMER_CACHE")
    os.environ["CONSFORMER_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["CONSFORMER_CACHE"]
    else:
        os.environ["CONSFORMER_CACHE"] = before

"""Settings for all tests, and what tests of several kinds share: hypothesis draws the same cases every time, and not too many of them."""

from __future__ import annotations

import signal

import pytest
import torch
from hypothesis import settings

settings.register_profile("quick", max_examples=20, deadline=None, derandomize=True)
settings.load_profile("quick")

torch.set_num_threads(1)  # tests are tiny, and run side by side: more threads only wait for one another

signal.signal(
    signal.SIGINT, signal.default_int_handler
)  # a job in the background starts with Ctrl-C ignored, which tests of it do not expect


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rivals of benchmarks are asked in this process."""
    from tests.helpers import Here

    monkeypatch.setattr("consformer.bench.ways.Apart", Here)

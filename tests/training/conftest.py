"""Runs that several tests look at and none changes."""

from __future__ import annotations

import pytest

from consformer.training.loop import Trainer
from tests.training.runs import finish, recipe


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Trainer:
    """A run from start to end without a break."""
    trainer = Trainer(recipe(), tmp_path_factory.mktemp("whole"))
    finish(trainer)
    return trainer

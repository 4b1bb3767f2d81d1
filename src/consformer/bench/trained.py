"""Networks that a benchmark trains for itself, each under the same small budget, and keeps in the user's cache."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from consformer.datasets import cache_dir
from consformer.errors import CheckpointError
from consformer.training.checkpoint import read_card
from consformer.training.loop import Trainer
from consformer.training.loss import LossSettings
from consformer.training.recipe import Recipe, StateSettings, load_recipe

ENDLESS = 10**9  # steps: it is the budget that ends a training
CHECKPOINT_EVERY = 100


def budgeted(
    base: str, name: str, *, config: Mapping[str, Any], params: Mapping[str, Any] | None = None, **sections: StateSettings | LossSettings
) -> Recipe:
    """A shipped recipe with other settings of the network, of the problems (`params`) or of whole sections (`state`, `loss`), made to be
    trained until a budget is spent.

    The learning rate stays as it is, because one that falls would have to know the end; the moving average of the weights stands in for
    that. There is no validation, which would eat from the budget.

    >>> budgeted("tiny", "tiny-wide", config={"width": 24}).network.config["width"]
    24
    """
    recipe = load_recipe(base)
    return replace(
        recipe,
        name=name,
        description=f"{base} with other settings, for a benchmark",
        validation=(),
        keep="last",
        checkpoint_every=CHECKPOINT_EVERY,
        network=replace(recipe.network, config={**recipe.network.config, **config}),
        task=recipe.task if params is None else tuple(replace(task, params=params) for task in recipe.task),
        optimiser=replace(recipe.optimiser, steps=ENDLESS, decay=0.0),
        **sections,  # type: ignore[arg-type]
    )


@dataclass(frozen=True)
class Budget:
    """A training run with an end: iterate over `run` for the core-minutes spent; `network` is there when they are."""

    recipe: Recipe
    core_minutes: float

    @property
    def network(self) -> Path:
        """The file of the trained network, whose name changes with all that decides its weights."""
        key = json.dumps([self.recipe.to_dict(), self.core_minutes], sort_keys=True)
        return cache_dir("networks") / f"{self.recipe.name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.safetensors"

    @property
    def ready(self) -> bool:
        try:
            read_card(self.network)
        except CheckpointError:  # none, or damaged: trained again
            return False
        return True

    def run(self, stop: Callable[[], bool] = lambda: False) -> Iterator[float]:
        """Train, or go on with a training that was interrupted, exactly where it was; minutes of processor time so far, step by step."""
        if self.ready:
            return
        folder = self.network.with_suffix("")
        trainer = Trainer(self.recipe, folder)
        trainer.resume()
        if not self._spent(trainer):
            for _progress in trainer.run(stop=lambda: self._spent(trainer) or stop()):
                yield trainer.seconds / 60
        if self._spent(trainer):
            trainer.save()
            trainer.network_file.replace(self.network)
            shutil.rmtree(folder)

    def _spent(self, trainer: Trainer) -> bool:
        return trainer.step > 0 and trainer.seconds >= 60 * self.core_minutes

"""Small training runs, and what tests of them share."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from consformer.training.loop import Progress, Trainer
from consformer.training.recipe import Recipe, parse_recipe

RECIPE = """
seed = 1
validate_every = 1000
checkpoint_every = 5

[network]
config = { width = 8, layers = 1, heads = 2 }

[optimiser]
steps = 30
lr = 1e-2
warmup = 3
ema = 0.9

[[task]]
family = "sudoku"
batch = 4
params = { box = 2, givens = [4, 9] }

[[task]]
family = "coloring"
batch = 3
params = { vertices = [4, 7], colors = [2, 3], filter = false }
"""

VALIDATION = """
[[validation]]
family = "sudoku"
count = 4
params = { box = 2, givens = [6, 9] }
iterations = 5
"""


def recipe(text: str = RECIPE, **optimiser: Any) -> Recipe:
    parsed = parse_recipe(text, "mine", "mine.toml")
    return replace(parsed, optimiser=replace(parsed.optimiser, **optimiser))


def fixed(instances: int, batch: int) -> Recipe:
    one = f'[[task]]\nfamily = "sudoku"\nbatch = {batch}\ninstances = {instances}\nparams = {{ box = 2, givens = [4, 9] }}\n'
    return parse_recipe("[network]\nconfig = { width = 8, layers = 1 }\n" + one, "mine", "mine.toml")


def everything(trainer: Trainer) -> dict[str, Tensor]:
    """All that decides how training goes on: weights, average, optimiser."""
    return load_file(trainer.state_file)


def same(first: dict[str, Tensor], second: dict[str, Tensor]) -> bool:
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def finish(trainer: Trainer) -> list[Progress]:
    return list(trainer.run())


def logged(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]

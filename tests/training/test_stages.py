from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from consformer.errors import RecipeError
from consformer.training.checkpoint import read_card
from consformer.training.loop import Trainer
from consformer.training.recipe import Recipe, load_recipe
from consformer.training.stages import Stage, stages
from tests.training.runs import RECIPE, finish, recipe


def starting_from(start: str, first: Recipe | None = None) -> Recipe:
    chosen = first or recipe()
    return replace(chosen, network=replace(chosen.network, start=start))


def test_one_stage_where_nothing_is_to_be_trained_before(tmp_path: Path) -> None:
    assert stages(recipe(), tmp_path) == [Stage(recipe(), tmp_path)]
    for start in ("any", "mine.safetensors"):
        assert stages(starting_from(start), tmp_path) == [Stage(starting_from(start), tmp_path, start)]


def test_a_recipe_to_start_from_comes_first(tmp_path: Path) -> None:
    chosen = starting_from("tiny")
    assert stages(chosen, tmp_path) == [
        Stage(load_recipe("tiny"), tmp_path / "tiny"),
        Stage(chosen, tmp_path, str(tmp_path / "tiny" / "tiny.safetensors")),
    ]


def test_a_recipe_that_starts_from_itself_is_refused(tmp_path: Path) -> None:
    loop = tmp_path / "loop.toml"
    loop.write_text(RECIPE.replace("[network]", f"[network]\nstart = '{loop}'"))
    with pytest.raises(RecipeError, match=r"loop\.toml would start from itself"):
        stages(load_recipe(str(loop)), tmp_path)


def test_what_a_network_took_counts_all_stages(tmp_path: Path) -> None:
    first = tmp_path / "first.toml"
    first.write_text(RECIPE.replace("steps = 30", "steps = 4"))
    runs = stages(starting_from(str(first), recipe(steps=3)), tmp_path / "run")
    for stage in runs:
        trainer = Trainer(stage.recipe, stage.folder, stage.start)
        progress = finish(trainer)
    before, after = (read_card(stage.folder / f"{stage.recipe.name}.safetensors").training for stage in runs)
    assert (before["steps"], after["steps"]) == (4, 3)
    assert (before["samples"], after["samples"]) == (4 * 7, 7 * 7)
    assert before["core_minutes"] <= after["core_minutes"] == round(progress[-1].core_minutes, 1)
    assert progress[0].core_minutes >= before["core_minutes"]

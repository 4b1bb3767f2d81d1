from __future__ import annotations

from pathlib import Path

import pytest
import torch

from consformer.bench.trained import Budget, budgeted
from consformer.training.checkpoint import load_network, read_card
from consformer.training.loop import Trainer
from consformer.training.recipe import Recipe, load_recipe


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CONSFORMER_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def recipe() -> Recipe:
    return budgeted("tiny", "small", config={"width": 4, "layers": 1}, params={"box": 2, "givens": [12, 12]})


def test_other_settings_and_no_end(recipe: Recipe) -> None:
    base = load_recipe("tiny")
    assert recipe.network.config == {**base.network.config, "width": 4, "layers": 1}
    assert recipe.task[0].params == {"box": 2, "givens": [12, 12]}
    assert (recipe.validation, recipe.optimiser.decay) == ((), 0.0)
    assert recipe.optimiser.lr == base.optimiser.lr


def test_trained_once_and_kept(recipe: Recipe, cache: Path) -> None:
    budget = Budget(recipe, 0.002)
    spent = list(budget.run())
    assert spent == sorted(spent)
    assert spent[-1] >= 0.002
    assert budget.ready
    assert read_card(budget.network).training["steps"] == len(spent)
    assert [path.name for path in (cache / "networks").iterdir()] == [budget.network.name]  # the state is cleared away
    assert list(Budget(recipe, 0.002).run()) == []
    assert not Budget(recipe, 0.003).ready


def test_goes_on_exactly_where_it_was_interrupted(recipe: Recipe, tmp_path: Path) -> None:
    budget = Budget(recipe, 0.004)
    before = len(list(budget.run(stop=lambda: True)))
    assert before == 1
    assert not budget.network.exists()
    steps = before + len(list(budget.run()))
    trainer = Trainer(recipe, tmp_path / "whole")
    for _ in range(steps):
        trainer.train_step()
    network, _ = load_network(budget.network)
    for name, tensor in trainer.averaged_network().state_dict().items():
        assert torch.equal(tensor, network.state_dict()[name])


def test_a_damaged_network_is_trained_again(recipe: Recipe) -> None:
    budget = Budget(recipe, 0.001)
    list(budget.run())
    budget.network.write_bytes(b"torn")
    assert list(budget.run())
    assert budget.ready

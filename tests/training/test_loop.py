from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from consformer.errors import CheckpointError
from consformer.training.checkpoint import load_network
from consformer.training.loop import Trainer
from consformer.training.recipe import parse_recipe
from tests.training.runs import RECIPE, everything, finish, fixed, logged, recipe, same

# --- learning -----------------------------------------------------------------------------------------------------


def test_the_loss_falls(tmp_path: Path) -> None:
    losses = [progress.loss for progress in finish(Trainer(recipe(steps=80), tmp_path))]
    assert sum(losses[-10:]) < sum(losses[:10]) - 1.0
    assert all(math.isfinite(loss) for loss in losses)


def test_what_a_step_tells(whole: Trainer) -> None:
    rows = logged(whole.folder)
    assert [row["step"] for row in rows] == list(range(1, 31))
    for row in rows:
        assert set(row["losses"]) == {"sudoku/0", "coloring/1"}
        assert row["loss"] == pytest.approx(sum(row["losses"].values()))
        assert row["samples_per_second"] > 0
        assert row["steps"] == 30
    assert rows[-1]["seconds_left"] == 0


def test_the_seed_decides(whole: Trainer, tmp_path: Path) -> None:
    again, other = Trainer(recipe(), tmp_path / "again"), Trainer(replace(recipe(), seed=2), tmp_path / "other")
    torch.manual_seed(123)  # the global generator must not matter
    finish(again)
    finish(other)
    assert same(everything(again), everything(whole))
    assert not same(everything(other), everything(whole))


def test_the_global_generator_is_left_alone(tmp_path: Path) -> None:
    trainer = Trainer(recipe(), tmp_path)
    before = torch.get_rng_state()
    trainer.train_step()
    assert torch.equal(torch.get_rng_state(), before)


def test_samples_are_what_the_recipe_asks_for(tmp_path: Path) -> None:
    text = RECIPE + "[state]\np = [0.9, 1.0]\ntemperature = [0.2, 0.3]\n"
    trainer = Trainer(recipe(text), tmp_path)
    for _ in range(3):
        sample = trainer.sample(trainer.recipe.task[0], 0, 0)
        assert len(sample.csp.instances) == 4
        assert float(sample.temperature.min()) >= 0.2
        assert float(sample.temperature.max()) <= 0.3
        assert not bool(sample.subset[0, ~sample.csp.free].any())
        assert float(sample.subset[0, sample.csp.free].float().mean()) > 0.75
        assert torch.equal(sample.values[0, ~sample.csp.free], sample.csp.given[~sample.csp.free])
    same_again = trainer.sample(trainer.recipe.task[0], 0, 0)
    assert torch.equal(same_again.values, sample.values)
    assert not torch.equal(trainer.sample(trainer.recipe.task[0], 0, 1).values, sample.values)  # another process
    trainer.train_step()
    assert not torch.equal(trainer.sample(trainer.recipe.task[0], 0, 0).values, sample.values)  # another step


def test_subsets_as_the_recipe_asks_for(tmp_path: Path) -> None:
    """Everybody in conflict is chosen, and nobody else at such a p."""
    trainer = Trainer(recipe(RECIPE + '[state]\np = [1e-6, 1e-6]\nselect = "conflicts"\n'), tmp_path)
    sample = trainer.sample(trainer.recipe.task[0], 0, 0)
    wrong = sample.csp.in_conflict(sample.values) & sample.csp.free
    assert bool(wrong.any())
    assert bool(sample.subset[wrong].all())
    assert int((sample.subset & ~wrong).sum()) <= len(sample.csp.instances)


def test_learning_rate(tmp_path: Path) -> None:
    def rates(**optimiser: Any) -> list[float]:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        return [progress.lr for progress in finish(Trainer(recipe(steps=8, lr=1.0, **optimiser), folder))]

    assert rates(warmup=4, decay=0.5) == pytest.approx([0.25, 0.5, 0.75, 1.0, 1.0, 0.75, 0.5, 0.25])
    assert rates(warmup=0, decay=0.0) == [1.0] * 8


def test_moving_average(tmp_path: Path) -> None:
    trainer = Trainer(recipe(ema=0.5, steps=5), tmp_path)
    average = {name: tensor.clone() for name, tensor in trainer.network.state_dict().items()}
    for progress in trainer.run():
        decay = min(0.5, (1 + progress.step) / (10 + progress.step))  # early on, short memory
        for name, tensor in trainer.network.state_dict().items():
            average[name] = decay * average[name] + (1 - decay) * tensor
    for name, tensor in trainer.averaged_network().state_dict().items():
        torch.testing.assert_close(tensor, average[name])
        assert not torch.equal(tensor, trainer.network.state_dict()[name])
    shipped, _ = load_network(trainer.network_file)
    assert same(dict(shipped.state_dict()), dict(trainer.averaged_network().state_dict()))


def test_without_moving_average(tmp_path: Path) -> None:
    trainer = Trainer(recipe(ema=0.0, steps=3), tmp_path)
    finish(trainer)
    assert same(dict(trainer.averaged_network().state_dict()), dict(trainer.network.state_dict()))


def test_gradients_are_clipped(tmp_path: Path) -> None:
    trainer = Trainer(recipe(clip=0.01), tmp_path)
    trainer.train_step()
    norm = torch.stack([parameter.grad.norm() for parameter in trainer.network.parameters() if parameter.grad is not None]).norm()
    assert float(norm) <= 0.0101


def test_dropout_is_reproducible(tmp_path: Path) -> None:
    text = RECIPE.replace(
        "[network]\nconfig = { width = 8, layers = 1, heads = 2 }",
        "[network]\narchitecture = 'token'\nconfig = { values = 4, width = 8, layers = 1, heads = 1, dropout = 0.5 }",
    )
    trainers = [Trainer(recipe(text, steps=3), tmp_path / str(i)) for i in range(2)]
    for trainer in trainers:
        torch.manual_seed(int(time.perf_counter_ns()) % 1000)
        finish(trainer)
    assert same(*(everything(trainer) for trainer in trainers))


# --- fixed sets of instances --------------------------------------------------------------------------------------


def shown(trainer: Trainer, step: int, rank: int = 0) -> list[tuple[int, ...]]:
    """The instances of a step."""
    trainer.step = step
    return [tuple(part.given.tolist()) for part in trainer.sample(trainer.recipe.task[0], 0, rank).csp.instances]


def test_an_epoch_shows_every_instance_once(tmp_path: Path) -> None:
    trainer = Trainer(fixed(instances=12, batch=4), tmp_path)
    first, second = ([board for step in range(start, start + 3) for board in shown(trainer, step)] for start in (0, 3))
    assert len(set(first)) == 12
    assert set(second) == set(first)
    assert second != first  # in another order
    assert shown(trainer, 0) == first[:4]


def test_processes_share_an_epoch(tmp_path: Path) -> None:
    trainer = Trainer(fixed(instances=12, batch=3), tmp_path)
    trainer.world = 2
    boards = [board for step in range(2) for rank in range(2) for board in shown(trainer, step, rank)]
    assert len(boards) == len(set(boards)) == 12


@pytest.mark.parametrize("world", [1, 2])
def test_a_set_smaller_than_a_batch(tmp_path: Path, world: int) -> None:
    trainer = Trainer(fixed(instances=3, batch=5), tmp_path)
    trainer.world = world
    for rank in range(world):
        boards = shown(trainer, 0, rank)
        assert len(boards) == 5
        assert len(set(boards)) == 3


# --- a recipe that does not fit itself ----------------------------------------------------------------------------


def test_a_network_too_small_for_the_task(tmp_path: Path) -> None:
    """There is no state after the first step to be saved, and none that a corrected recipe would have to be told apart from."""
    network = '[network]\narchitecture = "token"\nconfig = { values = 3, width = 8, layers = 1 }\n'
    text = network + '[[task]]\nfamily = "sudoku"\nparams = { box = 2 }\n'
    with pytest.raises(CheckpointError, match="at most 3 values, the problem has 4"):
        finish(Trainer(parse_recipe(text, "mine", "mine.toml"), tmp_path))
    assert not list(tmp_path.iterdir())

"""What a training run keeps on disk, and how it goes on from there."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch
from torch import Tensor

from consformer.errors import CheckpointError, RecipeError
from consformer.families import Family
from consformer.training import validation
from consformer.training.checkpoint import load_network, read_card
from consformer.training.loop import Sample, Trainer
from consformer.training.recipe import SearchDefaults
from tests.training.runs import RECIPE, VALIDATION, everything, finish, logged, recipe, same


def test_the_network_file_says_how_it_was_made(whole: Trainer) -> None:
    network, card = load_network(whole.network_file)
    assert (card.name, card.architecture) == ("mine", "equivariant")
    assert card.families == ("sudoku", "coloring")
    assert card.constraints == ("all_different", "not_equal")
    assert card.training["steps"] == 30
    assert card.training["samples"] == 30 * 7
    assert card.recipe == json.loads(json.dumps(whole.recipe.to_dict()))
    assert card.search["p"] == "0.8"
    assert card.parameters == sum(parameter.numel() for parameter in network.parameters())


def test_checkpoints_draw_no_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = Trainer(recipe(), tmp_path)
    first = trainer.card()

    def refuse(*_: object) -> NoReturn:
        raise AssertionError("drawn again")

    monkeypatch.setattr(Family, "generate", refuse)
    assert trainer.card().constraints == first.constraints == ("all_different", "not_equal")


def test_pieces_make_the_same_run(whole: Trainer, tmp_path: Path) -> None:
    """Stopped by the user and by time limits, resumed each time: the same to the bit."""
    for stop in (3, 7, 8, 20, 100):
        trainer = Trainer(recipe(), tmp_path)
        if trainer.state_file.exists():
            trainer.resume()
        for progress in trainer.run():
            if progress.step == stop:
                break
    assert trainer.step == 30
    assert same(everything(trainer), everything(whole))
    assert [row["step"] for row in logged(tmp_path)] == list(range(1, 31))
    assert [row["loss"] for row in logged(tmp_path)] == [row["loss"] for row in logged(whole.folder)]


def test_minutes(tmp_path: Path) -> None:
    trainer = Trainer(recipe(), tmp_path)
    assert len(list(trainer.run(minutes=0.0))) == 1
    again = Trainer(recipe(), tmp_path)
    again.resume()
    assert again.step == 1


def test_a_finished_run_stays_finished(whole: Trainer, tmp_path: Path) -> None:
    trainer = Trainer(recipe(), whole.folder)
    trainer.resume()
    before = everything(trainer)
    assert finish(trainer) == []
    assert same(everything(trainer), before)
    assert len(logged(whole.folder)) == 30


def test_a_fresh_start_begins_a_new_log(tmp_path: Path) -> None:
    for _ in range(2):
        finish(Trainer(recipe(steps=4), tmp_path))
    assert [row["step"] for row in logged(tmp_path)] == [1, 2, 3, 4]


def test_a_log_cut_short_is_mended(tmp_path: Path) -> None:
    trainer = Trainer(recipe(steps=8), tmp_path)
    for progress in trainer.run():
        if progress.step == 3:
            break
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write('{"step": 4, "loss": 1.0}\n{"step": 5, "lo')
    again = Trainer(recipe(steps=8), tmp_path)
    again.resume()
    finish(again)
    assert [row["step"] for row in logged(tmp_path)] == list(range(1, 9))


def test_another_recipe(whole: Trainer) -> None:
    trainer = Trainer(recipe(lr=0.5), whole.folder)
    with pytest.raises(RecipeError, match=r"state.safetensors was written by another recipe \(optimiser changed\)"):
        trainer.resume()
    assert trainer.step == 0


def test_what_does_not_decide_the_weights_may_change(whole: Trainer, tmp_path: Path) -> None:
    """A trained network can be given other search defaults: the run goes on from its end, and the network is written anew."""
    shutil.copytree(whole.folder, tmp_path / "copy")
    changed = replace(recipe(), search=SearchDefaults(p="0.4", select="conflicts"), description="other words", checkpoint_every=1)
    trainer = Trainer(changed, tmp_path / "copy")
    assert trainer.resume()
    assert finish(trainer) == []
    assert read_card(tmp_path / "copy/mine.safetensors").search["select"] == "conflicts"
    assert same(everything(trainer), everything(whole))


def test_another_number_of_processes(whole: Trainer) -> None:
    trainer = Trainer(recipe(), whole.folder)
    trainer.world = 2
    with pytest.raises(RecipeError, match="was written by 1 processes, this run has 2"):
        trainer.resume()


def test_a_damaged_state(tmp_path: Path) -> None:
    trainer = Trainer(recipe(steps=2), tmp_path)
    finish(trainer)
    trainer.state_file.write_bytes(trainer.state_file.read_bytes()[:-100])
    with pytest.raises(CheckpointError, match=r"state\.safetensors: is damaged"):
        Trainer(recipe(steps=2), tmp_path).resume()
    trainer.state_file.write_bytes(trainer.network_file.read_bytes())
    with pytest.raises(CheckpointError, match="is not a consformer-training-state file"):
        Trainer(recipe(steps=2), tmp_path).resume()


def test_a_half_done_step_is_not_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = Trainer(recipe(), tmp_path)
    for progress in trainer.run():
        if progress.step == 5:
            break
    before = everything(trainer)

    def interrupted(*_: object) -> NoReturn:
        with torch.no_grad():
            next(trainer.network.parameters()).add_(1.0)
        raise KeyboardInterrupt

    monkeypatch.setattr(trainer.optimiser, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        finish(trainer)
    assert same(everything(trainer), before)


def test_an_interrupt_between_steps_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = Trainer(recipe(), tmp_path)
    real = trainer.sample

    def sample(*arguments: Any) -> Sample:
        if trainer.step == 7:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(trainer, "sample", sample)
    with pytest.raises(KeyboardInterrupt):
        finish(trainer)
    again = Trainer(recipe(), tmp_path)
    again.resume()
    assert again.step == 7


def test_a_run_that_diverges_keeps_the_last_good_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = Trainer(recipe(), tmp_path)
    real = trainer.loss
    monkeypatch.setattr(trainer, "loss", lambda *arguments: real(*arguments) * (float("nan") if trainer.step == 6 else 1.0))
    with pytest.raises(RecipeError, match="the loss is nan in step 7: training has diverged"):
        finish(trainer)
    assert all(bool(tensor.isfinite().all()) for tensor in everything(trainer).values())


def test_starting_from_a_trained_network(whole: Trainer, tmp_path: Path) -> None:
    trained, _ = load_network(whole.network_file)
    changed = recipe()
    changed = replace(changed, network=replace(changed.network, start=str(whole.network_file)))
    trainer = Trainer(changed, tmp_path)
    assert same(dict(trainer.network.state_dict()), dict(trained.state_dict()))
    assert same(trainer.average, dict(trained.state_dict()))
    other = replace(changed, network=replace(changed.network, config={"width": 8, "layers": 3}))
    with pytest.raises(RecipeError, match="has other settings than the network of this recipe"):
        Trainer(other, tmp_path)


def test_the_best_weights_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = replace(recipe(RECIPE + VALIDATION, steps=8), keep="best", validate_every=2, checkpoint_every=3)
    shares = {2: 0.1, 4: 0.9, 6: 0.5, 8: 0.2}
    averages: dict[int, dict[str, Tensor]] = {}

    def train(folder: Path, steps: int = 8) -> Trainer:
        trainer = Trainer(chosen, folder)
        trainer.resume()
        monkeypatch.setattr(validation, "score", lambda csp, values: shares[trainer.step])
        for progress in trainer.run():
            averages[progress.step] = {name: tensor.clone() for name, tensor in trainer.averaged_network().state_dict().items()}
            if progress.step == steps:
                break
        return trainer

    whole = train(tmp_path / "whole")
    network, card = load_network(whole.network_file)
    assert same(dict(network.state_dict()), averages[4])
    assert card.training["kept_step"] == 4
    assert set(card.results["validation"].values()) == {0.9}
    train(tmp_path / "halting", 5)
    again = train(tmp_path / "halting")
    assert same(everything(again), everything(whole))
    assert same(dict(load_network(again.network_file)[0].state_dict()), averages[4])

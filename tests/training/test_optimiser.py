from __future__ import annotations

from pathlib import Path

import pytest
import torch

from consformer.networks import Network
from consformer.training.loop import Trainer
from consformer.training.optimiser import Optimiser, matrices
from consformer.training.recipe import OptimiserSettings
from tests.training.runs import everything, finish, recipe, same

SMALL = {"width": 8, "layers": 1, "heads": 2}


def pushed(network: Network, settings: OptimiserSettings, steps: int = 1) -> dict[str, torch.Tensor]:
    """How far the weights have gone after steps with random gradients."""
    before = {name: weight.detach().clone() for name, weight in network.named_parameters()}
    optimiser, generator = Optimiser(network, settings), torch.Generator().manual_seed(0)
    for step in range(steps):
        optimiser.zero_grad()
        for weight in network.parameters():
            weight.grad = torch.randn(weight.shape, generator=generator)
        optimiser.step(step)
    return {name: weight.detach() - before[name] for name, weight in network.named_parameters()}


@pytest.mark.parametrize("architecture", ["equivariant", "open", "token"])
def test_matrices_are_those_inside_the_layers(architecture: str) -> None:
    network = Network.build(architecture, SMALL if architecture != "token" else {"width": 8, "layers": 1, "heads": 2, "values": 3})
    found = {id(weight) for weight in matrices(network)}
    names = {name for name, weight in network.named_parameters() if id(weight) in found}
    assert names == {
        name for name, weight in network.named_parameters() if name.startswith("blocks.") and name.endswith("weight") and weight.ndim == 2
    }
    assert any("query" in name for name in names)
    assert not any("head" in name or "inputs" in name for name in names)


@pytest.mark.parametrize("kind", ["adamw", "muon"])
def test_all_weights_move_by_about_the_learning_rate(kind: str) -> None:
    settings = OptimiserSettings(kind=kind, lr=1e-3, warmup=0, decay=0.0, weight_decay=0.0)  # type: ignore[arg-type]
    moved = pushed(Network.build("open", SMALL), settings)
    for name, change in moved.items():
        assert 1e-4 < float(change.square().mean().sqrt()) < 3e-3, name


def test_steps_of_muon_turn_everything_alike() -> None:
    settings = OptimiserSettings(kind="muon", lr=1e-3, warmup=0, decay=0.0, weight_decay=0.0)
    change = pushed(Network.build("open", SMALL), settings)["blocks.0.query.weight"]
    stretched = torch.linalg.svdvals(change)
    assert float(stretched.max() / stretched.min()) < 3  # of a random matrix it is 20 or so


def test_the_learning_rate_over_time() -> None:
    optimiser = Optimiser(Network.build("open", SMALL), OptimiserSettings(kind="muon", steps=100, lr=1.0, warmup=10, decay=0.5))
    rates = []
    for step in range(100):
        optimiser.zero_grad()
        optimiser.step(step)
        rates.append(optimiser.lr)
        assert {group["lr"] for method in optimiser.methods for group in method.param_groups} == {optimiser.lr}
    assert rates[:10] == pytest.approx([0.1 * step for step in range(1, 11)])
    assert rates[10:50] == [1.0] * 40
    assert rates[50:] == pytest.approx([(100 - step) / 50 for step in range(50, 100)])


def test_a_run_with_muon_learns_and_resumes_exactly(tmp_path: Path) -> None:
    asked = recipe(kind="muon", steps=40, warmup=3)
    whole, first = Trainer(asked, tmp_path / "whole"), Trainer(asked, tmp_path / "parts")
    losses = [progress.loss for progress in finish(whole)]
    assert sum(losses[-10:]) < sum(losses[:10])
    for progress in first.run():
        if progress.step == 15:
            break
    second = Trainer(asked, tmp_path / "parts")
    assert second.resume()
    finish(second)
    assert same(everything(second), everything(whole))


def test_the_method_decides(tmp_path: Path) -> None:
    one, other = Trainer(recipe(steps=5), tmp_path / "one"), Trainer(recipe(steps=5, kind="muon"), tmp_path / "other")
    finish(one)
    finish(other)
    mine, theirs = one.network.state_dict(), other.network.state_dict()
    assert not torch.equal(mine["blocks.0.up.weight"], theirs["blocks.0.up.weight"])

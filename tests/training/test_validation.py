from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from consformer.csp import CSP
from consformer.networks import Network
from consformer.search.refine import Event, Incumbent, Refinement
from consformer.training import validation
from consformer.training.checkpoint import load_network
from consformer.training.loop import Trainer
from tests.helpers import problem
from tests.training.runs import RECIPE, VALIDATION, finish, logged, recipe


def test_validation_uses_the_averaged_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Network] = []

    class Watched(Refinement):
        def __init__(self, problems: list[CSP], network: Network, *rest: Any) -> None:
            seen.append(network)
            super().__init__(problems, network, *rest)

    monkeypatch.setattr(validation, "Refinement", Watched)
    trainer = Trainer(recipe(RECIPE + VALIDATION, steps=4), tmp_path)
    finish(trainer)
    (network,) = seen
    assert not network.training
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, trainer.average[name])
        assert not torch.equal(tensor, trainer.network.state_dict()[name])


def test_validation_is_logged_when_due(tmp_path: Path) -> None:
    trainer = Trainer(replace(recipe(RECIPE + VALIDATION, steps=5), validate_every=2), tmp_path)
    found = [progress.solved for progress in finish(trainer)]
    assert [solved is not None for solved in found] == [False, True, False, True, True]
    for solved in found:
        if solved is not None:
            assert list(solved) == ["sudoku/0"]
            assert solved["sudoku/0"] in (0, 0.25, 0.5, 0.75, 1)
    assert trainer.validate() == trainer.validate() == found[-1]
    _, card = load_network(trainer.network_file)
    assert card.results["validation"] == found[-1]
    assert logged(tmp_path)[-1]["solved"] == found[-1]


def test_validation_of_optimisation_problems_is_the_share_of_the_weight(tmp_path: Path) -> None:
    """And says so. A triangle of equal edges can be cut in two of three at best."""
    text = '[[validation]]\nfamily = "maxcut"\ncount = 3\nparams = { vertices = [30, 30] }\niterations = 5\n'
    found = Trainer(recipe(RECIPE + VALIDATION + text), tmp_path).validate()
    assert list(found) == ["sudoku/0", "maxcut/1 weight"]
    assert 0.5 < found["maxcut/1 weight"] < 1
    triangle = problem(
        [{"kind": "not_equal", "scope": scope, "soft": True, "weight": 2} for scope in ([0, 1], [1, 2], [0, 2])],
        n=3,
        m=2,
        maximise=True,
        offset=6,
    )
    assert validation.score(triangle, [0, 0, 1]) == pytest.approx(2 / 3)
    assert validation.score(triangle, [0, 0, 0]) == 0
    assert validation.score(problem([], n=2, m=2, maximise=True), [0, 1]) == 1  # a graph without edges


def test_validation_believes_nobody_but_the_checker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Boastful(Refinement):
        """Claims to have solved everything, with nonsense."""

        def __iter__(self) -> Iterator[Event]:
            self.incumbents = [Incumbent([0] * csp.n, 0, 0.0, []) for csp in self.problems]
            return iter(())

    monkeypatch.setattr(validation, "Refinement", Boastful)
    assert Trainer(recipe(RECIPE + VALIDATION), tmp_path).validate() == {"sudoku/0": 0.0}

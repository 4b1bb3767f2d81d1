from __future__ import annotations

import json
import math
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from consformer.csp import CSP
from consformer.errors import CheckpointError, RecipeError
from consformer.families import Family
from consformer.networks import Network
from consformer.search.refine import Event, Incumbent, Refinement
from consformer.training import loop
from consformer.training.checkpoint import load_network, read_card
from consformer.training.loop import Progress, Sample, Trainer
from consformer.training.recipe import Recipe, SearchDefaults, parse_recipe
from tests.helpers import problem

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


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Trainer:
    """A run from start to end without a break."""
    trainer = Trainer(recipe(), tmp_path_factory.mktemp("whole"))
    finish(trainer)
    return trainer


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
    assert "select" not in loop._comparable(recipe().to_dict())["state"]  # runs from before there was such a setting can go on


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


# --- validation ---------------------------------------------------------------------------------------------------


def test_validation_uses_the_averaged_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Network] = []

    class Watched(Refinement):
        def __init__(self, problems: list[CSP], network: Network, *rest: Any) -> None:
            seen.append(network)
            super().__init__(problems, network, *rest)

    monkeypatch.setattr(loop, "Refinement", Watched)
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
    assert loop._score(triangle, [0, 0, 1]) == pytest.approx(2 / 3)
    assert loop._score(triangle, [0, 0, 0]) == 0
    assert loop._score(problem([], n=2, m=2, maximise=True), [0, 1]) == 1  # a graph without edges


def test_validation_believes_nobody_but_the_checker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Boastful(Refinement):
        """Claims to have solved everything, with nonsense."""

        def __iter__(self) -> Iterator[Event]:
            self.incumbents = [Incumbent([0] * csp.n, 0, 0.0, []) for csp in self.problems]
            return iter(())

    monkeypatch.setattr(loop, "Refinement", Boastful)
    assert Trainer(recipe(RECIPE + VALIDATION), tmp_path).validate() == {"sudoku/0": 0.0}


# --- files --------------------------------------------------------------------------------------------------------


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


# --- a recipe that does not fit itself ----------------------------------------------------------------------------


def test_a_network_too_small_for_the_task(tmp_path: Path) -> None:
    """There is no state after the first step to be saved, and none that a corrected recipe would have to be told apart from."""
    network = '[network]\narchitecture = "token"\nconfig = { values = 3, width = 8, layers = 1 }\n'
    text = network + '[[task]]\nfamily = "sudoku"\nparams = { box = 2 }\n'
    with pytest.raises(CheckpointError, match="at most 3 values, the problem has 4"):
        finish(Trainer(parse_recipe(text, "mine", "mine.toml"), tmp_path))
    assert not list(tmp_path.iterdir())


# --- several processes, and processes that die --------------------------------------------------------------------

DRIVER = """
import sys, time, torch
from pathlib import Path
from consformer.training.loop import Trainer
from consformer.training.recipe import load_recipe

torch.set_num_threads(1)
trainer = Trainer(load_recipe(sys.argv[1]), Path(sys.argv[2]))
for progress in trainer.run():
    time.sleep(0.2 if progress.step > 8 else 0)  # slow enough to be killed in time
"""


def test_a_killed_run_goes_on_to_the_bit(whole: Trainer, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(RECIPE)
    folder = tmp_path / "run"
    process = subprocess.Popen([sys.executable, "-c", DRIVER, str(tmp_path / "mine.toml"), str(folder)])
    try:
        for _ in wait(60):
            if process.poll() is not None or ((folder / "state.safetensors").exists() and len(_lines(folder / "log.jsonl")) >= 9):
                break
        assert process.poll() is None, "it ended before it could be killed"
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert process.returncode == -signal.SIGKILL
    trainer = Trainer(recipe(), folder)
    trainer.resume()
    assert 5 <= trainer.step < 30
    finish(trainer)
    assert same(everything(trainer), everything(whole))
    assert [row["step"] for row in logged(folder)] == list(range(1, 31))


def wait(seconds: float) -> Iterator[None]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.01)
        yield


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


PAIR = """
import sys
from pathlib import Path
from safetensors.torch import save_file
from consformer.cli.train import _join_processes
from consformer.training.loop import Trainer
from consformer.training.recipe import load_recipe

_join_processes()
folder = Path(sys.argv[2])
trainer = Trainer(load_recipe(sys.argv[1]), folder)
steps = trainer.run()
next(steps), next(steps)
save_file(dict(trainer.network.state_dict()), folder / f"before-{trainer.rank}.safetensors")
next(steps)
save_file({name: p.grad.contiguous() for name, p in trainer.network.named_parameters()}, folder / f"gradient-{trainer.rank}.safetensors")
for _ in steps:
    pass
save_file(dict(trainer.network.state_dict()), folder / f"after-{trainer.rank}.safetensors")
"""


def test_two_processes_are_one_with_a_batch_twice_as_large(tmp_path: Path) -> None:
    text = RECIPE.replace("steps = 30", "steps = 3\nclip = 0.0") + VALIDATION
    (tmp_path / "mine.toml").write_text(text)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "GLOO_SOCKET_IFNAME": "lo"}
    command = [sys.executable, "-c", PAIR, str(tmp_path / "mine.toml"), str(tmp_path)]
    pair = [subprocess.Popen(command, env=os.environ | address | {"RANK": str(rank)}, stderr=subprocess.PIPE) for rank in range(2)]
    try:
        errors = [process.communicate(timeout=90)[1].decode() for process in pair]
    finally:
        for process in pair:
            process.kill()
    assert [process.returncode for process in pair] == [0, 0], "\n".join(errors)

    trainer = Trainer(recipe(text), tmp_path / "alone")
    trainer.network.load_state_dict(load_file(tmp_path / "before-0.safetensors"))  # of fresh weights only the head would learn
    trainer.step = 2
    total = torch.zeros(())
    for index, task in enumerate(trainer.recipe.task):
        first, second = (trainer.sample(task, index, rank) for rank in range(2))
        both = Sample(
            csp=CSP.union([first.csp, second.csp]),
            values=torch.cat([first.values, second.values], 1),
            subset=torch.cat([first.subset, second.subset], 1),
            temperature=torch.cat([first.temperature, second.temperature], 1),
            generator=first.generator,
        )
        total = total + trainer.loss(both, trainer.network)
    total.backward()  # type: ignore[no-untyped-call]
    for rank in range(2):
        gradients = load_file(tmp_path / f"gradient-{rank}.safetensors")
        for name, parameter in trainer.network.named_parameters():
            assert parameter.grad is not None
            shift = name in ("norm.bias", "head.bias")  # the same for all values: no probability depends on it
            assert shift or float(parameter.grad.abs().max()) > 1e-5
            torch.testing.assert_close(gradients[name], parameter.grad, atol=1e-6, rtol=1e-5)
    for moment in ("before", "after"):
        assert same(*(load_file(tmp_path / f"{moment}-{rank}.safetensors") for rank in range(2)))
    rows = logged(tmp_path)
    assert [row["step"] for row in rows] == [1, 2, 3]
    assert 0 <= rows[-1]["solved"]["sudoku/0"] <= 1
    _, card = load_network(tmp_path / "mine.safetensors")
    assert card.training["samples"] == 3 * 2 * 7
    with pytest.raises(RecipeError, match="was written by 2 processes, this run has 1"):
        Trainer(recipe(text), tmp_path).resume()


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
        monkeypatch.setattr(loop, "_score", lambda csp, values: shares[trainer.step])
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

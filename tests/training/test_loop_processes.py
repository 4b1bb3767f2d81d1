"""Training by several processes, and by processes that die."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from consformer.csp import CSP
from consformer.errors import RecipeError
from consformer.training.checkpoint import load_network
from consformer.training.loop import Sample, Trainer
from tests.training.runs import RECIPE, VALIDATION, everything, finish, logged, recipe, same

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

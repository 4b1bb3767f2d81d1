from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import types
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch
from safetensors.torch import load_file

from consformer.cli.train import progress_line
from consformer.training.checkpoint import load_network
from consformer.training.log import Log
from consformer.training.loop import Progress, Trainer
from consformer.training.recipe import load_recipe, recipe_names
from tests.cli.running import Cli, Ran, no_space, not_yet, process

STEPS = 8


def shortened(text: str) -> str:
    """The recipe `tiny` made smaller still: a few steps of a few boards."""
    changes = {
        "steps = 400": f"steps = {STEPS}",
        "warmup = 20": "warmup = 2",
        "validate_every = 50": "validate_every = 4",
        "checkpoint_every = 50": "checkpoint_every = 3",
        "width = 16, layers = 3": "width = 8, layers = 1",
        "batch = 64": "batch = 4",
        "count = 64": "count = 4",
    }
    for old, new in changes.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


RECIPE = shortened((resources.files("consformer") / "recipes" / "tiny.toml").read_text())


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(RECIPE)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run without a break."""
    path = tmp_path_factory.mktemp("whole")
    (path / "mine.toml").write_text(RECIPE)
    for _ in Trainer(load_recipe(str(path / "mine.toml")), path).run():
        pass
    return path


def same(one: Path, two: Path) -> bool:
    """Whether two runs have come to the same, to the bit: state, network, and the losses on the way."""
    for name in ("state.safetensors", "mine.safetensors"):
        first, second = load_file(one / name), load_file(two / name)
        if first.keys() != second.keys() or not all(torch.equal(first[key], second[key]) for key in first):
            return False
    first_log, second_log = ([(row["step"], row["loss"], row["solved"]) for row in logged(folder)] for folder in (one, two))
    return first_log == second_log


def logged(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def step_of(folder: Path) -> int:
    """Where the saved state is."""
    trainer = Trainer(load_recipe(str(folder.parent / "mine.toml")), folder)
    assert trainer.resume()
    return trainer.step


def failed(ran: Ran, *parts: str) -> None:
    """It had begun and then came to an end with an error, told in the last line."""
    assert ran.code == 2
    assert ran.out == ""
    *lines, last = ran.err.splitlines()
    assert not any(line.startswith(("error", "Traceback")) for line in lines)
    assert last.startswith("error: ")
    for part in parts:
        assert part in last


@pytest.fixture
def at_step(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, Callable[[], None]], None]:
    """Have something happen in the middle of a step."""

    def at(step: int, happens: Callable[[], None]) -> None:
        usual = Trainer.train_step

        def train_step(self: Trainer) -> tuple[float, dict[str, float]]:
            if self.step == step - 1:
                happens()
            return usual(self)

        monkeypatch.setattr(Trainer, "train_step", train_step)

    return at


# --- a run --------------------------------------------------------------------------------------------------------


def test_a_run_leaves_a_log_a_state_and_a_network(cli: Cli, recipe: Path, folder: Path, whole: Path) -> None:
    ran = cli("train", recipe, "--output", folder)
    assert (ran.code, ran.out) == (0, "")
    first, last, written = ran.err.splitlines()
    assert re.fullmatch(rf"step 1/{STEPS} · loss -?\d+\.\d{{3}} · not validated yet · \d+ samples/s · \d\d:\d\d left", first)
    assert re.fullmatch(rf"step {STEPS}/{STEPS} · loss -?\d+\.\d{{3}} · sudoku/0: \d+\.\d % solved · \d+ samples/s · 00:00 left", last)
    assert written == f"network written to {folder}/mine.safetensors"
    assert sorted(path.name for path in folder.iterdir()) == ["log.jsonl", "mine.safetensors", "state.safetensors"]
    assert [row["step"] for row in logged(folder)] == list(range(1, STEPS + 1))
    assert same(folder, whole)


def test_the_network_can_be_used(cli: Cli, whole: Path, board: Path) -> None:
    ran = cli("solve", board, "--network", whole / "mine.safetensors", "--iterations", 200, "--json")
    assert ran.code == 0
    assert ran.document["network"] == "mine"
    assert f"{STEPS} steps" in cli("models", whole / "mine.safetensors").out


def test_a_shipped_recipe_goes_to_a_folder_of_its_name(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = cli("train", "tiny", "--steps", 1, "--seed", 5)
    assert ran.code == 0
    _, card = load_network(tmp_path / "runs" / "tiny" / "tiny.safetensors")
    assert (card.training["steps"], card.recipe["seed"]) == (1, 5)
    assert str(card.recipe["description"]) == load_recipe("tiny").description


def test_pieces_make_the_same_run(cli: Cli, recipe: Path, folder: Path, whole: Path) -> None:
    for step in range(1, STEPS):
        ran = cli("train", recipe, "-o", folder, "--minutes", 0)
        assert ran.code == 0
        assert ran.err.endswith(f"time is over at step {step} of {STEPS}; saved: the same command goes on from here\n")
        resumed = f"resumed {folder}/state.safetensors at step {step - 1} of {STEPS}"
        assert (resumed in ran.err) == (step > 1)
    ran = cli("train", recipe, "-o", folder)
    assert ran.code == 0
    assert "time is over" not in ran.err
    assert same(folder, whole)


def test_a_finished_run_can_be_prolonged(cli: Cli, recipe: Path, folder: Path) -> None:
    cli("train", recipe, "-o", folder, "--steps", 2)
    before = load_file(folder / "state.safetensors")
    ran = cli("train", recipe, "-o", folder, "--steps", 2)
    assert (ran.code, ran.err.splitlines()[0]) == (0, f"resumed {folder}/state.safetensors at step 2 of 2")
    assert all(torch.equal(tensor, before[name]) for name, tensor in load_file(folder / "state.safetensors").items())
    cli("train", recipe, "-o", folder, "--steps", 3)
    assert [row["step"] for row in logged(folder)] == [1, 2, 3]


def test_another_recipe_does_not_touch_a_run_unless_told_to(cli: Cli, recipe: Path, folder: Path) -> None:
    cli("train", recipe, "-o", folder, "--steps", 2)
    before = (folder / "state.safetensors").read_bytes()
    cli("train", recipe, "-o", folder, "--seed", 9).refused("state.safetensors", "another recipe (seed changed)", "--output", "--fresh")
    assert (folder / "state.safetensors").read_bytes() == before
    ran = cli("train", recipe, "-o", folder, "--seed", 9, "--steps", 1, "--fresh")
    assert ran.code == 0
    assert "resumed" not in ran.err
    assert [row["step"] for row in logged(folder)] == [1]


def test_a_damaged_state(cli: Cli, recipe: Path, folder: Path) -> None:
    cli("train", recipe, "-o", folder, "--steps", 1)
    (folder / "state.safetensors").write_bytes((folder / "state.safetensors").read_bytes()[:-50])
    cli("train", recipe, "-o", folder).refused(f"error: {folder}/state.safetensors: is damaged or cut short")


def test_list(cli: Cli) -> None:
    ran = cli("train", "--list")
    assert (ran.code, ran.err) == (0, "")
    rows = [line.split(maxsplit=1) for line in ran.out.splitlines()]
    assert rows == [[name, load_recipe(name).description] for name in recipe_names()]


# --- what is shown ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "left"), [(0, "00:00 left"), (75.4, "01:15 left"), (3_700, "01:01:40 left"), (200_000, "2.3 days left")]
)
def test_the_progress_line(seconds: float, left: str) -> None:
    progress = Progress(7, 10, 1.23456, {}, 1e-3, 512.4, seconds, 1.0)
    reached = "sudoku/0: 50.0 % solved, maxcut/1: 98.8 % of the weight"
    line = progress_line(progress, {"sudoku/0": 0.5, "maxcut/1 weight": 0.9876})
    assert line == f"step 7/10 · loss 1.235 · {reached} · 512 samples/s · {left}"
    assert "loss 1.235 · not validated yet · " in progress_line(progress, {})


@pytest.mark.usefixtures("terminal")
def test_on_a_terminal_one_line_stays_up_to_date(cli: Cli, recipe: Path, folder: Path) -> None:
    ran = cli("train", recipe, "-o", folder)
    assert (ran.code, ran.out) == (0, "")
    assert "\x1b[?25l" in ran.err
    assert f"step {STEPS}/{STEPS} · loss" in ran.err


def test_tensorboard(cli: Cli, recipe: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []

    class SummaryWriter:
        def __init__(self, place: str) -> None:
            told.append(place)

        def add_scalar(self, name: str, value: float, step: int) -> None:
            told.append((name, step))

        def close(self) -> None:
            told.append("closed")

    module = types.ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = SummaryWriter  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    assert cli("train", recipe, "-o", folder, "--steps", 1, "--tensorboard").code == 0
    assert told == [f"{folder}/tensorboard", ("loss", 1), ("loss/sudoku/0", 1), ("lr", 1), ("solved/sudoku/0", 1), "closed"]
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    failed(cli("train", recipe, "-o", folder, "--tensorboard"), "TensorBoard is not installed; pip install 'consformer[tensorboard]'")


# --- interrupted --------------------------------------------------------------------------------------------------

SLOWLY = """
import time
from consformer.cli import main
from consformer.training.loop import Trainer

usual = Trainer.train_step

def train_step(self):
    time.sleep(0.6 if self.step else 0)  # slow enough to be interrupted in time
    return usual(self)

Trainer.train_step = train_step
main()
"""


def test_ctrl_c_at_the_keyboard(cli: Cli, recipe: Path, folder: Path, whole: Path) -> None:
    """As a process of its own; the same command goes on to the same end as if nothing had happened."""
    running = process("train", recipe, "--output", folder, code=SLOWLY)
    assert running.stderr is not None
    assert running.stderr.readline().startswith("step 1/")
    running.send_signal(signal.SIGINT)
    out, told = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, "")
    *_, written, last = told.splitlines()
    assert written == f"network written to {folder}/mine.safetensors"
    match = re.fullmatch(rf"interrupted at step (\d) of {STEPS}; saved: the same command goes on from here", last)
    assert match is not None
    assert step_of(folder) == int(match[1])
    ran = cli("train", recipe, "--output", folder)
    assert (ran.code, ran.err.splitlines()[0]) == (0, f"resumed {folder}/state.safetensors at step {match[1]} of {STEPS}")
    assert same(folder, whole)


def test_the_step_that_is_running_is_finished_and_saved(
    cli: Cli, recipe: Path, folder: Path, at_step: Callable[[int, Callable[[], None]], None]
) -> None:
    at_step(5, lambda: signal.raise_signal(signal.SIGINT))
    ran = cli("train", recipe, "-o", folder)
    assert ran.code == 130
    assert ran.err.endswith(f"interrupted at step 5 of {STEPS}; saved: the same command goes on from here\n")
    assert step_of(folder) == 5


def test_a_second_ctrl_c_does_not_wait(cli: Cli, recipe: Path, folder: Path, at_step: Callable[[int, Callable[[], None]], None]) -> None:
    def twice() -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    at_step(5, twice)
    ran = cli("train", recipe, "-o", folder)
    assert (ran.code, ran.err.splitlines()[-1]) == (130, "interrupted")
    assert step_of(folder) == 4


def test_nobody_reads_standard_error_any_more(recipe: Path, folder: Path) -> None:
    """`consformer train ... 2>&1 | head`: what was done is saved, and the exit code is that of such a pipe."""
    with process("train", recipe, "--output", folder, stdout=subprocess.DEVNULL) as running:
        assert running.stderr is not None
        running.stderr.close()
        assert running.wait(timeout=60) == 141
    assert step_of(folder) == 1


# --- files that cannot be written ---------------------------------------------------------------------------------


def test_a_disk_that_fills_up(cli: Cli, recipe: Path, folder: Path, whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checkpoint before stays as it is, and with room again the run goes on from there to the same end."""
    cli("train", recipe, "-o", folder, "--minutes", 0)
    before = {path.name: path.read_bytes() for path in folder.glob("*.safetensors")}
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", no_space)
        ran = cli("train", recipe, "-o", folder)
    failed(ran, f"{folder}/state.safetensors: cannot be written: No space left on device", "before is untouched")
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "log.jsonl"} == before
    assert cli("train", recipe, "-o", folder).err.startswith(f"resumed {folder}/state.safetensors at step 1 of {STEPS}\n")
    assert same(folder, whole)


def test_a_disk_too_full_for_the_log(cli: Cli, recipe: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Log, "add", no_space)
    cli("train", recipe, "-o", folder).refused(f"{folder}: cannot be written: No space left on device", "make room", "--output")


def read_only(*_: object, **__: object) -> NoReturn:
    raise OSError(errno.EROFS, os.strerror(errno.EROFS))


def test_a_folder_that_cannot_be_written_is_told_before_training(
    cli: Cli, recipe: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Trainer, "train_step", not_yet)
    cli("train", recipe, "-o", recipe).refused(f"error: {recipe}: cannot be written: File exists", "name another --output")
    cli("train", recipe, "-o", recipe / "run").refused(f"error: {recipe}/run: cannot be written: Not a directory", "--output")
    monkeypatch.setattr(tempfile, "TemporaryFile", read_only)
    cli("train", recipe, "-o", folder).refused(f"error: {folder}: cannot be written: Read-only file system", "--output")
    assert recipe.read_text() == RECIPE
    assert not list(folder.iterdir())


# --- wrong recipes and options ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("steps = 8", "stpes = 8", ["optimiser: ", "unknown setting 'stpes'", "did you mean 'steps'?"]),
        ("steps = 8", "steps = 0", ["optimiser: ", "steps must be at least 1"]),
        ("lr = 4e-3", 'lr = "fast"', ["optimiser: lr: ", "must be a number, not 'fast'"]),
        ("[loss]", "[los]", ["unknown setting 'los'", "did you mean 'loss'?"]),
        ('"0.25^1/25"', '"hot"', ["search: ", "temperature 'hot' is not understood"]),
        ("batch = 4", "batch = 0", ["task[0]: ", "batch must be at least 1"]),
        ("givens = [4, 9]", "given = [4, 9]", ["task[0]: ", "unknown sudoku parameter 'given'", "did you mean 'givens'?"]),
        ("givens = [5, 8]", "givens = [5, 99]", ["validation[0]: ", "'givens' must lie within 0 and 16"]),
        ("width = 8", "widht = 8", ["network: ", "'widht'", "did you mean 'width'?"]),
        ("width = 8", "width = -8", ["network: ", "width must be a whole number from 1"]),
        ('"equivariant"', '"equivariat"', ["network: ", "'equivariat'", "did you mean 'equivariant'?"]),
        ("seed = 1", "seed = ", ["not valid TOML", "line 2"]),
        ("seed = 1", 'name = "state"', ["name must be a plain file name other than 'state'"]),
        (RECIPE, "", ["a recipe needs at least one [[task]]"]),
    ],
    ids=lambda given: given.partition("\n")[0] if isinstance(given, str) else "",
)
def test_a_mistake_in_a_recipe(cli: Cli, recipe: Path, folder: Path, old: str, new: str, parts: list[str]) -> None:
    """The line names the file, the setting and what would be right; nothing has been written."""
    assert old in RECIPE
    recipe.write_text(RECIPE.replace(old, new))
    cli("train", recipe, "-o", folder).refused(f"error: {recipe}: ", *parts)
    assert not folder.exists()


def test_recipes_that_are_none(cli: Cli, tmp_path: Path) -> None:
    cli("train").refused("name a recipe", "tiny", "--list", ".toml")
    cli("train", "tinny").refused("unknown recipe 'tinny': did you mean 'tiny'?", "paper-sudoku")
    cli("train", tmp_path / "nowhere.toml").refused("nowhere.toml: cannot be read: No such file")
    (tmp_path / "folder.toml").mkdir()
    cli("train", tmp_path / "folder.toml").refused("folder.toml: cannot be read: Is a directory")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    cli("train", tmp_path / "binary.toml").refused("binary.toml: cannot be read: ")


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--steps", "0"], ["Invalid value for '--steps'"]),
        (["--steps", "many"], ["Invalid value for '--steps'"]),
        (["--minutes", "-1"], ["Invalid value for '--minutes'"]),
        (["--seed", "-1"], ["seed must be a whole number from 0"]),
        (["--seed", str(2**63)], ["seed must be a whole number from 0 and below 2^63"]),
        (["--frehs"], ["--frehs", "--fresh"]),
    ],
    ids=lambda given: " ".join(given),
)
def test_bad_options(cli: Cli, recipe: Path, folder: Path, options: list[str], parts: list[str]) -> None:
    cli("train", recipe, "-o", folder, *options).refused(*parts)
    assert not folder.exists()


def test_a_run_that_diverges(cli: Cli, recipe: Path, folder: Path) -> None:
    recipe.write_text(RECIPE.replace("lr = 4e-3", "lr = 1e30"))
    failed(cli("train", recipe, "-o", folder), "the loss is nan in step 2", "diverged", "smaller lr")
    assert step_of(folder) == 1
    assert all(bool(tensor.isfinite().all()) for tensor in load_file(folder / "state.safetensors").values())


def test_a_fresh_start_that_fails_at_once_leaves_the_run_before(
    cli: Cli, recipe: Path, folder: Path, at_step: Callable[[int, Callable[[], None]], None]
) -> None:
    cli("train", recipe, "-o", folder, "--steps", 2)

    def interrupt() -> None:
        raise KeyboardInterrupt

    at_step(1, interrupt)
    assert cli("train", recipe, "-o", folder, "--fresh").code == 130
    assert step_of(folder) == 2

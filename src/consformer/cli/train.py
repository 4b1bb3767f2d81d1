"""`consformer train`: train a network from a recipe, resumable."""

from __future__ import annotations

import atexit
import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer
from rich.live import Live
from rich.text import Text

from consformer.cli.app import INTERRUPTED, app, err, noting_ctrl_c
from consformer.errors import ConsformerError

if TYPE_CHECKING:
    from consformer.training.loop import Progress, Trainer

_BETWEEN_LINES = 10.0  # seconds between two progress lines where there is no terminal


@app.command()
def train(
    recipe: Annotated[str, typer.Argument(help="Name of a shipped recipe (--list shows them) or a .toml file.")] = "",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", readable=False, help="Folder of the run: state, log, network. Default: runs/NAME.")
    ] = None,
    steps: Annotated[int | None, typer.Option(help="Train for so many steps instead of the recipe's.", min=1)] = None,
    minutes: Annotated[float | None, typer.Option(help="Stop after so many minutes; the next call goes on from there.", min=0)] = None,
    seed: Annotated[int | None, typer.Option(help="Another seed than the recipe's.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start anew, even if the folder holds a run to resume.")] = False,
    tensorboard: Annotated[bool, typer.Option("--tensorboard", help="Also write TensorBoard logs (extra: tensorboard).")] = False,
    list_recipes: Annotated[bool, typer.Option("--list", help="List the shipped recipes.")] = False,
) -> None:
    """Train a network from a recipe.

    Interrupt at will: the same command resumes exactly where it stopped (after
    a crash, at the last checkpoint). A second Ctrl-C does not wait for the step
    that is running.

    [bold]Examples[/]
      consformer train tiny
      consformer train my-recipe.toml --output runs/mine --minutes 30
      torchrun --nproc-per-node 2 -m consformer train any
      torchrun --nnodes 2 --node-rank 0 --master-addr HOST -m consformer train any

    [bold]Exit codes[/]
      0    trained, or the minutes are over
      2    wrong usage, bad recipe, or files that cannot be written
      130  interrupted (and saved)
    """
    from dataclasses import replace

    from consformer.memory import keep_freed_memory
    from consformer.training.recipe import load_recipe, recipe_names

    if list_recipes:
        for name in recipe_names():
            print(f"{name:<24} {load_recipe(name).description}")
        return
    if not recipe:
        raise ConsformerError(f"name a recipe ({', '.join(recipe_names())}; --list describes them) or a .toml file")
    keep_freed_memory()
    chosen = load_recipe(recipe)
    if steps is not None:
        chosen = chosen.with_steps(steps)
    if seed is not None:
        chosen = replace(chosen, seed=seed)
    _join_processes()
    from consformer.training.loop import Trainer

    trainer = Trainer(chosen, output or Path("runs") / chosen.name)
    if not fresh and trainer.resume():
        _say(trainer, f"resumed {trainer.state_file} at step {trainer.step} of {chosen.optimiser.steps}")
    try:
        trainer.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=trainer.folder):
            pass  # a folder that cannot be written is told now, not after the first step
        with noting_ctrl_c() as interrupted:
            _follow(trainer, minutes, tensorboard, interrupted)
    except BrokenPipeError:  # nobody reads standard error any more
        raise
    except OSError as error:
        place = error.filename or trainer.folder
        raise ConsformerError(f"{place}: cannot be written: {error.strerror or error}; make room, or name another --output") from error
    _say(trainer, f"network written to {trainer.network_file}")
    if trainer.step < chosen.optimiser.steps:
        why = "interrupted" if interrupted() else "time is over"
        _say(trainer, f"{why} at step {trainer.step} of {chosen.optimiser.steps}; saved: the same command goes on from here")
        raise typer.Exit(INTERRUPTED if interrupted() else 0)


def _follow(trainer: Trainer, minutes: float | None, tensorboard: bool, interrupted: Callable[[], bool]) -> None:
    """Train, with a line that stays up to date on a terminal, and a new one every ten seconds elsewhere; the trainer saves at the end."""
    steps = cast("Generator[Progress, None, None]", trainer.run(minutes=minutes, stop=interrupted))
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.closing(steps))
        writer = stack.enter_context(_TensorBoard(trainer.folder)) if tensorboard and trainer.rank == 0 else None
        live = stack.enter_context(Live(Text("starting"), console=err, refresh_per_second=4)) if _interactive(trainer) else None
        shown = 0.0
        for progress in steps:
            line = progress_line(progress, trainer.solved)
            if live is not None:
                live.update(Text(line))
            elif time.monotonic() - shown > _BETWEEN_LINES or progress.step == progress.steps:
                shown = time.monotonic()
                _say(trainer, line)
            if writer is not None:
                writer.add(progress)


def progress_line(progress: Progress, solved: dict[str, float]) -> str:
    """What a person wants to see of a run."""
    from consformer.training.checkpoint import told

    seconds = progress.seconds_left
    left = f"{seconds / 86_400:.1f} days" if seconds >= 86_400 else time.strftime("%H:%M:%S", time.gmtime(seconds))
    reached = ", ".join(told(name, share) for name, share in solved.items()) or "not validated yet"
    return (
        f"step {progress.step}/{progress.steps} · loss {progress.loss:.3f} · {reached} · "
        f"{progress.samples_per_second:.0f} samples/s · {left.removeprefix('00:')} left"
    )


def _say(trainer: Trainer, message: str) -> None:
    if trainer.rank == 0:
        err.print(message, markup=False, soft_wrap=True)


def _interactive(trainer: Trainer) -> bool:
    return err.is_terminal and trainer.rank == 0


def _join_processes() -> None:
    """Under torchrun, form the process group; one thread per process then."""
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        import torch
        import torch.distributed as dist

        torch.set_num_threads(1)
        if not dist.is_initialized():
            dist.init_process_group("gloo")
            atexit.register(dist.destroy_process_group)  # its threads must end before the interpreter does


class _TensorBoard:
    def __init__(self, folder: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise ConsformerError("TensorBoard is not installed; pip install 'consformer[tensorboard]'") from error
        self._writer = SummaryWriter(str(folder / "tensorboard"))

    def __enter__(self) -> _TensorBoard:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()

    def add(self, progress: Progress) -> None:
        self._writer.add_scalar("loss", progress.loss, progress.step)
        for name, value in progress.losses.items():
            self._writer.add_scalar(f"loss/{name}", value, progress.step)
        self._writer.add_scalar("lr", progress.lr, progress.step)
        for name, value in (progress.solved or {}).items():
            self._writer.add_scalar(f"solved/{name}", value, progress.step)

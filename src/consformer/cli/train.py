"""`consformer train`: train a network from a recipe, resumable."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from consformer.cli.app import INTERRUPTED, app, err

if TYPE_CHECKING:
    from consformer.training.loop import Progress, Trainer


@app.command()
def train(
    recipe: Annotated[str, typer.Argument(help="Name of a shipped recipe (--list shows them) or a .toml file.")] = "",
    output: Annotated[Path | None, typer.Option(help="Folder of the run: state, log, network. Default: runs/NAME.")] = None,
    steps: Annotated[int | None, typer.Option(help="Train for so many steps instead of the recipe's.", min=1)] = None,
    minutes: Annotated[float | None, typer.Option(help="Stop after so many minutes; the next call goes on from there.")] = None,
    seed: Annotated[int | None, typer.Option(help="Another seed than the recipe's.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start anew, even if the folder holds a run to resume.")] = False,
    tensorboard: Annotated[bool, typer.Option("--tensorboard", help="Also write TensorBoard logs (extra: tensorboard).")] = False,
    list_recipes: Annotated[bool, typer.Option("--list", help="List the shipped recipes.")] = False,
) -> None:
    """Train a network. Interrupt at will: the same command resumes exactly where the last checkpoint was.

    All cores: torchrun --nproc-per-node 2 -m consformer train NAME

    Several machines: torchrun --nnodes 2 --node-rank 0 --master-addr HOST ... -m consformer train NAME
    """
    from dataclasses import replace

    from consformer.memory import keep_freed_memory
    from consformer.training.recipe import load_recipe, recipe_names

    if list_recipes or not recipe:
        for name in recipe_names():
            print(f"{name:<24} {load_recipe(name).description}")
        raise typer.Exit(0 if list_recipes else 2)
    keep_freed_memory()
    chosen = load_recipe(recipe)
    if steps is not None:
        chosen = chosen.with_steps(steps)
    if seed is not None:
        chosen = replace(chosen, seed=seed)
    _join_processes()
    from consformer.training.loop import Trainer

    trainer = Trainer(chosen, output or Path("runs") / chosen.name)
    if trainer.state_file.exists() and not fresh:
        trainer.resume()
        _say(trainer, f"resumed {trainer.state_file} at step {trainer.step}")
    try:
        _follow(trainer, minutes, tensorboard)
    except KeyboardInterrupt:
        _say(trainer, f"interrupted at step {trainer.step}; saved: the same command goes on from here")
        raise typer.Exit(INTERRUPTED) from None
    _say(trainer, f"network written to {trainer.network_file}")


def _join_processes() -> None:
    """Under torchrun, form the process group; one thread per process then."""
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        import torch
        import torch.distributed as dist

        torch.set_num_threads(1)
        if not dist.is_initialized():
            dist.init_process_group("gloo")


def _say(trainer: Trainer, message: str) -> None:
    if trainer.rank == 0:
        err.print(message, markup=False, soft_wrap=True)


def _follow(trainer: Trainer, minutes: float | None, tensorboard: bool) -> None:
    """Run, showing a line that stays up to date on a terminal, and one every ten seconds elsewhere."""
    from rich.live import Live
    from rich.text import Text

    writer = _tensorboard(trainer) if tensorboard and trainer.rank == 0 else None
    interactive = err.is_terminal and trainer.rank == 0
    shown = 0.0
    with Live(console=err, refresh_per_second=4) if interactive else _Silent() as live:
        for progress in trainer.run(minutes=minutes):
            line = progress_line(progress, trainer.solved)
            if isinstance(live, Live):
                live.update(Text(line))
            elif time.monotonic() - shown > 10 or progress.step == progress.steps:
                shown = time.monotonic()
                _say(trainer, line)
            if writer is not None:
                writer.add(progress)


def progress_line(progress: Progress, solved: dict[str, float]) -> str:
    """What a person wants to see of a run."""
    left = (
        time.strftime("%H:%M:%S", time.gmtime(progress.seconds_left))
        if progress.seconds_left < 86_400
        else f"{progress.seconds_left / 86_400:.1f} days"
    )
    share = ", ".join(f"{name} {100 * value:.1f} %" for name, value in solved.items()) or "not validated yet"
    return (
        f"step {progress.step}/{progress.steps} · loss {progress.loss:.4f} · solved: {share} · "
        f"{progress.samples_per_second:.0f} samples/s · {left} left"
    )


class _Silent:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


class _tensorboard:  # noqa: N801  (reads like the option)
    def __init__(self, trainer: Trainer) -> None:
        from consformer.errors import ConsformerError

        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise ConsformerError("TensorBoard is not installed; pip install 'consformer[tensorboard]'") from error
        self.writer = SummaryWriter(str(trainer.folder / "tensorboard"))

    def add(self, progress: Progress) -> None:
        self.writer.add_scalar("loss", progress.loss, progress.step)
        for name, value in progress.losses.items():
            self.writer.add_scalar(f"loss/{name}", value, progress.step)
        self.writer.add_scalar("lr", progress.lr, progress.step)
        for name, value in (progress.solved or {}).items():
            self.writer.add_scalar(f"solved/{name}", value, progress.step)

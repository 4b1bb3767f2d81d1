"""Training: draw problems and random assignments, propose, measure the loss, step; resumable to the bit.

Every random number of step s comes from generators seeded with (seed, s, ...), so a run has no hidden state: weights, optimiser, moving
average and the step number are all there is to save.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar, cast

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn

from consformer import datasets, families
from consformer.csp import CSP
from consformer.errors import CheckpointError, ConsformerError, RecipeError
from consformer.machine import commit, machine
from consformer.networks import Network
from consformer.search.select import SELECTORS
from consformer.training.checkpoint import Card, load_network, save_network
from consformer.training.log import Log
from consformer.training.loss import loss
from consformer.training.optimiser import Optimiser
from consformer.training.recipe import Recipe, Task
from consformer.training.state import Parts, differing, read_state, write_state
from consformer.training.validation import shares_solved

T = TypeVar("T")


@dataclass(frozen=True)
class Sample:
    """A mini-batch: problems as one union, and what the network is to start from."""

    csp: CSP
    values: Tensor  # [1,n]
    subset: Tensor  # [1,n]
    temperature: Tensor  # [1,instances]
    generator: torch.Generator


@dataclass(frozen=True)
class Progress:
    """What a step brought; `solved` only after a validation."""

    step: int
    steps: int
    loss: float
    losses: dict[str, float]
    lr: float
    samples_per_second: float
    seconds_left: float
    core_minutes: float  # of computing, over all sittings and processes
    solved: dict[str, float] | None = None


@dataclass(frozen=True)
class Best:
    """The averaged weights that did best in validation."""

    step: int
    solved: dict[str, float]
    weights: dict[str, Tensor]


class Trainer:
    """One training run in one folder: `state.safetensors`, `log.jsonl`, and the network file `NAME.safetensors`."""

    def __init__(self, recipe: Recipe, folder: Path) -> None:
        self.recipe, self.folder = recipe, folder
        self.rank, self.world = (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(recipe.seed)
            self.network = Network.build(recipe.network.architecture, dict(recipe.network.config))
        if recipe.network.start is not None:
            _start_from(recipe.network.start, self.network)
        self.average = {name: tensor.detach().clone() for name, tensor in self.network.state_dict().items()}
        self.optimiser = Optimiser(self.network, recipe.optimiser)
        self.step = 0
        self.seconds = 0.0  # of computing in this process, over all sittings: how busy the machine is otherwise does not matter
        self.solved: dict[str, float] = {}
        self.best: Best | None = None
        self._model: nn.Module = nn.parallel.DistributedDataParallel(self.network) if self.world > 1 else self.network
        self._fixed: dict[int, list[CSP]] = {}
        self._torn = False  # in the middle of changing the weights: not a state to save

    # --- one step ---------------------------------------------------------------------------------------------

    def train_step(self) -> tuple[float, dict[str, float]]:
        """Draw a mini-batch of every task, step once; returns the loss and its parts."""
        self.optimiser.zero_grad()
        losses: dict[str, float] = {}
        tasks = self.recipe.task
        for index, task in enumerate(tasks):
            sample = self.sample(task, index, self.rank)
            last = index == len(tasks) - 1
            with contextlib.nullcontext() if last or self.world == 1 else self._model.no_sync():  # type: ignore[operator]
                value = self.loss(sample, self._model)
                value.backward()  # type: ignore[no-untyped-call]
            losses[f"{task.family}/{index}"] = float(value.detach())
        total = sum(losses.values())
        if not math.isfinite(total):
            raise RecipeError(f"the loss is {total} in step {self.step + 1}: training has diverged; a smaller lr or clip may help")
        if self.recipe.optimiser.clip:
            nn.utils.clip_grad_norm_(self.network.parameters(), self.recipe.optimiser.clip)
        self._torn = True
        self.optimiser.step(self.step)
        self.step += 1
        self._update_average()
        self._torn = False
        return total, losses

    def loss(self, sample: Sample, model: nn.Module) -> Tensor:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(sample.generator.initial_seed())  # for dropout, which takes no generator
            logits = model(sample.csp, sample.values, sample.subset, sample.temperature, drafts=True)
        drafts = len(logits) // len(sample.values)
        values, subset, temperature = (x.repeat(drafts, 1) for x in (sample.values, sample.subset, sample.temperature))
        return loss(sample.csp, logits, values, subset, temperature, self.recipe.loss, sample.generator)

    def sample(self, task: Task, index: int, rank: int) -> Sample:
        """The mini-batch of a task in this step for the process `rank`."""
        entropy = np.random.SeedSequence([self.recipe.seed, self.step, index, rank])
        generator = torch.Generator().manual_seed(int(entropy.generate_state(1, np.uint64)[0] >> 1))
        csp = CSP.union(self._problems(task, index, rank, np.random.default_rng(entropy)))
        self.network.check_fit(csp)
        state, count = self.recipe.state, len(csp.instances)
        low, high = task.p or state.p
        p = low + (high - low) * torch.rand(1, count, generator=generator)
        cold, hot = state.temperature
        temperature = cold * (hot / cold) ** torch.rand(1, count, generator=generator)
        values = csp.random_values(1, generator)
        subset = SELECTORS[state.select or "uniform"](csp, values, p, generator)
        return Sample(csp, values, subset, temperature, generator)

    def _problems(self, task: Task, index: int, rank: int, rng: np.random.Generator) -> list[CSP]:
        if task.instances is None:
            return families.get(task.family).generate(rng, task.batch, task.params)
        if index not in self._fixed:
            self._fixed[index] = datasets.load(task.family, task.instances, self.recipe.seed + 1 + index, task.params)
        pool = self._fixed[index]
        batch = task.batch * self.world
        per_epoch = max(1, len(pool) // batch)
        epoch, place = divmod(self.step, per_epoch)
        order = np.random.default_rng([self.recipe.seed, epoch, index]).permutation(len(pool))
        start = place * batch + rank * task.batch
        return [pool[order[i % len(pool)]] for i in range(start, start + task.batch)]

    @torch.no_grad()
    def _update_average(self) -> None:
        decay = min(self.recipe.optimiser.ema, (1 + self.step) / (10 + self.step))
        for name, tensor in self.network.state_dict().items():
            self.average[name].lerp_(tensor, 1 - decay)

    # --- the run ----------------------------------------------------------------------------------------------

    def run(self, *, minutes: float | None = None, stop: Callable[[], bool] = lambda: False) -> Iterator[Progress]:
        """Train until the recipe's steps are done, the minutes over, or `stop` says so in any process; a `Progress` per step.

        Saves itself on the way and at the end.
        """
        started = time.perf_counter()
        per_step = sum(task.batch for task in self.recipe.task) * self.world
        recent: list[float] = []
        log = Log(self.folder) if self.rank == 0 else None
        if log is not None:
            log.forget_after(self.step)
        try:
            if self.step >= self.recipe.optimiser.steps:  # nothing is left to do, but the search settings may be new
                self.validate()
            while self.step < self.recipe.optimiser.steps:
                before, computed = time.perf_counter(), time.process_time()
                total, losses = self.train_step()
                recent = [*recent[-49:], time.perf_counter() - before]
                self.seconds += time.process_time() - computed
                solved = self.validate() if self._due(self.recipe.validate_every) else None
                mean = sum(recent) / len(recent)
                progress = Progress(
                    step=self.step,
                    steps=self.recipe.optimiser.steps,
                    loss=total,
                    losses=losses,
                    lr=self.optimiser.lr,
                    samples_per_second=per_step / mean,
                    seconds_left=mean * (self.recipe.optimiser.steps - self.step),
                    core_minutes=self._core_minutes,
                    solved=solved,
                )
                if log is not None:
                    log.add(progress.__dict__)
                if self._due(self.recipe.checkpoint_every):
                    self.save()
                yield progress
                if self._agree(stop() or (minutes is not None and time.perf_counter() - started > 60 * minutes)):
                    break
        finally:
            if self.step and not self._torn:  # of a run that fails in its first step there is nothing to go on with
                self.save()

    def _due(self, every: int) -> bool:
        return self.step % every == 0 or self.step == self.recipe.optimiser.steps

    def _agree(self, stop: bool) -> bool:
        """All processes stop in the same step."""
        if self.world == 1:
            return stop
        flag = torch.tensor([float(stop)])
        dist.all_reduce(flag)
        return bool(flag > 0)

    def validate(self) -> dict[str, float]:
        """Share of the validation problems that the averaged weights solve (of optimisation problems: the share of the soft weight
        that is satisfied), by the checker's word; the processes share the work.
        """
        network = self.averaged_network()
        self.solved = shares_solved(self.recipe, network, self.rank, self.world)
        if self.solved and (self.best is None or fmean(self.solved.values()) > fmean(self.best.solved.values())):
            self.best = Best(self.step, self.solved, {name: tensor.detach().clone() for name, tensor in network.state_dict().items()})
        return self.solved

    def averaged_network(self) -> Network:
        """The network with averaged weights."""
        network = Network.build(self.recipe.network.architecture, dict(self.recipe.network.config))
        network.load_state_dict(self.average if self.recipe.optimiser.ema else self.network.state_dict())
        return network.eval()

    # --- files ------------------------------------------------------------------------------------------------

    @property
    def state_file(self) -> Path:
        return self.folder / "state.safetensors"

    @property
    def network_file(self) -> Path:
        return self.folder / f"{self.recipe.name}.safetensors"

    def save(self) -> None:
        """Write the state to resume from and the network so far."""
        if self.rank != 0:
            return
        kept = self.best if self.recipe.keep == "best" else None
        parts = {"weights": self.network.state_dict(), "average": self.average, "optimiser": self.optimiser.tensors}
        if kept is not None:
            parts["best"] = kept.weights
        document = {
            "recipe": self.recipe.to_dict(),
            "world": self.world,
            "step": self.step,
            "seconds": self.seconds,
            "solved": self.solved,
            "best": None if kept is None else {"step": kept.step, "solved": kept.solved},
        }
        write_state(self.state_file, parts, document)
        network = self.averaged_network()
        if kept is not None:
            network.load_state_dict(kept.weights)
        save_network(self.network_file, network, self.card(kept))

    def resume(self) -> bool:
        """Go on exactly where the saved state stopped; False when there is none. Only the first process needs to see the file."""
        found = self._from_first(self._read_state)
        if found is None:
            return False
        parts, document = found
        changed = differing(self.recipe.to_dict(), document.get("recipe"))
        if changed:
            raise RecipeError(
                f"{self.state_file} was written by another recipe ({', '.join(changed)} changed); "
                "train into another --output folder, or start anew with --fresh"
            )
        if document.get("world") != self.world:
            raise RecipeError(f"{self.state_file} was written by {document.get('world')} processes, this run has {self.world}; use as many")
        try:
            self.network.load_state_dict(parts["weights"])
            self.average = {name: tensor.clone() for name, tensor in parts["average"].items()}
            self.optimiser.restore(parts["optimiser"])
            self.step, self.seconds, self.solved = int(document["step"]), float(document["seconds"]), dict(document["solved"])
            best = document.get("best")
            if best is not None:
                self.best = Best(int(best["step"]), dict(best["solved"]), parts["best"])
            self.averaged_network()
        except (RuntimeError, KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"{self.state_file}: does not fit this recipe or is damaged: {error}") from error
        return True

    def _read_state(self) -> tuple[Parts, dict[str, Any]] | ConsformerError | None:
        if not self.state_file.exists():
            return None
        try:
            return read_state(self.state_file)
        except ConsformerError as error:
            return error

    def _from_first(self, read: Callable[[], T | ConsformerError]) -> T:
        """What the first process reads, in all processes; an error there is an error everywhere."""
        shared = [read() if self.rank == 0 else None]
        if dist.is_initialized():
            dist.broadcast_object_list(shared, src=0)
        found = shared[0]
        if isinstance(found, ConsformerError):
            raise found
        return cast("T", found)

    def card(self, best: Best | None = None) -> Card:
        """The description that goes into the network file, of the last weights or of the best."""
        return Card(
            name=self.recipe.name,
            architecture=self.recipe.network.architecture,
            config=dict(self.network.config_dict()),
            families=tuple(dict.fromkeys(task.family for task in self.recipe.task)),
            constraints=self._kinds,
            recipe=self.recipe.to_dict(),
            training={
                "steps": self.step,
                **({} if best is None else {"kept_step": best.step}),
                "samples": self.step * self.world * sum(task.batch for task in self.recipe.task),
                "core_minutes": round(self._core_minutes, 1),
                "machine": machine(),
                "date": datetime.now(UTC).date().isoformat(),
                "commit": commit(),
            },
            results={"validation": self.solved if best is None else best.solved},
            search=self.recipe.to_dict()["search"],
            soft_search=self.recipe.to_dict()["soft_search"] or {},
            tight_search=self.recipe.to_dict()["tight_search"] or {},
        )

    @property
    def _core_minutes(self) -> float:
        return self.seconds / 60 * self.world

    @cached_property
    def _kinds(self) -> tuple[str, ...]:
        """The constraint kinds that the tasks have."""
        drawn = [families.get(task.family).generate(np.random.default_rng(0), 8, task.params) for task in self.recipe.task]
        return tuple(sorted({constraint.kind for problems in drawn for problem in problems for constraint in problem.constraints}))


def _start_from(name: str, network: Network) -> None:
    """Take over the weights of a trained network."""
    trained, _ = load_network(name)
    try:
        network.load_state_dict(trained.state_dict())
    except RuntimeError:
        raise RecipeError(f"network.start: {name} has other settings than the network of this recipe; give it the same") from None

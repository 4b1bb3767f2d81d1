"""The loop: select, propose, decode, check, again, for many problems and many candidates of each at once."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from consformer import compiled
from consformer.csp import CSP
from consformer.networks.base import Network
from consformer.search.bandit import Bandit
from consformer.search.decode import DECODERS
from consformer.search.pool import Batch
from consformer.search.runs import Runs
from consformer.search.schedule import Fixed, Moment, Schedule
from consformer.search.select import REMEMBERING, SELECTORS, Context, margin

# (variable, value) pairs in the network at once, over all candidates: enough to keep it busy, little enough for memory.
PAIRS_AT_ONCE = 60_000
# With fewer of them, one thread is as fast as many, and does not wait for the others on a busy machine.
PAIRS_FOR_THREADS = 3_000
# After so many of them, which take a network a second or two, a search goes on with compiled code: loading it takes about a second, too.
# Counted and not timed, because a run must be reproducible; with a time limit it is not anyway, and then what is loaded is used.
PAIRS_FOR_COMPILER = 150_000
LATE = 0.05  # seconds after the time limit at which an iteration may end


@dataclass(frozen=True)
class SearchSettings:
    """How to refine."""

    iterations: int | None = None  # per problem
    time_limit: float | None = None  # seconds, for the whole call
    pool: int = 1  # candidates of each problem
    p: Schedule = field(default_factory=lambda: Fixed(0.8))
    temperature: Schedule = field(default_factory=lambda: Fixed(0.25))
    select: str = "uniform"
    redraw: Schedule = field(default_factory=lambda: Fixed(0.0))  # chance that a candidate's values are redrawn, see `_seen`
    decode: str = "sample"
    restart: int | None = None  # a candidate without progress for so many iterations starts anew (see `Batch.restart`)
    restarts: str = "scratch"  # from what: one of `ORIGINS`
    patience: str = "fixed"  # how `restart` changes: one of `PACES`
    remember: bool = False  # how sure the network was, for whoever asks (`Refinement.sureness`)
    seed: int = 0


@dataclass(frozen=True)
class Event:
    """What an iteration, or a few of them, brought."""

    iteration: int
    seconds: float
    total: int  # problems
    finished: int  # problems that are solved or out of iterations
    solved: int
    violations: int  # least hard violation among the candidates of the problem furthest from solved, of those in work
    cost: float  # soft cost of that candidate


@dataclass
class Incumbent:
    """The best assignment of a problem so far."""

    values: list[int]
    violations: int
    cost: float
    history: list[tuple[float, int, float]]  # (seconds, violations, cost) of every improvement
    iterations: int = 0  # spent on the problem so far
    seconds: float = 0.0  # since the start of the search, as long as the problem is in work
    finished: bool = False


class Refinement:
    """A running search over problems; iterate over it for an `Event` per iteration, or per run of iterations that are compiled as a whole;
    look into `incumbents` at any time.
    """

    def __init__(self, problems: Sequence[CSP], network: Network, settings: SearchSettings) -> None:
        self.problems, self.network, self.settings = problems, network, settings
        self.generator = torch.Generator().manual_seed(settings.seed)
        self.select, self.decode = SELECTORS[settings.select], DECODERS[settings.decode]
        self.bandit = Bandit(len(problems)) if settings.select == "bandit" else None
        self.tell: Callable[[str], None] = lambda message: None  # to be set by who wants to know what keeps it from searching
        self.incumbents: list[Incumbent | None] = [None] * len(problems)
        self.iteration = 0
        self._pairs = 0  # that went through the network
        self._runs: Runs | None = None  # once compiled code is used
        self._finished = self._solved = 0
        self._queue = list(range(len(problems)))[::-1]
        self._batch: Batch | None = None
        self._begun = False
        self._took = 0.0  # seconds of the last iteration
        self._started = time.perf_counter()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._started

    def __iter__(self) -> Iterator[Event]:
        """Begin, or go on where the last iteration over it stopped; the clock runs from the beginning."""
        if not self._begun:
            self._begun, self._started = True, time.perf_counter()
            self._batch = self._refill(None)
            yield self._event()
        while self._batch is not None and not self._out_of_time():
            began = self.seconds
            self.iteration += self._step(self._batch)
            self._record(self._batch)
            event = self._event()
            self._took = self.seconds - began
            if self._batch.done.any():
                self._batch = self._refill(self._batch)
            yield event

    def sureness(self) -> Tensor | None:
        """[n] of the only problem, in its best candidate: how far the best value of each variable was ahead of the next when the network
        was last asked; none when it was not asked, or does not `remember`.
        """
        if self._batch is None or not self.settings.remember or self.iteration == 0:
            return None
        return self._batch.margin[int(self._batch.best()[0][0])]

    def _out_of_time(self) -> bool:
        """Whether the next iteration, which takes about as long as the last, would end after the limit."""
        if self.settings.time_limit is None:
            return False
        return self.seconds + max(0.0, self._took - LATE) >= self.settings.time_limit

    @torch.no_grad()
    def _step(self, batch: Batch) -> int:
        """An iteration, or a run of them where they are compiled; how many it were."""
        settings, generator, csp = self.settings, self.generator, batch.csp
        if settings.restart is not None:
            batch.restart(settings.restart, generator, settings.restarts, settings.patience)
        free = torch.bincount(csp.instance[csp.free], minlength=len(csp.instances))
        moment = Moment(batch.age, self._progress(batch), batch.round, batch.spent, free, generator)
        pairs = batch.values.numel() * csp.m
        self._pairs += pairs
        if self._runs is None and (
            self._pairs > PAIRS_FOR_COMPILER or (settings.time_limit is not None and self.network.compiled_at_hand())
        ):
            self._compile()
        with _threads(pairs):
            if self._runs is not None and (iterations := self._runs.of(csp.instances)) is not None:
                return self._runs.run(batch, iterations, moment)
            p, temperature = settings.p(moment), settings.temperature(moment)
            arms = None if self.bandit is None else self.bandit.draw(batch.members, settings.pool, generator)
            subset = self.select(csp, batch.values, p, generator, Context(batch.margin, arms))
            logits = self.network(csp, self._seen(batch, subset, settings.redraw(moment)), subset, temperature)
            batch.values = torch.where(subset, self.decode(logits, generator), batch.values)
            if settings.remember or settings.select in REMEMBERING:
                batch.margin = torch.where(subset, margin(logits), batch.margin)
            batch.age += 1
            batch.spent += 1
            batch.judge()
            if self.bandit is not None and arms is not None:
                # Whatever is done to a fresh assignment makes it better.
                self.bandit.learn(batch.members, arms, batch.stale == 0, (batch.spent > 1) & ~batch.done)
        return 1

    def _compile(self) -> None:
        """Go on with compiled code; loading it, or even compiling it, is not a part of the search."""
        began = time.perf_counter()
        with compiled.telling(self.tell, "the network"):
            self.network = self.network.compiled()
        self._runs = Runs(self.network, self.settings)
        self._started += time.perf_counter() - began

    def _seen(self, batch: Batch, subset: Tensor, chance: Tensor) -> Tensor:
        """The values that the network is shown: of the variables it is to update the present ones, or, with this chance [K,I], random
        ones as in training.
        """
        if not bool(chance.any()):
            return batch.values
        chosen = torch.rand(chance.shape, generator=self.generator) < chance
        hidden = subset & chosen[:, batch.csp.instance]
        return torch.where(hidden, batch.csp.random_values(len(batch.values), self.generator), batch.values)

    def _progress(self, batch: Batch) -> Tensor:
        """[instances] how much of the run is over, by iterations or by time, whichever is further."""
        by_age = batch.age / self.settings.iterations if self.settings.iterations else torch.zeros(len(batch.age))
        by_time = self.seconds / self.settings.time_limit if self.settings.time_limit else 0.0
        return by_age.clamp(by_time, 1.0) if by_time < 1 else torch.ones(len(batch.age))

    def _refill(self, batch: Batch | None) -> Batch | None:
        """The next batch with something to do; none when all is done."""
        batch = self._exchange(batch)
        while batch is not None and bool(batch.done.all()):
            batch = self._exchange(batch)
        return batch

    def _exchange(self, batch: Batch | None) -> Batch | None:
        """Let finished problems go and new ones in; rebuilding costs, so only when a quarter of the batch would change."""
        keep = [] if batch is None else torch.nonzero(~batch.done)[:, 0].tolist()
        if batch is not None and len(keep) > 0.75 * len(batch.members):
            return batch
        kept_parts = [] if batch is None else [batch.csp.instances[i] for i in keep]
        variables, values = sum(part.n for part in kept_parts), max((part.m for part in kept_parts), default=0)
        fresh: list[int] = []
        while self._queue:
            csp = self.problems[self._queue[-1]]
            variables, values = variables + csp.n, max(values, csp.m)  # a union pads to the most values
            if variables * values * self.settings.pool > PAIRS_AT_ONCE and (keep or fresh):
                break
            fresh.append(self._queue.pop())
        if not keep and not fresh:
            return None
        rebuilt = Batch.start([self.problems[i] for i in fresh], fresh, self.settings.pool, self.generator) if fresh else None
        if keep:
            assert batch is not None
            kept = batch.only(keep)
            rebuilt = kept if rebuilt is None else kept.joined(rebuilt)
        assert rebuilt is not None
        self._record(rebuilt)
        return rebuilt

    def _record(self, batch: Batch) -> None:
        """Copy what improved into the incumbents, and note who is finished."""
        limit = self.settings.iterations
        best, key = batch.best()
        solved = key == 0  # nothing is violated, and nothing costs
        over = batch.age >= limit if limit is not None else torch.zeros(len(batch.age), dtype=torch.bool)
        stuck = ~batch.movable  # nothing is free: what is there is all there will be
        better = key < batch.best_key
        batch.best_key = torch.minimum(key, batch.best_key)
        now = self.seconds
        for i in torch.nonzero(better & ~batch.done)[:, 0].tolist():
            k, (start, end), member = int(best[i]), batch.spans[i], batch.members[i]
            violations, cost = int(batch.violations[k, i]), float(batch.cost[k, i])
            before = self.incumbents[member]
            history = [*(before.history if before else []), (now, violations, cost)]
            self._solved += violations == 0 and (before is None or before.violations > 0)
            self.incumbents[member] = Incumbent(batch.peak[k, start:end].tolist(), violations, cost, history)
        finished = (solved | over | stuck) & ~batch.done
        batch.done |= finished
        self._finished += int(finished.sum())
        for member, age, done in zip(batch.members, batch.age.tolist(), batch.done.tolist(), strict=True):
            incumbent = self.incumbents[member]
            if incumbent is not None and not incumbent.finished:
                incumbent.iterations, incumbent.seconds, incumbent.finished = age, now, done

    def _event(self) -> Event:
        members = [] if self._batch is None else self._batch.members
        working = [found for found in (self.incumbents[member] for member in members) if found is not None]
        worst = max(working, key=lambda found: (found.violations, found.cost), default=None)
        return Event(
            iteration=self.iteration,
            seconds=self.seconds,
            total=len(self.problems),
            finished=self._finished,
            solved=self._solved,
            violations=worst.violations if worst else 0,
            cost=worst.cost if worst else 0.0,
        )


@contextlib.contextmanager
def _threads(pairs: int) -> Iterator[None]:
    """One thread for little work, as many as there are for more."""
    usual = torch.get_num_threads()
    if pairs < PAIRS_FOR_THREADS and usual > 1:
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(usual)
    else:
        yield

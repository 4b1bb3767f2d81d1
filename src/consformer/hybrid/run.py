"""A solve by several parts: they take turns on one core, solvers that prove work on another, and all of them look at one board."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import torch

from consformer import compiled
from consformer.account import Account, PartAccount, Proof
from consformer.csp import CSP
from consformer.hybrid.board import Board
from consformer.hybrid.parts import (
    BacktrackingPart,
    BesidePart,
    LocalPart,
    LocalThread,
    NetworkPart,
    Part,
    ProverPart,
    RepairPart,
    SatPart,
    cells,
    off,
    searcher,
)
from consformer.modeling import Model
from consformer.partners.propagation import propagate
from consformer.result import Effort, Result
from consformer.search.refine import Event, Refinement

# What options call the parts, and what users read in the account.
PARTS: Mapping[str, str] = {
    "propagation": "propagation",
    "backtracking": BacktrackingPart.name,
    "local": LocalPart.name,
    "network": NetworkPart.name,
    "repair": RepairPart.name,
    "sat": SatPart.name,
    "cpsat": ProverPart.name,
}
METHODS: Mapping[str, tuple[str, ...]] = {
    "hybrid": tuple(PARTS),
    "local": ("local",),
    "cpsat": ("cpsat",),
}

TURN = 0.05  # seconds that a part works before the next one has its turn
TURN_PER_VARIABLE = 1e-6  # at least: looking at an assignment of a large problem takes time, too
LONGEST = 0.1  # of the time that has passed: a turn that takes longer waits, because nobody looks at what others find meanwhile
FIRST_TURN = 0.02  # of the quick parts, before another process is started
GLANCE, MOST_GLANCED = 0.005, 200_000  # seconds of backtracking before all else, on problems of up to so many cells
REWARD, MOST_WEIGHT = 1.5, 8.0  # a part that found something better gets so much more of the time, but not all of it
# Seconds before the time limit at which work ends, so that the answer is there, and has been looked at by the checker, in time.
MARGIN, MARGIN_PER_CELL = 0.04, 1e-7
# Where there is something to optimise, CP-SAT gives its core to a second local search when the best is not its own after so much of the
# time, but not before so many seconds. Else it may yet prove that there is no solution: it goes on, and after so many seconds the second
# local search shares the cores with it.
PATIENCE, LEAST_PATIENCE = 0.15, 3.0
SECOND_WIND = 1.0
# Where every value is needed (Latin squares, large Sudoku boards), moving values about leads nowhere: those that prove have all cores, and
# after so many seconds the others work for that share of the time only.
AT_FIRST, PACE = 0.5, 0.1

# Why those are idle that have made no difference beside local search wherever it was measured.
SPARE = "is for when there is no local search"
UNNAMED = f"{SPARE}, or a network or one of its settings is named"


@dataclass(frozen=True)
class NetworkSearch:
    """The network's search, as it may be asked for."""

    name: str
    begin: Callable[[CSP, float], Refinement]  # on a problem, for so many seconds
    seconds_per_pair: float  # that an iteration takes for each variable and value of a problem, rather too many
    named: bool  # it takes part beside local search, too, not only where there is none
    barred: str | None = None  # why it cannot take part, if it cannot

    def seconds(self, csp: CSP) -> float:
        """That an iteration takes."""
        return self.seconds_per_pair * csp.n * csp.m


class HybridRun:
    """A solve in progress: iterate over it for an `Event` now and then; `results()` is right at any time."""

    def __init__(
        self,
        problems: Sequence[CSP],
        models: Sequence[Model | None],
        *,
        parts: Sequence[str],
        network: NetworkSearch,
        time_limit: float,
        seed: int,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.problems, self.time_limit, self.seed, self.notes = problems, time_limit, seed, notes
        self.interrupted = False  # to be set by who stops before the end; results tell it
        self.tell: Callable[[str], None] = lambda message: None  # to be set by who wants to know what keeps it from searching
        self.stopped: Callable[[], bool] = lambda: False  # to be set by who may want to stop between two events: what takes long asks it
        self._parts, self._network = parts, network
        self._solves = [Solve(csp, model) for csp, model in zip(problems, models, strict=True)]
        self._started = self._deadline = time.perf_counter()

    @property
    def limits(self) -> tuple[float | None, int | None]:
        """Seconds and iterations that it may take."""
        return self.time_limit, None

    def __iter__(self) -> Iterator[Event]:
        self._started = time.perf_counter()
        margin = MARGIN + MARGIN_PER_CELL * sum(cells(csp) for csp in self.problems)
        self._deadline = self._started + self.time_limit - min(margin, self.time_limit / 2)
        for place, solve in enumerate(self._solves):  # what needs hardly any search is done first
            if time.perf_counter() >= self._deadline:
                break
            solve.board = Board(solve.csp)
            self._begin(solve)
            solve.seconds = solve.board.seconds
            if place % 20 == 0:
                yield self._event(solve)
        waiting = [solve for solve in self._solves if not solve.board.finished]
        for place, solve in enumerate(waiting):
            now = time.perf_counter()
            if now >= self._deadline:
                break
            solve.deadline = now + (self._deadline - now) / (len(waiting) - place)
            yield from self._go_on(solve)
        if self._solves:
            yield self._event(self._solves[-1])

    def results(self) -> list[Result]:
        """The best of every problem so far, each looked at by the checker."""
        return [self._result(index, solve) for index, solve in enumerate(self._solves)]

    def _result(self, index: int, solve: Solve) -> Result:
        csp, board = solve.csp, solve.board
        values = board.values
        if values is None:  # nobody came to look for one: any assignment is the best so far
            values = csp.random_values(1, torch.Generator().manual_seed(self.seed + index))[0].tolist()
        history = tuple((step.seconds, step.violations, step.cost) for step in board.steps)
        account = Account(tuple(solve.accounts), tuple(board.steps))
        effort = Effort(
            solve.iterations,
            solve.seconds,
            "none" if solve.network is None else self._network.name,
            self.seed,
            history,
            interrupted=self.interrupted and not board.finished,
            account=account,
            notes=self.notes,
        )
        return Result.judged(csp, values, effort, solve.model, board.proof)

    def _event(self, solve: Solve) -> Event:
        finished = sum(each.board.finished for each in self._solves)
        solved = sum(each.board.values is not None and each.board.violations == 0 for each in self._solves)
        seconds, board = time.perf_counter() - self._started, solve.board
        return Event(solve.iterations, seconds, len(self._solves), finished, solved, board.violations, board.cost)

    # --- one problem ------------------------------------------------------------------------------------------

    @contextmanager
    def _off_the_clock(self, solve: Solve, name: str) -> Iterator[None]:
        """For loading what a part needs once in a process, which is not a part of the search: its seconds do not count."""
        began = time.perf_counter()
        with compiled.telling(self.tell, PARTS[name]):
            yield
        taken = time.perf_counter() - began
        self._started += taken
        self._deadline += taken
        solve.deadline += taken
        solve.board.started += taken

    def _loaded(self, solve: Solve, name: str, module: str) -> bool:
        """Load the compiled code of a part; if that fails, the account says why."""
        if compiled.loaded(module):
            return True
        with self._off_the_clock(solve, name):
            reason = compiled.failure(module)
        if reason is not None:
            solve.absent(name, reason)
        return reason is None

    def _begin(self, solve: Solve) -> None:
        """What needs hardly any search: a glance by backtracking, then propagation, then a longer turn of backtracking.

        Propagation rules out more, and names the constraint that shows a contradiction, but takes longer than most puzzles and rosters do;
        the first time, it takes less than loading compiled code.
        """
        board = solve.board
        if compiled.loaded("backtrack") and cells(solve.csp) <= MOST_GLANCED:
            self._backtrack(solve, GLANCE)
        if "propagation" in self._parts and not board.solved:
            self._propagate(solve)
        if not board.finished:
            self._backtrack(solve, FIRST_TURN)
        if board.finished and solve.backtracking is not None:
            solve.accounts.append(solve.backtracking.account(board.finisher == BacktrackingPart.name))

    def _backtrack(self, solve: Solve, seconds: float) -> None:
        """A short turn of backtracking, if it can take part."""
        left = max(0.0, self._deadline - time.perf_counter())
        if "backtracking" not in self._parts or off(solve.reduced, "backtracking", left) is not None:
            return
        if not self._loaded(solve, "backtracking", "backtrack"):
            return
        if solve.backtracking is None or solve.backtracking.csp is not solve.reduced:
            glance = solve.backtracking
            solve.backtracking = BacktrackingPart(solve.board, solve.reduced, self.seed)
            solve.backtracking.seconds = glance.seconds if glance is not None else 0.0
        solve.backtracking.take_turn(min(seconds, left))

    def _propagate(self, solve: Solve) -> None:
        board, before = solve.board, len(solve.board.steps)
        began = time.perf_counter()
        found = propagate(solve.csp, seconds=max(0.0, self._deadline - began) / 4, stop=self.stopped)
        solve.reduced = found.csp
        if found.contradiction is not None:
            board.proof = Proof("infeasible", "propagation", str(found.contradiction))  # tells more than another proof would
        elif not bool(found.csp.free.any()):
            board.offer("propagation", found.csp.given.tolist())
            if board.violations == 0 and board.cost:
                board.prove(Proof("optimal", "propagation", "no variable is left to decide"))
        settled = int(solve.csp.free.sum() - found.csp.free.sum())
        account = PartAccount(
            PARTS["propagation"],
            time.perf_counter() - began,
            len(board.steps) - before,
            board.finished and board.finisher == "propagation",
            f"{settled:,} variables settled",
        )
        solve.accounts.append(account)

    def _go_on(self, solve: Solve) -> Iterator[Event]:
        """All parts, until one of them is finished or the time is over."""
        board = solve.board
        board.started = time.perf_counter() - solve.seconds  # the turns of other problems since then are not its own
        taking_turns: list[Part] = []
        beside: list[Part] = []
        threads = torch.get_num_threads()
        try:
            for part in self._taking_turns(solve):
                taking_turns.append(part)
                # Before a process is started, which is told what was found by then: by local search, or by the network where there is none.
                quick = isinstance(part, NetworkPart) and part.at_least <= LONGEST * solve.left
                if isinstance(part, LocalPart) or (quick and not isinstance(taking_turns[0], LocalPart)):
                    part.take_turn(min(FIRST_TURN, solve.left))
                yield self._event(solve)
            for part in self._beside(solve, alone=not taking_turns):
                beside.append(part)  # one by one: each is to be closed, whatever happens to the next
                yield self._event(solve)
            clocks = {part.name: 0.0 for part in taking_turns}
            began = rest = time.perf_counter()
            while not board.finished and solve.left > 0:
                for part in beside:
                    if not part.over:
                        part.work(0.0)
                self._step_in(solve, beside)
                waiting = [part for part in taking_turns if not part.over]
                if board.finished or not (waiting or any(not part.over for part in beside)):
                    break
                self._reinforce(solve, taking_turns, beside, began)
                _leave_cores(beside, threads)
                now = time.perf_counter()
                able = [part for part in waiting if part.at_least <= max(TURN, LONGEST * (now - began))] or waiting * (not beside)
                if able and now >= rest:
                    _turn(min(able, key=lambda part: clocks[part.name]), clocks, solve.left)
                    proving = any(isinstance(part, BesidePart) and not part.over for part in beside)
                    if solve.csp.tight and proving and now > began + AT_FIRST:
                        rest = time.perf_counter() + (time.perf_counter() - now) * (1 / PACE - 1)
                else:
                    time.sleep(0.005)
                solve.update()
                yield self._event(solve)
        finally:
            torch.set_num_threads(threads)
            with ExitStack() as closing:  # all of them, whatever happens to one
                for part in [*taking_turns, *beside]:
                    closing.callback(_end, part)
                for part in [*taking_turns, *beside]:  # all at the same time
                    _leave(part)
            solve.accounts += [part.account(board.finished and board.finisher == part.name) for part in [*taking_turns, *beside]]
            solve.update()

    def _able(self, solve: Solve, name: str) -> bool:
        """Whether a part was asked for and can take part; if it cannot, the account says why."""
        if name not in self._parts:
            return False
        barred, needed = (self._network.barred, self._network.seconds(solve.reduced)) if name == "network" else (None, None)
        reason = barred or off(solve.reduced, name, solve.left, needed)
        if reason is not None:
            solve.absent(name, reason)
        return reason is None

    def _asked(self, solve: Solve, name: str, idle: bool, reason: str) -> bool:
        """Whether a part can take part, and is not to be idle for this reason."""
        able = self._able(solve, name)
        if able and idle:
            solve.absent(name, reason)
        return able and not idle

    def _taking_turns(self, solve: Solve) -> Iterator[Part]:
        board, csp = solve.board, solve.reduced
        searching = self._able(solve, "local") and self._loaded(solve, "local", searcher(csp).code)
        if searching:
            yield LocalPart(board, csp, self.seed)
        if solve.backtracking is None:
            self._able(solve, "backtracking")  # if it is not, the account says why
        elif not solve.backtracking.over:
            yield solve.backtracking
        if not board.finished and self._asked(solve, "network", searching and not self._network.named, UNNAMED):
            with self._off_the_clock(solve, "network"):
                refinement = self._network.begin(csp, solve.left)
            solve.network = NetworkPart(board, csp, refinement, solve.deadline, self._network.seconds(csp))
            yield solve.network
        if not board.finished and self._asked(solve, "repair", searching, SPARE):
            yield RepairPart(board, csp, self.seed, solve.network)

    def _beside(self, solve: Solve, alone: bool) -> Iterator[Part]:
        """Those that prove, each in a process. On pairs that must differ a SAT solver is ahead of CP-SAT; where many variables must differ
        from one another, each is quick where the other is not, so both are asked. All else is for CP-SAT.
        """
        board, csp = solve.board, solve.reduced
        several = solve.csp.tight or alone
        wide = any(bool((constraint.sizes > 2).any()) for constraint in csp.constraints)
        sat = not board.finished and self._able(solve, "sat")
        if sat:
            yield SatPart(board, csp, solve.left)
        if board.finished or not self._able(solve, "cpsat"):
            return
        if sat and not (several or wide):
            solve.absent("cpsat", "leaves pairs that must differ to the SAT solver")
            return
        workers = max(1, cores() - sat) if several else 1
        yield ProverPart(board, csp, self.seed, workers, solve.left)

    def _step_in(self, solve: Solve, beside: list[Part]) -> None:
        """CP-SAT where the SAT solver has failed and it was left out for it."""
        if any(isinstance(part, ProverPart) for part in beside) or not any(isinstance(part, SatPart) and part.failed for part in beside):
            return
        if "cpsat" in self._parts and off(solve.reduced, "cpsat", solve.left) is None:
            solve.accounts = [account for account in solve.accounts if account.name != ProverPart.name]  # which said why it is not there
            beside.append(ProverPart(solve.board, solve.reduced, self.seed, 1, solve.left))

    def _reinforce(self, solve: Solve, taking_turns: Sequence[Part], beside: list[Part], began: float) -> None:
        """A second local search, on a core that nothing else uses, or that CP-SAT had for long enough."""
        if any(isinstance(part, LocalThread) for part in beside) or not any(isinstance(part, LocalPart) for part in taking_turns):
            return
        passed = time.perf_counter() - began
        for prover in [part for part in beside if isinstance(part, BesidePart) and not part.over]:
            if isinstance(prover, ProverPart) and solve.csp.soft_weight:
                if passed < max(LEAST_PATIENCE, PATIENCE * (solve.deadline - began)) or not prover.behind:
                    return
                prover.work(0.0)
                prover.close()
                prover.over = True
            elif passed < SECOND_WIND or solve.csp.tight:
                return
        if not solve.reinforced:
            solve.reinforced = True  # there will not be more time later
            if off(solve.reduced, "local", solve.left / 2) is None:
                beside.append(LocalThread(solve.board, solve.reduced, self.seed + 1))


class Solve:
    """What is known about one problem."""

    def __init__(self, csp: CSP, model: Model | None) -> None:
        self.csp, self.model, self.reduced = csp, model, csp
        self.board = Board(csp)
        self.accounts: list[PartAccount] = []
        self.backtracking: BacktrackingPart | None = None
        self.network: NetworkPart | None = None
        self.reinforced = False  # a second local search was thought of
        self.iterations, self.seconds, self.deadline = 0, 0.0, 0.0

    @property
    def left(self) -> float:
        """Seconds until its time is over."""
        return max(0.0, self.deadline - time.perf_counter())

    def absent(self, name: str, reason: str) -> None:
        """Note why a part does not take part."""
        self.accounts.append(PartAccount(PARTS[name], 0.0, 0, finished=False, note=reason))

    def update(self) -> None:
        self.seconds = self.board.seconds
        if self.network is not None:
            self.iterations = self.network.refinement.iteration


def cores() -> int:
    """How many processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _leave_cores(beside: Sequence[Part], threads: int) -> None:
    """Use fewer of these threads while others keep cores busy: an operation that is shared out to a busy core waits for it."""
    left = max(1, threads - sum(part.cores for part in beside if not part.over))
    if torch.get_num_threads() != left:
        torch.set_num_threads(left)


def _leave(part: Part) -> None:
    """Look at what a part has found, and tell it to end."""
    if isinstance(part, BesidePart) and not part.over:
        part.work(0.0)
    part.stop()


def _end(part: Part) -> None:
    """Close a part; one that goes on until it is told to end may have found something meanwhile."""
    part.close()
    if isinstance(part, LocalThread):
        part.work(0.0)


def _turn(part: Part, clocks: dict[str, float], left: float) -> None:
    """Let a part work, and put it back in the queue, the further the less it has earned."""
    spent = part.seconds
    turn = part.turn(max(TURN, TURN_PER_VARIABLE * part.csp.n))
    if part.take_turn(min(turn, left)):
        part.weight = min(part.weight * REWARD, MOST_WEIGHT)
    clocks[part.name] += max(part.seconds - spent, 1e-3) / part.weight

"""The parts of a solve behind one small interface: each works for a slice of time, or beside the others, and tells the board."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod

import torch

from consformer import compiled
from consformer.account import PartAccount, Proof
from consformer.csp import CSP
from consformer.hybrid.board import Board
from consformer.partners.backtrack import Backtracking
from consformer.partners.beside import Beside
from consformer.partners.cpsat import Prover
from consformer.partners.cuts import CutSearch
from consformer.partners.differences import stated
from consformer.partners.local import LocalSearch
from consformer.partners.memetic import MemeticSearch
from consformer.partners.neighbourhood import doubtful, neighbourhood
from consformer.partners.process import CPSAT, SAT, available
from consformer.partners.repair import Repairer
from consformer.partners.sat import SatSearch
from consformer.search.refine import Refinement

# Seconds that it takes to make a problem ready for a part, for each of its cells; for repairs, each time.
SECONDS_TO_STATE = {"local.moves": 1e-6, "differences": 1e-7, "cuts": 4e-7, "cpsat": 2e-6, "repair": 1e-6}
WORTH = {"local": 0.75}  # of the time that is left a part may take to begin, if not half: what local search finds in little time is much
BRIEF = 0.1  # seconds to begin that are too few to ask whether they are worth it
MOST_REPAIRED = 2_000_000  # cells of a problem: in a larger one, looking for a region to repair takes longer than repairing it
NEARLY_PROVED = 0.1  # between the bound and the best, as a share of the best
REPAIRED = 40  # variables in the first repair; more as long as repairs are quick, fewer when they are not
REPAIR_SECONDS = 0.2


class Part(ABC):
    """Something that can improve an assignment, find one, or prove that there is none."""

    name: str
    weight = 1.0
    """Its share of the time that parts take turns in; whoever finds something gets more."""
    cores = 0
    """How many it keeps busy beside the caller."""

    def __init__(self, board: Board, csp: CSP) -> None:
        """`csp` has the solutions of the board's problem; its domains may be narrower."""
        self.board, self.csp = board, csp
        self.seconds = 0.0
        self.over = False  # nothing more will come
        self.note = ""

    @abstractmethod
    def work(self, seconds: float) -> None:
        """Work for about so long."""

    def stop(self) -> None:  # noqa: B027  (most parts have nothing to end)
        """Have whatever runs beside the caller end, without waiting for that."""

    def close(self) -> None:  # noqa: B027
        """End whatever runs beside the caller; at once."""

    def take_turn(self, seconds: float) -> bool:
        """Work, with an eye on the clock; says whether the board has something better."""
        before, began = self.board.key, time.perf_counter()
        self.work(seconds)
        self.seconds += time.perf_counter() - began
        return self.board.key < before

    def turn(self, usual: float) -> float:
        """How long it is to work, if it is left to it."""
        return usual

    @property
    def at_least(self) -> float:
        """Seconds that a turn takes, however short it is meant to be."""
        return 0.0

    def account(self, finished: bool) -> PartAccount:
        improvements = sum(step.part == self.name for step in self.board.steps)
        return PartAccount(self.name, self.seconds, improvements, finished, self.note)


class BacktrackingPart(Part):
    name = "backtracking"

    def __init__(self, board: Board, csp: CSP, seed: int) -> None:
        super().__init__(board, csp)
        self.weight = 4.0 if csp.tight else 1.0  # where every value is needed, most of them are forced
        self.search = Backtracking(self.csp, seed)

    def work(self, seconds: float) -> None:
        status = self.search.run(seconds=seconds)
        self.over = status != "open"
        self.note = f"{self.search.nodes:,} nodes"
        if status == "solved":
            self.board.offer(self.name, self.search.values)
        elif status == "infeasible":
            self.board.prove(Proof("infeasible", self.name, "all assignments were tried or ruled out"))


class LocalPart(Part):
    name = "local search"

    def __init__(self, board: Board, csp: CSP, seed: int) -> None:
        super().__init__(board, csp)
        self.weight = 1.0 if csp.tight else 4.0
        self.search = searcher(self.csp)(self.csp, seed)
        self._from = board.key  # of the best when it last looked

    def work(self, seconds: float) -> None:
        board = self.board
        told = board.key < self._from and _tells(board, self.name, self.search.joins)
        if told and board.values is not None:
            self.search.restart_from(board.values)
        if self.search.run(seconds=seconds) or told or board.values is None:
            board.offer(self.name, self.search.best.values)
        self._from = board.key
        self.over = self.search.over
        self.note = f"{self.search.moves:,} moves"


def _tells(board: Board, name: str, joins: bool) -> bool:
    """Whether a local search is to go on from the best of the board: two of them go their own ways, unless they can join what they find."""
    return board.finisher != name if joins else board.finisher not in (LocalPart.name, LocalThread.name)


class LocalThread(Part):
    """Another local search, on a core that nothing else uses: its moves are compiled code that lets other threads run."""

    name = "second local search"
    cores = 1

    def __init__(self, board: Board, csp: CSP, seed: int) -> None:
        super().__init__(board, csp)
        self._began = time.perf_counter()
        self._stop = threading.Event()
        self._found: list[list[int]] = []
        self._told: list[list[int]] = []
        self._joins = False  # until the search is there
        self._from = board.key  # of the best when it last looked
        self._moves, self._failed = 0, ""
        self._thread = threading.Thread(target=self._run, args=(seed,), name=self.name, daemon=True)
        self._thread.start()

    def _run(self, seed: int) -> None:
        try:
            search = searcher(self.csp)(self.csp, seed)  # here, so that nobody waits until it is made
            self._joins = search.joins
            self._found.append(search.best.values)  # it may begin with what is sought
            while not self._stop.is_set() and not search.over:
                told = [self._told.pop() for _ in range(len(self._told))]
                for values in told[:1]:  # the last of them is the best
                    search.restart_from(values)
                if search.run(seconds=0.1, stop=self._stop.is_set) or told:
                    self._found.append(search.best.values)
                self._moves = search.moves
        except Exception as error:  # the other parts go on, whatever it is
            self._failed = f"failed: {error}"

    def work(self, seconds: float) -> None:
        ended = not self._thread.is_alive()  # asked first, so that nothing is found after the last look
        while self._found:
            self.board.offer(self.name, self._found.pop(0))
        board = self.board
        if board.key < self._from and self._joins and _tells(board, self.name, joins=True) and board.values is not None:
            self._told.append(board.values)
        self._from = board.key
        self.over = ended
        self.note = self._failed or f"{self._moves:,} moves"

    def stop(self) -> None:
        self._stop.set()

    def close(self) -> None:
        self.stop()
        self._thread.join()
        self.seconds = time.perf_counter() - self._began


class NetworkPart(Part):
    name = "network"
    weight = 2.0

    def __init__(self, board: Board, csp: CSP, refinement: Refinement, deadline: float, slowest: float) -> None:
        """`slowest`: seconds that an iteration may take, as long as none was timed."""
        super().__init__(board, csp)
        self.refinement, self.deadline = refinement, deadline
        self._steps = iter(refinement)
        self._told = 0  # improvements of its own
        self._slowest = slowest
        self._guessed = True  # that is only a guess yet

    def work(self, seconds: float) -> None:
        end = time.perf_counter() + seconds
        while True:
            began = time.perf_counter()
            if began + 1.2 * self._slowest > self.deadline:  # an iteration cannot be cut short
                self.over = True
                self.note = self.note or "an iteration would take longer than the time that is left"
                return
            if next(self._steps, None) is None:
                self.over = True
                return
            found = self.refinement.incumbents[0]
            if found is not None and len(found.history) > self._told:
                self._told = len(found.history)
                self.board.offer(self.name, found.values)
            iterations = self.refinement.iteration
            self.note = f"{iterations:,} iteration{'s' if iterations != 1 else ''}"
            now = time.perf_counter()
            if iterations:  # the very first step only evaluates
                self._slowest = now - began if self._guessed else max(now - began, 0.9 * self._slowest)
                self._guessed = False
            if now >= end or self.board.finished:
                return

    @property
    def at_least(self) -> float:
        return self._slowest


class RepairPart(Part):
    """CP-SAT decides some variables exactly: in turn a region around what is wrong with the best assignment, and what the network is least
    sure of in its own. There are more of them as long as that is quick.
    """

    name = "repair"
    weight = 1.0

    def __init__(self, board: Board, csp: CSP, seed: int, network: NetworkPart | None = None) -> None:
        super().__init__(board, csp)
        self.repairer = Repairer(seconds=REPAIR_SECONDS, seed=seed)
        self.generator = torch.Generator().manual_seed(seed)
        self.network, self.size, self.count, self.chosen = network, REPAIRED, 0, 0
        self.choice = bool((csp.free & (csp.domain.sum(1) > 1)).any())  # whether there is anything to decide
        self._guess = self._slowest = SECONDS_TO_STATE["repair"] * cells(csp)  # seconds to look for something to repair
        self._sent = 0.0  # when the last repair was ordered

    def work(self, seconds: float) -> None:
        if seconds < self._slowest:
            self.over = True
            self.note = self.note or "looking for something to repair would take longer than the time that is left"
            return
        began = time.perf_counter()
        if self.board.values is None:  # nobody has found anything to repair yet
            self.board.offer(self.name, self.csp.random_values(1, self.generator)[0].tolist())
        if not self.choice:
            self.over = True
            return
        if not self.repairer.waiting:
            self.repairer.submit(self.csp, *self._order())
            self._sent = time.perf_counter()
            self._slowest = max(self._sent - began, 0.9 * self._slowest)
        while self.repairer.waiting and time.perf_counter() - began < seconds:
            for repair in self.repairer.poll():
                self.count += 1
                self.board.offer(self.name, repair.values)
            time.sleep(0.001)
        if self.repairer.waiting:  # its time is over, not that of the repair
            return
        quick = time.perf_counter() - self._sent < REPAIR_SECONDS / 4  # which may have been in an earlier turn
        self.size = max(8, min(int(self.size * (1.1 if quick else 0.9)), self.csp.n))
        self.note = f"{self.count:,} repairs, {self.chosen:,} of them where the network said"
        if self.repairer.status == "failed":
            self.over, self.note = True, self.repairer.reason

    def turn(self, usual: float) -> float:
        return max(usual, REPAIR_SECONDS, self._slowest)

    @property
    def at_least(self) -> float:
        return self._guess

    def _order(self) -> tuple[list[int], torch.Tensor]:
        """What to repair, and which of its variables."""
        if self.network is not None and self.count % 2:
            sureness, found = self.network.refinement.sureness(), self.network.refinement.incumbents[0]
            if sureness is not None and found is not None:
                self.chosen += 1
                return found.values, doubtful(self.csp, found.values, sureness, self.size)
        assert self.board.values is not None
        return self.board.values, neighbourhood(self.csp, self.board.values, self.size, self.generator)

    def close(self) -> None:
        self.repairer.close()


class BesidePart(Part):
    """A solver in a process of its own, on the whole problem: those that prove."""

    cores = 1

    def __init__(self, board: Board, csp: CSP, partner: Beside, began: float) -> None:
        """`began`: when its problem was beginning to be stated."""
        super().__init__(board, csp)
        self._partner, self._began = partner, began

    @property
    def failed(self) -> bool:
        return self._partner.status == "failed"

    def work(self, seconds: float) -> None:
        for found in self._partner.poll():
            self.board.offer(self.name, found.values)
        status = self._partner.status
        if status == "infeasible":
            self.board.prove(Proof("infeasible", self.name))
        elif status == "optimal":
            self.board.prove(Proof("optimal", self.name))
        self.note = self._partner.reason
        if status != "running":
            self.over = True
            self.close()

    def stop(self) -> None:
        if not self.over:
            self._partner.stop()

    def close(self) -> None:
        if not self.seconds:  # once
            self._partner.close()
            self.seconds = time.perf_counter() - self._began


class SatPart(BesidePart):
    name = "SAT solver"

    def __init__(self, board: Board, csp: CSP, seconds: float) -> None:
        began = time.perf_counter()
        super().__init__(board, csp, SatSearch(csp, seconds=seconds), began)


class ProverPart(BesidePart):
    name = "CP-SAT"

    def __init__(self, board: Board, csp: CSP, seed: int, workers: int, seconds: float) -> None:
        began = time.perf_counter()
        self.cores = workers
        self.prover = Prover(csp, workers=workers, seed=seed, hint=board.values, seconds=seconds)
        super().__init__(board, csp, self.prover, began)

    def work(self, seconds: float) -> None:
        super().work(seconds)
        if not self.board.finished and self.board.values is not None and self.board.violations == 0 and self.prover.meets(self.board.cost):
            self.board.prove(Proof("optimal", self.name, "its bound meets the best that was found"))

    @property
    def behind(self) -> bool:
        """Whether the best is not its own, and it is far from proving that nothing is better."""
        near = self.prover.bound is not None and self.prover.bound > (1 - NEARLY_PROVED) * self.board.cost
        return self.board.finisher != self.name and not near


def searcher(csp: CSP) -> type[LocalSearch] | type[CutSearch] | type[MemeticSearch]:
    """The local search for a problem."""
    if CutSearch.fits(csp):
        return CutSearch
    return MemeticSearch if MemeticSearch.fits(csp) else LocalSearch


def off(csp: CSP, name: str, seconds: float, needed: float | None = None) -> str | None:
    """Why a part cannot take part in this problem, with so many seconds left, of which it needs some to begin; None when it can."""
    if name == "backtracking":
        return None if Backtracking.fits(csp) else "takes only problems in which variables must differ, and not too many"
    program = {"cpsat": CPSAT, "repair": CPSAT, "sat": SAT}.get(name)
    if program is not None and not available(program):
        return f"is off: pip install {program.package}"
    if name == "sat" and not SatSearch.fits(csp):
        return "takes only problems in which variables must differ, and not too many"
    if name == "repair" and cells(csp) > MOST_REPAIRED:
        return "is not for problems as large as this"
    if name == "local" and not compiled.available():
        return "needs a compiler: pip install numba"
    code = searcher(csp).code if name == "local" else name
    size = cells(csp) + (stated(csp) if code == MemeticSearch.code else 0)
    needed = SECONDS_TO_STATE.get(code, 0.0) * size if needed is None else needed
    if needed > WORTH.get(name, 0.5) * seconds and needed > BRIEF:
        return f"is not started: it would take about {needed:.1f} of the {seconds:.1f} seconds to begin"
    return None


def cells(csp: CSP) -> int:
    """How large a problem is: values of variables, and variables of constraints."""
    return csp.n * csp.m + sum(len(constraint.members) for constraint in csp.constraints)

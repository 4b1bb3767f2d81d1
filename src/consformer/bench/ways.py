"""Ways to solve a problem, ours and those of rivals, each asked the same way and checked the same way."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from consformer import checker, compiled
from consformer.baselines import CPSAT, Answer, Rival
from consformer.baselines.cpsat import CpSat
from consformer.bench.apart import Apart
from consformer.bench.base import Row
from consformer.constraints.base import plain_number
from consformer.csp import CSP
from consformer.hybrid import PARTS
from consformer.hybrid.parts import searcher
from consformer.result import Result
from consformer.solving import AUTOMATIC, choose, solve
from consformer.training.checkpoint import load_network

GRACE = 5.0  # seconds beyond its limit after which a rival is killed, or a fifth of the limit where that is more
MOST_STEPS = 200  # improvements of a search that a row keeps


@dataclass(frozen=True)
class Way:
    """A way to solve: by a rival, or by `solve` with these settings."""

    name: str
    title: str = ""
    rival: Rival | None = None
    method: str = "hybrid"
    without: tuple[str, ...] = ()
    network: str | None = None  # one that is named takes part in the hybrid, too
    factor: float = 1.0  # times the time limit that the others have
    proves: bool = False  # it may find that there is no solution

    @property
    def asks(self) -> str | None:
        """The network that takes part, if only where others cannot; `AUTOMATIC` for whichever suits."""
        takes_part = self.rival is None and self.method in ("hybrid", "network") and "network" not in self.without
        return self.network or AUTOMATIC if takes_part else None

    @property
    def label(self) -> str:
        """What tables call it."""
        return self.title or (self.rival.title if self.rival is not None else self.name)


HYBRID = Way("hybrid", "ours: hybrid", proves=True)
NETWORK = Way("network", "ours: network alone", method="network")
LOCAL = Way("local", "ours: local search alone", method="local")
CPSAT_WAY = Way("cpsat", rival=CPSAT, proves=True)
WITH_NETWORK = Way("with-network", "ours: hybrid with network", network=AUTOMATIC, proves=True)
WITHOUT = tuple(Way(f"without-{part}", without=(part,)) for part in PARTS)


def cpsat_way() -> Way:
    """CP-SAT with as many workers as this process has threads."""
    return Way("cpsat", rival=CpSat(workers=torch.get_num_threads()), proves=True)


def network_way(network: str) -> Way:
    """A network alone, by its name or file."""
    return Way(f"network:{network}", f"ours: network {network} alone", method="network", network=network)


class Asked:
    """Asks ways for answers. Rivals work in a process of their own, which ends when they overrun and which they may crash.

    >>> from consformer import Model, all_different
    >>> model = Model()
    >>> model.add(all_different(model.variables(3, values=range(3))))
    >>> Asked().row(HYBRID, model.compile(), 10.0, 0)["status"]
    'solved'
    """

    def __init__(self) -> None:
        self._idle: list[Apart] = []
        self._all: list[Apart] = []  # one for each of those that are asked at the same time

    def prepare(self, ways: Iterable[Way], csp: CSP) -> None:
        """Have compiled code loaded and processes' files cached before anything is measured. One problem may need none of it."""
        ways = list(ways)
        if compiled.available() and any(way.rival is None for way in ways):
            for module in ("backtrack", searcher(csp).code, "layers"):
                compiled.failure(module)
            for network in filter(None, dict.fromkeys(way.asks for way in ways)):
                load_network(choose([csp]) if network == AUTOMATIC else network)[0].compiled()
        for way in ways:
            self.row(replace(way, factor=1.0), csp, 0.5, 0)

    def close(self) -> None:
        for apart in self._all:
            apart.close()

    def row(self, way: Way, csp: CSP, seconds: float, seed: int) -> Row:
        """A row: status, violations, objective, seconds of the whole call, and what else is known of how it went."""
        seconds *= way.factor
        return self._theirs(way.rival, csp, seconds, seed) if way.rival is not None else _ours(way, csp, seconds, seed)

    def _theirs(self, rival: Rival, csp: CSP, seconds: float, seed: int) -> Row:
        reason = rival.missing or rival.declines(csp)
        if reason is not None:
            return _nothing("missing" if rival.missing else "declined", 0.0, reason)
        longest = seconds + max(GRACE, seconds / 5)
        try:
            apart = self._idle.pop()
        except IndexError:  # all of them are busy
            apart = self._another()
        try:
            called = apart.call(_timed, rival, csp, seconds, seed, seconds=longest)
        finally:
            self._idle.append(apart)
        if called.value is None:
            return _nothing(called.status, longest if called.status == "overran" else 0.0, called.reason)
        answer, taken = called.value
        return _judged(csp, answer, taken) | {"by": rival.name}

    def _another(self) -> Apart:
        self._all.append(Apart())
        return self._all[-1]


def _timed(rival: Rival, csp: CSP, seconds: float, seed: int) -> tuple[Answer, float]:
    """In the rival's process."""
    began = time.perf_counter()
    answer = rival.solve(csp, seconds, seed)
    return answer, time.perf_counter() - began


def _nothing(status: str, seconds: float, reason: str) -> Row:
    return {"status": status, "violations": None, "objective": None, "seconds": round(seconds, 4), "reason": reason}


def _judged(csp: CSP, answer: Answer, seconds: float) -> Row:
    """A rival's answer as the checker sees it."""
    if answer.values is None:
        return _nothing("infeasible" if answer.proof == "infeasible" else "unsolved", seconds, "")
    verdict = checker.check(csp, list(answer.values))
    status = "unsolved" if not verdict.solved else answer.proof or "solved"
    way = [[round(when, 4), plain_number(objective)] for when, objective in answer.way]
    return _entries(status, verdict.violations, verdict.objective, seconds) | ({"way": _thinned(way)} if way else {})


def _ours(way: Way, csp: CSP, seconds: float, seed: int) -> Row:
    began = time.perf_counter()
    result = solve(csp, method=way.method, without=way.without, network=way.network, time_limit=seconds, seed=seed)
    taken, account = time.perf_counter() - began, result.effort.account
    row = _entries(result.status, result.violations, result.objective, taken)
    row["by"] = "network" if account is None else result.proof.by if result.proof else account.winner
    if account is not None:
        row["parts"] = {part.name: (round(part.seconds, 4), part.improvements) for part in account.parts}
    return row | ({"way": _thinned(improvements(result))} if csp.soft_weight else {})


def _entries(status: str, violations: int, objective: float | None, seconds: float) -> Row:
    return {
        "status": status,
        "violations": violations,
        "objective": None if objective is None else plain_number(objective),
        "seconds": round(seconds, 4),
    }


def improvements(result: Result) -> list[list[Any]]:
    """[seconds, objective] of each improvement with all hard constraints kept."""
    csp = result.csp
    return [
        [round(seconds, 4), plain_number(csp.offset - cost if csp.maximise else csp.offset + cost)]
        for seconds, violations, cost in result.effort.history
        if not violations
    ]


def _thinned(way: Sequence[list[Any]]) -> list[list[Any]]:
    """Not more steps than a picture can show; the last is always there."""
    if len(way) <= MOST_STEPS:
        return list(way)
    places = sorted({round(index * (len(way) - 1) / (MOST_STEPS - 1)) for index in range(MOST_STEPS)})
    return [way[place] for place in places]

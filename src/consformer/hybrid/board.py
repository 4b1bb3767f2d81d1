"""The board: the best assignment of a problem that any part has found, and the way there."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from consformer.account import Proof, Step
from consformer.csp import CSP


@dataclass
class Board:
    """What the parts tell each other about one problem."""

    csp: CSP
    started: float = field(default_factory=time.perf_counter)
    values: list[int] | None = None
    violations: int = 0
    cost: float = 0.0
    steps: list[Step] = field(default_factory=list)
    proof: Proof | None = None

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started

    @property
    def key(self) -> tuple[float, float]:
        """Smaller is better: hard violations first, then soft cost."""
        return (float("inf"), 0.0) if self.values is None else (self.violations, self.cost)

    @property
    def solved(self) -> bool:
        """Whether the best meets every constraint, soft ones too."""
        return self.values is not None and self.violations == 0 and self.cost == 0

    @property
    def finished(self) -> bool:
        """Whether nothing better can come."""
        return self.proof is not None or self.solved

    @property
    def finisher(self) -> str | None:
        """Who found the last that was found: the proof, or the best assignment."""
        if self.proof is not None:
            return self.proof.by
        return self.steps[-1].part if self.steps else None

    def offer(self, part: str, values: Sequence[int]) -> bool:
        """Take an assignment if it is better than what is there; says whether it is."""
        candidate = torch.tensor([list(values)])
        violations, cost = int(self.csp.violations(candidate)), float(self.csp.cost(candidate))
        if (violations, cost) >= self.key:
            return False
        self.values, self.violations, self.cost = list(values), violations, cost
        self.steps.append(Step(self.seconds, part, violations, cost))
        return True

    def prove(self, proof: Proof) -> None:
        """Note a proof, unless there is one."""
        if self.proof is None:
            self.proof = proof

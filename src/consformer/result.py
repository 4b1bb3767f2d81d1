"""Result: what a solve gives back; only ever built after the independent checker has looked at the values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from consformer import checker
from consformer.account import Account, Proof
from consformer.constraints.base import plain_number
from consformer.csp import CSP, Label
from consformer.errors import ModelError
from consformer.modeling.variables import check_owner

if TYPE_CHECKING:
    from consformer.modeling import Model, VariableArray


@dataclass(frozen=True)
class Effort:
    """What a solve cost and how it went."""

    iterations: int
    seconds: float  # that went into this problem; of problems that the network alone solves side by side: until it left them
    network: str
    seed: int
    history: tuple[tuple[float, int, float], ...] = ()  # (seconds, violations, soft cost) at each improvement
    interrupted: bool = False  # by Ctrl-C, before a solution or a limit was reached
    strategies: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """how often each strategy of selection was "used" and "paid", where the search chose between them"""
    account: Account | None = None  # who did what, and when
    notes: tuple[str, ...] = ()  # what was not done as asked, and why


@dataclass(frozen=True)
class Result:
    """The best assignment that was found, judged."""

    csp: CSP
    assignment: tuple[int, ...]  # value indices
    verdict: checker.Verdict
    effort: Effort
    model: Model | None = None  # what the problem was compiled from
    proof: Proof | None = None  # that there is no solution, or none better

    @staticmethod
    def judged(csp: CSP, assignment: Sequence[int], effort: Effort, model: Model | None = None, proof: Proof | None = None) -> Result:
        """Have the checker look, then build; a proof that the checker's finding contradicts is a mistake of this program."""
        verdict = checker.check(csp, assignment)
        if proof is not None and verdict.solved != (proof.of == "optimal"):
            raise RuntimeError(f"{proof.by} says {proof.of}, the checker counts {verdict.violations} violations")
        return Result(csp, tuple(assignment), verdict, effort, model, proof)

    def __repr__(self) -> str:
        objective = "" if self.objective is None else f", objective {self.objective:.10g}"
        violated = "" if self.solved else f", {self.violations} violated"
        return f"<Result: {self.status}{violated}{objective}, {self.effort.iterations} iterations, {self.effort.seconds:.2f} s>"

    @property
    def status(self) -> str:
        """`solved` when every hard constraint holds (`optimal` when, besides, nothing better exists, which was proved), `infeasible` when
        it was proved that they cannot, else `unsolved`: the assignment is the best that was found.
        """
        if self.proof is not None:
            return self.proof.of
        return "solved" if self.verdict.solved else "unsolved"

    @property
    def solved(self) -> bool:
        return self.verdict.solved

    @property
    def violations(self) -> int:
        return self.verdict.violations

    @property
    def objective(self) -> float | None:
        """What is to be optimised (MAXCUT: the cut); None for a problem with nothing to optimise."""
        return self.verdict.objective

    @property
    def values(self) -> list[Label]:
        """The value of every variable as the user calls it."""
        return [self.csp.value_labels[value] for value in self.assignment]

    def __getitem__(self, variables: VariableArray) -> Any:
        """The values of an array of a `Model`'s variables, in its shape."""
        if self.model is None:
            raise ModelError("this problem was not stated by a Model, so it has no arrays of variables; its values are in `.values`")
        check_owner(self.model, variables)
        return variables.of(self.values)

    def to_json(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        objective = self.objective
        return {
            "status": self.status,
            "family": self.csp.family,
            "values": self.values,
            "violations": self.violations,
            "broken": list(self.verdict.broken),
            "objective": None if objective is None else plain_number(objective),
            "iterations": self.effort.iterations,
            "seconds": round(self.effort.seconds, 4),
            "network": self.effort.network,
            "seed": self.effort.seed,
            **({"strategies": self.effort.strategies} if self.effort.strategies else {}),
            **({"notes": list(self.effort.notes)} if self.effort.notes else {}),
            "proof": None if self.proof is None else {"of": self.proof.of, "by": self.proof.by, "words": self.proof.words},
            "account": None if self.effort.account is None else self.effort.account.to_json(),
        }

"""Large-neighbourhood repair: CP-SAT finds the best values for some of the variables while all others keep theirs."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from consformer.constraints.cp import CpStatement
from consformer.csp import CSP
from consformer.errors import ModelError
from consformer.partners.process import CpSatJob, Event, SolverProcess

SECONDS = 0.2  # for one repair


@dataclass(frozen=True)
class Repair:
    """A complete assignment that is at least as good as the one that was submitted: fewer hard violations, or as many and no more cost."""

    values: list[int]  # value indices
    violations: int
    cost: float
    improved: bool


@dataclass(frozen=True)
class _Order:
    """A repair that is being made."""

    csp: CSP
    values: Tensor  # [n] as submitted
    variables: Tensor  # [s] those of the sub-problem


class Repairer:
    """CP-SAT in a process that is kept for many repairs, which it makes one after the other.

    `seconds` is the time that each of them has. Wrong arguments raise; whatever goes wrong later is the status "failed" and a `reason`, and
    no more repairs arrive.

    >>> from consformer import Model, all_different
    >>> model = Model()
    >>> model.add(all_different(model.variables(3, values=[0, 1, 2])))
    >>> with Repairer() as repairer:
    ...     repairer.submit(model.compile(), [0, 1, 1], torch.tensor([False, False, True]))
    ...     repairs = []
    ...     while repairer.waiting:
    ...         repairs += repairer.poll()
    >>> repairs
    [Repair(values=[0, 1, 2], violations=0, cost=0.0, improved=True)]
    """

    def __init__(self, *, seconds: float = SECONDS, workers: int = 1, seed: int = 0) -> None:
        self.seconds, self.workers, self.seed = seconds, workers, seed
        self.status: Literal["running", "failed", "closed"] = "running"
        self.reason = ""  # of a failure
        self._orders: deque[_Order] = deque()
        self._newest: NDArray[np.int32] | None = None  # the best values so far of the repair that is being made
        self._process = SolverProcess()

    @property
    def waiting(self) -> int:
        """How many of the repairs that were submitted have not arrived yet; 0 when none will."""
        return len(self._orders)

    def submit(self, csp: CSP, values: Sequence[int], free: Tensor) -> None:
        """Order the best values for the variables that are free [n] bool, of which those fixed by the problem are not; returns at once."""
        if len(values) != csp.n or free.shape != (csp.n,):
            raise ModelError(f"a repair needs {csp.n} values and as many marks of what is free, not {len(values)} and {list(free.shape)}")
        if self.status != "running":
            return
        present = torch.tensor(values)
        cp, variables = subproblem(csp, present, free & csp.free)
        self._orders.append(_Order(csp, present, variables))
        text = cp.text() + cp.hint(present[variables].tolist())
        self._process.send(CpSatJob(text, cp.n, self.workers, self.seed, self.seconds, presolve=False))

    def poll(self) -> list[Repair]:
        """The repairs that were made since the last call, in the order of submission; returns at once."""
        repairs: list[Repair] = []
        for event in self._process.events():
            if self.status == "running":
                repairs += self._hear(event)
        return repairs

    def close(self) -> None:
        """End the process at once; what was not made yet will not be."""
        if self.status == "running":
            self._finish("closed")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _hear(self, event: Event) -> list[Repair]:
        header, payload = event
        if header["event"] == "failed":
            self.reason = header["reason"]
            self._finish("failed")
        if payload:
            self._newest = np.frombuffer(payload, dtype=np.int32)
        if header["event"] != "end":
            return []
        order, newest, self._newest = self._orders.popleft(), self._newest, None
        return [judged(order.csp, order.values, order.variables, newest)]

    def _finish(self, status: Literal["failed", "closed"]) -> None:
        self.status = status
        self._orders.clear()
        self._process.close()


def subproblem(csp: CSP, values: Tensor, free: Tensor) -> tuple[CpStatement, Tensor]:
    """What is left to decide when only some variables are free [n], as a CP-SAT model, and which variables are in it [s].

    Every constraint is soft in it: its cost is that of the soft ones, and so much for a hard one that no cost makes up for it. Nothing
    but the constraints that touch a free variable is looked at one by one.
    """
    touched = [constraint.only(constraint.touching(free)) for constraint in csp.constraints]
    heavy = 1 + sum(float((c.weight * c.soft * c.sizes**2).sum()) for c in touched)
    cost = torch.zeros(csp.n, csp.m, dtype=torch.float64)
    left = []
    for constraint in touched:
        weight = torch.where(constraint.soft, constraint.weight, heavy)
        left.append(replace(constraint, weight=weight, soft=torch.ones_like(constraint.soft)).restrict(values, free, cost))
    used = free.clone()
    for constraint in left:
        used[constraint.members] = True
    variables = torch.nonzero(used)[:, 0]
    place = torch.cumsum(used, 0) - 1
    fixed = ~free[variables]
    allowed = csp.domain[variables]
    allowed[fixed] = False
    allowed[fixed, values[variables[fixed]]] = True
    cp = CpStatement(allowed.numpy())
    for constraint in left:
        replace(constraint, members=place[constraint.members]).post(cp)
    _charge(cp, cost[variables].numpy(), allowed.numpy() & ~fixed.numpy()[:, None])
    return cp, variables


def _charge(cp: CpStatement, cost: NDArray[np.float64], allowed: NDArray[np.bool_]) -> None:
    """Charge what the values of variables cost by themselves [s,m]."""
    least = np.where(allowed, cost, np.inf).min(1, initial=np.inf)
    dear = allowed & (cost > least[:, None])
    variable, value = np.nonzero(dear)
    cp.charge((cost - least[:, None])[dear], cp.takes(variable.tolist(), value.tolist()))


def judged(csp: CSP, before: Tensor, variables: Tensor, found: NDArray[np.int32] | None) -> Repair:
    """The assignment with the new values, if there are any and they are better; all constraints are looked at, not just those stated."""
    both = before.repeat(2, 1)
    if found is not None:
        both[1, variables] = torch.from_numpy(found.astype(np.int64))
    (old, new), (old_cost, new_cost) = csp.violations(both)[:, 0].tolist(), csp.cost(both)[:, 0].tolist()
    improved = (new, new_cost) < (old, old_cost)
    best = 1 if improved else 0
    return Repair(both[best].tolist(), (old, new)[best], (old_cost, new_cost)[best], improved)

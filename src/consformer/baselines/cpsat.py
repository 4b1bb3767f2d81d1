"""OR-Tools CP-SAT, a complete solver: the yardstick, and the only one here that can prove that there is no solution."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import torch

from consformer.constraints.cp import CpVariables
from consformer.csp import CSP
from consformer.errors import ConsformerError, ModelError

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

Status = Literal["solved", "optimal", "feasible", "infeasible", "unknown"]


@dataclass(frozen=True)
class CpSatResult:
    """What CP-SAT found; its values are checked against the CSP's own constraints before they come here."""

    status: Status
    """solved: all constraints hold and there is nothing to optimise; optimal, feasible: all hard ones hold, the objective is
    the best possible or maybe not; infeasible: proven that there is no solution; unknown: time ran out."""
    values: list[int] | None  # value indices
    objective: float | None  # as the CSP defines it; its offset when no constraint is soft
    seconds: float  # stating the problem and solving it


def solve_cpsat(
    csp: CSP, *, time_limit: float | None = 10.0, workers: int = 2, seed: int = 0, hint: Sequence[int] | None = None
) -> CpSatResult:
    """Solve a single problem with CP-SAT; `time_limit` in seconds counts from the call, `hint` is an assignment to start from.

    Weights that need more than 15 digits in all are rounded, and "optimal" is then meant up to that rounding.

    >>> from consformer import Model, all_different
    >>> model = Model()
    >>> x = model.variables(3, values=["red", "green", "blue"])
    >>> model.add(all_different(x))
    >>> model.fix(x[:2], ["green", "blue"])
    >>> result = solve_cpsat(model.compile(), workers=1)
    >>> result.status, result.values
    ('solved', [1, 2, 0])
    """
    if csp.parts:
        raise ModelError("CP-SAT takes one problem at a time: solve the instances of a union one by one")
    try:
        from ortools.sat.python import cp_model
    except ImportError as error:
        raise ConsformerError("CP-SAT needs the package ortools: pip install ortools") from error
    start = time.perf_counter()
    model = cp_model.CpModel()
    x = _state(csp, model, cp_model.Domain.from_values)
    if hint is not None:
        _hint(model, x, hint)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = workers
    solver.parameters.random_seed = seed
    if time_limit is not None:
        solver.parameters.max_time_in_seconds = max(time_limit - (time.perf_counter() - start), 1e-3)
    code = solver.solve(model)
    if code == cp_model.MODEL_INVALID:
        raise ConsformerError(f"CP-SAT cannot take this problem: {model.validate()}")
    if code not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return CpSatResult("infeasible" if code == cp_model.INFEASIBLE else "unknown", None, None, time.perf_counter() - start)
    values = [int(solver.value(variable)) for variable in x]
    cost = _checked_cost(csp, values)
    soft = any(bool(constraint.soft.any()) for constraint in csp.constraints)
    status: Status = "solved" if not soft else "optimal" if code == cp_model.OPTIMAL else "feasible"
    return CpSatResult(status, values, csp.offset - cost if csp.maximise else csp.offset + cost, time.perf_counter() - start)


def _state(csp: CSP, model: cp_model.CpModel, domain_of: Callable[[list[int]], Any]) -> list[cp_model.IntVar]:
    """State the CSP to a CP-SAT model, the cost of soft constraints as its objective; returns the variables."""
    allowed = csp.domain.clone()
    fixed = ~csp.free
    allowed[fixed] = False
    allowed[fixed, csp.given[fixed]] = True
    x = [model.new_int_var_from_domain(domain_of(row.nonzero()[0].tolist()), "") for row in allowed.numpy()]
    variables = CpVariables(model, x)
    for constraint in csp.constraints:
        constraint.post(variables)
    if variables.cost:
        variables.minimise_cost()
    return x


def _hint(model: cp_model.CpModel, x: list[cp_model.IntVar], hint: Sequence[int]) -> None:
    if len(hint) != len(x):
        raise ModelError(f"the hint must have {len(x)} values, one per variable, not {len(hint)}")
    for variable, value in zip(x, hint, strict=True):
        model.add_hint(variable, int(value))


def _checked_cost(csp: CSP, values: list[int]) -> float:
    """The cost of an answer, after making sure that it is one."""
    candidate = torch.tensor([values])
    if int(csp.violations(candidate).sum()):
        raise ConsformerError("CP-SAT's answer violates a constraint: a constraint kind states itself wrongly (`post`)")
    return float(csp.cost(candidate).sum())

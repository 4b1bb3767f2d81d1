"""OR-Tools CP-SAT, a complete solver: the yardstick, and the only one here that can prove that there is no solution."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from consformer.baselines.base import Answer, Rival
from consformer.constraints.cp import CpStatement
from consformer.csp import CSP
from consformer.errors import ConsformerError
from consformer.partners.process import CPSAT
from consformer.partners.stating import checked_cost, state

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
    csp: CSP,
    *,
    time_limit: float | None = 10.0,
    workers: int = 2,
    seed: int = 0,
    hint: Sequence[int] | None = None,
    clauses: bool = False,
    parameters: Mapping[str, bool | Sequence[str]] | None = None,
    on_solution: Callable[[float, float], object] | None = None,
) -> CpSatResult:
    """Solve a single problem with CP-SAT; `time_limit` in seconds counts from the call, `hint` is an assignment to start from.

    `clauses`: differences on crowded graphs are stated value by value, which is often faster than `x != y`. Weights that need more than 15
    digits in all are rounded, and "optimal" is then meant up to that rounding. `parameters` are more of CP-SAT's own; `on_solution` is told
    the seconds and the objective of every solution on the way.

    >>> from consformer import Model, all_different
    >>> model = Model()
    >>> x = model.variables(3, values=["red", "green", "blue"])
    >>> model.add(all_different(x))
    >>> model.fix(x[:2], ["green", "blue"])
    >>> result = solve_cpsat(model.compile(), workers=1)
    >>> result.status, result.values
    ('solved', [1, 2, 0])
    """
    try:
        from ortools.sat.python import cp_model
    except ImportError as error:
        raise ConsformerError(CPSAT.missing) from error
    start = time.perf_counter()
    stated = state(csp, clauses=clauses)
    model = cp_model.CpModel()
    model.proto.parse_text_format(stated.text() + (stated.hint(hint) if hint is not None else ""))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = workers
    solver.parameters.random_seed = seed
    for name, value in (parameters or {}).items():
        if isinstance(value, bool):
            setattr(solver.parameters, name, value)
        else:
            getattr(solver.parameters, name).extend(value)
    told = _teller(cp_model, csp, stated, start, on_solution) if on_solution is not None else None
    if time_limit is not None:
        solver.parameters.max_time_in_seconds = max(time_limit - (time.perf_counter() - start), 1e-3)
    code = solver.solve(model, told)
    if code == cp_model.MODEL_INVALID:
        raise ConsformerError(f"CP-SAT cannot take this problem: {model.validate()}")
    if code not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return CpSatResult("infeasible" if code == cp_model.INFEASIBLE else "unknown", None, None, time.perf_counter() - start)
    values = [int(value) for value in islice(solver.response_proto.solution, csp.n)]
    cost = checked_cost(csp, values)
    status: Status = "solved" if not stated.optimising else "optimal" if code == cp_model.OPTIMAL else "feasible"
    return CpSatResult(status, values, csp.offset - cost if csp.maximise else csp.offset + cost, time.perf_counter() - start)


def _teller(cp_model: Any, csp: CSP, stated: CpStatement, start: float, on_solution: Callable[[float, float], object]) -> Any:
    """What CP-SAT calls on every solution."""

    class Teller(cp_model.CpSolverSolutionCallback):  # type: ignore[misc]
        def on_solution_callback(self) -> None:
            cost = stated.cost_of(self.objective_value) if stated.optimising else 0.0
            on_solution(time.perf_counter() - start, csp.offset - cost if csp.maximise else csp.offset + cost)

    return Teller()


@dataclass(frozen=True)
class CpSat(Rival):
    """CP-SAT as anyone would call it, or with some of its subsolvers only."""

    name: str = "cpsat"
    title: str = "CP-SAT"
    package: str = "ortools"
    module: str = "ortools"
    workers: int = 2
    local_only: bool = False
    """nothing but feasibility jump, its local search"""
    only: tuple[str, ...] = ()
    """nothing but the subsolvers of these names, in which * stands for anything"""

    def solve(self, csp: CSP, seconds: float, seed: int) -> Answer:
        way: list[tuple[float, float]] = []
        parameters: dict[str, bool | Sequence[str]] = {"use_ls_only": self.local_only, "filter_subsolvers": self.only}
        found = solve_cpsat(
            csp,
            time_limit=seconds,
            workers=self.workers,
            seed=seed,
            parameters=parameters,
            on_solution=lambda when, objective: way.append((when, objective)),
        )
        proof: Literal["infeasible", "optimal"] | None = None
        if found.status in ("infeasible", "optimal"):
            proof = "infeasible" if found.status == "infeasible" else "optimal"
        return Answer(found.values, proof, tuple(way) if csp.soft_weight else ())


FEASIBILITY_JUMP = CpSat("cpsat-fj", "CP-SAT, feasibility jump only", local_only=True)
RANDOM_SEARCH = CpSat("cpsat-random", "CP-SAT, random search only", only=("fs_random*",))

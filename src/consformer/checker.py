"""The independent checker: looks at final values in plain numpy and shares no code with network, loss or search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from consformer.csp import CSP

MOST_NAMED = 10  # violated constraints put in words


@dataclass(frozen=True)
class Verdict:
    """What the checker found."""

    violations: int  # of hard constraints
    objective: float | None  # None when there is nothing to optimise (nothing soft, no offset), or a value is no value
    broken: tuple[str, ...]  # the violated hard constraints in words, at most `MOST_NAMED` of them

    @property
    def solved(self) -> bool:
        return self.violations == 0


def check(csp: CSP, values: Sequence[int]) -> Verdict:
    """Judge an assignment (value indices, one per variable).

    >>> from consformer import Model, all_different
    >>> model = Model()
    >>> x = model.variables(2, values=[1, 2])
    >>> model.add(all_different(x))
    >>> check(model.compile(), [0, 0]).broken
    ('all_different of x[0], x[1]',)
    """
    x = np.asarray(values, dtype=np.int64)
    outside = _outside(csp, x)
    if outside:
        return Verdict(len(outside), None, tuple(outside[:MOST_NAMED]))
    violations, cost, optimises = 0, 0.0, csp.maximise or csp.offset != 0
    broken: list[str] = []
    for constraint in csp.constraints:
        found, soft = constraint.check(x), constraint.soft.numpy()
        violations += int(found[~soft].sum())
        cost += float((found * constraint.weight.numpy())[soft].sum())
        optimises |= bool(soft.any())
        named = np.flatnonzero((found > 0) & ~soft)[: MOST_NAMED - len(broken)]
        broken += [_describe(csp, constraint.record(int(i))) for i in named]
    objective = (csp.offset - cost if csp.maximise else csp.offset + cost) if optimises else None
    return Verdict(violations, objective, tuple(broken))


def _outside(csp: CSP, x: NDArray[np.int64]) -> list[str]:
    """Values that are no values, outside their domain, or differ from a fixed value."""
    if x.shape != (csp.n,):
        return [f"{csp.n} values are needed, there are {x.size}"]
    domain, given = csp.domain.numpy(), csp.given.numpy()
    inside = (x >= 0) & (x < csp.m)
    inside &= domain[np.arange(csp.n), np.where(inside, x, 0)]
    found = [f"{csp.name(int(i))} has a value outside its domain" for i in np.flatnonzero(~inside)]
    return found + [f"{csp.name(int(i))} differs from its fixed value" for i in np.flatnonzero((given >= 0) & (x != given) & inside)]


def _describe(csp: CSP, record: dict[str, object]) -> str:
    scope = record["scope"]
    assert isinstance(scope, list)
    names = ", ".join(str(csp.name(i)) for i in scope)
    return f"{record['kind']} of {names}"

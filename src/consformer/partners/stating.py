"""A CSP stated to CP-SAT, for whoever runs it, and a look at its answers before anyone believes them."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from consformer.constraints.cp import CpStatement
from consformer.csp import CSP
from consformer.errors import ConsformerError, ModelError


def state(csp: CSP, deadline: float | None = None, *, clauses: bool = False) -> CpStatement:
    """The CSP as a CP-SAT model whose first variables are its own; `TimeoutError` when that takes beyond the deadline.

    `clauses`: differences on crowded graphs are stated value by value, not as anyone would write them.

    >>> from consformer import Model, all_different
    >>> model = Model()
    >>> model.add(all_different(model.variables(2, values=["a", "b"])))
    >>> state(model.compile()).text()
    'variables{domain:[0,1]}variables{domain:[0,1]}constraints{all_diff{exprs{vars:0 coeffs:1} exprs{vars:1 coeffs:1}}}'
    """
    if csp.parts:
        raise ModelError("CP-SAT takes one problem at a time: solve the instances of a union one by one")
    allowed = csp.domain.clone()
    fixed = ~csp.free
    allowed[fixed] = False
    allowed[fixed, csp.given[fixed]] = True
    cp = CpStatement(allowed.numpy(), deadline, clauses=clauses)
    for constraint in csp.constraints:
        constraint.post(cp)
    return cp


def checked_cost(csp: CSP, values: Sequence[int], who: str = "CP-SAT") -> float:
    """The cost of an answer, after making sure that it is one."""
    candidate = torch.tensor([values])
    if int(csp.violations(candidate).sum()):
        raise ConsformerError(f"the answer of {who} violates a constraint: a constraint kind states itself wrongly")
    return float(csp.cost(candidate).sum())

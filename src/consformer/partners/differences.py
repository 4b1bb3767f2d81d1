"""What a problem says in which variables must differ, and nothing else: pairs, scopes that need every value, interchangeable values."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from consformer.csp import CSP
from consformer.graph import Graph


def stated(csp: CSP) -> int:
    """How many pairs the constraints state, both directions, some of them more than once: to be asked before pairs are listed, which may
    be far more than the variables and values of a problem.
    """
    return sum(int((constraint.sizes * (constraint.sizes - 1)).sum()) for constraint in csp.constraints)


def pairs(csp: CSP) -> NDArray[np.int64]:
    """[2,E] who must differ from whom, both directions, sorted, nobody twice."""
    edges = Graph.of(csp.n, csp.differences).edges
    return edges[:, edges[0] != edges[1]].numpy()


def neighbours(csp: CSP) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """From whom each variable must differ, as [n+1] places and [E] variables, each as often as that is stated."""
    one, other = csp.differences.numpy()
    order = np.argsort(one, kind="stable")
    return np.searchsorted(one[order], np.arange(csp.n + 1)), other[order]


def allowed(csp: CSP) -> NDArray[np.bool_]:
    """[n,m] the values that are left to each variable; one where it is fixed."""
    return torch.where(csp.free[:, None], csp.domain, csp.given[:, None] == torch.arange(csp.m)).numpy()


def needing(csp: CSP) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Scopes that need every value, as [G+1] places and [M] members."""
    members, group, count = [], [], 0
    for constraint in csp.constraints:
        needed = constraint.tight(csp.domain) & ~constraint.soft
        within = needed[constraint.group]
        members.append(constraint.members[within].numpy())
        group.append((torch.cumsum(needed, 0) - 1)[constraint.group[within]].numpy() + count)
        count += int(needed.sum())
    member, owner = (np.concatenate([np.zeros(0, np.int64), *parts]) for parts in (members, group))
    return np.searchsorted(owner, np.arange(count + 1)).astype(np.int64), member


def kinds(columns: NDArray[Any]) -> NDArray[np.int64]:
    """[m] values of the same kind are interchangeable: the same variables may take them [n,m], and differences know no names."""
    return np.unique(columns, axis=1, return_inverse=True)[1].reshape(columns.shape[1])  # numpy 2.0 gives it two axes

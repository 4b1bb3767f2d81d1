"""A problem in which variables must differ, as the clauses of a SAT solver."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray

from consformer.csp import CSP
from consformer.partners.differences import allowed, kinds, needing, pairs, stated

Places = NDArray[np.int64]

MOST_LITERALS = 3_000_000  # in all clauses: writing them down takes less than 0.1 seconds
MOST_PAIRS, MOST_CELLS = 4 * MOST_LITERALS, 20_000_000  # of variables that must differ, and with all values: what is looked through
PORTION = 1_000_000  # cells that are looked through at once
STARTS = 30  # variables from which a clique is looked for


@dataclass(frozen=True)
class Clauses:
    """Clauses over what stands for "this variable has this value", numbered from 1."""

    literals: NDArray[np.int32]  # clause after clause, each with a 0 at its end
    variable: Places  # [L] whose value each of them is about
    value: Places  # [L] and which

    def values(self, true: NDArray[np.int32], n: int) -> list[int]:
        """The assignment by what is true, of which every variable has one."""
        found = np.full(n, -1, np.int64)
        found[self.variable[true - 1]] = self.value[true - 1]
        return [int(each) for each in found]


def fits(csp: CSP) -> bool:
    """Whether it can be stated, with few enough clauses. What is cheap to count is counted first."""
    if stated(csp) > MOST_PAIRS:
        return False
    sizes = torch.where(csp.free, csp.domain.sum(1), 1)
    single = int((sizes * (sizes + 1)).sum())  # that every variable has one value
    if single > MOST_LITERALS or not csp.only_differences:
        return False
    edges = csp.graph.edges
    return csp.m * edges.shape[1] <= MOST_CELLS and single + int(1.5 * sizes[edges].amin(0).sum()) <= MOST_LITERALS


def state(csp: CSP) -> Clauses:
    """Every variable has a value and only one, those that must differ do, and what needs every value has it.

    >>> from consformer import Model, all_different
    >>> model = Model()
    >>> model.add(all_different(model.variables(2, values=["a", "b"])))
    >>> state(model.compile()).literals.tolist()
    [1, 0, 2, 3, 0, -2, -3, 0, -1, -2, 0, 1, 2, 0, 3, 0]
    """
    edges = pairs(csp)
    open_values = representatives(allowed(csp), edges)
    variable, value = np.nonzero(open_values)
    literal = np.zeros(open_values.shape, np.int32)
    literal[open_values] = np.arange(1, len(variable) + 1)
    parts = [_any_of(literal), *_at_most_one(variable)]
    left, right = edges[:, edges[0] < edges[1]]
    portion = max(1, PORTION // csp.m)
    for start in range(0, len(left), portion):
        parts.append(_not_both(literal[left[start : start + portion]], literal[right[start : start + portion]]))
    first, member = needing(csp)
    domain = csp.domain.numpy()
    for start, end in pairwise(first.tolist()):
        own = member[start:end]
        parts.append(_any_of(literal[own][:, domain[own].any(0)].T))  # every value that the scope has, which need not be all there are
    return Clauses(np.concatenate(parts), variable, value)


def representatives(open_values: NDArray[np.bool_], edges: Places) -> NDArray[np.bool_]:
    """[n,m] the values left when of assignments that differ in the names of interchangeable values only some are kept.

    Names can be given in the order in which the values turn up along any row of variables, so the first variable of the row needs only the
    first value of each kind, the next that may have one of that kind only the first two. A clique makes most of it.
    """
    kind = kinds(open_values)
    rank = np.array([int((kind[:v] == kind[v]).sum()) for v in range(len(kind))])
    before = np.zeros(len(kind), np.int64)  # [m] variables of the row that may have a value of this kind
    kept = open_values.copy()
    for i in clique(len(open_values), edges):
        kept[i] &= rank <= before
        before += open_values[i]  # which has all values of a kind or none
    return kept


def clique(n: int, edges: Places) -> list[int]:
    """Variables each of which must differ from all others: a large set of them, not always the largest.

    >>> clique(4, np.array([[0, 0, 1, 1, 2, 2, 2, 3], [1, 2, 0, 2, 0, 1, 3, 2]]))
    [2, 0, 1]
    """
    first = np.searchsorted(edges[0], np.arange(n + 1))
    degree = np.diff(first)
    best: list[int] = []
    for start in np.argsort(-degree, kind="stable")[:STARTS]:
        found, left = [int(start)], edges[1, first[start] : first[start + 1]]
        while len(left) and len(found) + len(left) > len(best):
            i = int(left[np.argmax(degree[left])])
            found.append(i)
            left = np.intersect1d(left, edges[1, first[i] : first[i + 1]], assume_unique=True)
        if len(found) > len(best):
            best = found
    return best


def _any_of(rows: NDArray[np.int32]) -> NDArray[np.int32]:
    """For each row a clause of the literals in it that are not 0."""
    closed = np.concatenate([rows, np.zeros((len(rows), 1), np.int32)], 1)
    keep = closed != 0
    keep[:, -1] = True
    kept: NDArray[np.int32] = closed[keep]
    return kept


def _at_most_one(variable: Places) -> Iterator[NDArray[np.int32]]:
    """Not two values of a variable; its literals follow one another."""
    number = np.arange(1, len(variable) + 1, dtype=np.int32)
    for step in range(1, len(variable)):
        same = variable[step:] == variable[:-step]
        if not same.any():
            return
        yield _not_both(number[:-step][same], number[step:][same])


def _not_both(one: NDArray[np.int32], other: NDArray[np.int32]) -> NDArray[np.int32]:
    """A clause for each pair, of which not both hold, where there are both."""
    both = (one != 0) & (other != 0)
    a, b = one[both], other[both]
    return np.stack([-a, -b, np.zeros_like(a)], 1).ravel()

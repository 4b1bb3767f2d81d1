"""Propagation: what the constraints settle by themselves, before anybody has to guess."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from consformer.constraints.narrowing import Dead, OutOfTime
from consformer.csp import CSP
from consformer.errors import ModelError

MOST_NAMED = 12  # variables or values in a sentence
# (variable, value) pairs and memberships looked at in all: a few seconds. A long chain of consequences would take a round for every link.
MOST_WORK = 200_000_000


@dataclass(frozen=True)
class Contradiction:
    """A constraint that cannot hold: the proof, up to what was propagated before, that there is no solution."""

    kind: str
    variables: tuple[int, ...]
    words: str

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True)
class Propagation:
    """What came of it."""

    csp: CSP  # has the same solutions; the very same problem when nothing could be narrowed or there is a contradiction
    contradiction: Contradiction | None
    complete: bool  # nothing more would come of it; False when time or patience was over


def propagate(csp: CSP, seconds: float | None = None, stop: Callable[[], bool] = lambda: False) -> Propagation:
    """Narrow the domains of a single problem by its hard constraints until nothing changes any more, time is over or `stop()` says so.

    What stands in some solution is never taken out, whenever it stops; variables with one value left become fixed.

    >>> from consformer import Model, all_different
    >>> model = Model()
    >>> x = model.variables(3, values=[1, 2, 3], name="x")
    >>> model.add(all_different(x))
    >>> model.fix(x[:2], [1, 3])
    >>> propagate(model.compile()).csp.given.tolist()
    [0, 2, 1]
    >>> y = model.variables(3, values=[1, 2], name="y")
    >>> model.add(all_different(y))
    >>> print(propagate(model.compile()).contradiction)
    all_different over y[0], y[1], y[2]: the values 1, 2 are left for 3 variables
    """
    if csp.parts:
        raise ModelError("propagation takes one problem at a time: propagate the instances of a union one by one")
    end = float("inf") if seconds is None else time.perf_counter() + seconds
    domain = _allowed(csp)
    dead, kind, complete = _fixpoint(csp, domain, lambda: time.perf_counter() >= end or stop())
    if dead is not None:
        return Propagation(csp, _contradiction(csp, kind, dead), complete=True)
    return Propagation(_reduced(csp, domain), None, complete)


def _allowed(csp: CSP) -> NDArray[np.bool_]:
    """The domains as they are meant: a fixed variable has one value."""
    allowed = csp.domain.numpy().copy()
    fixed = np.flatnonzero(~csp.free.numpy())
    allowed[fixed] = False
    allowed[fixed, csp.given.numpy()[fixed]] = True
    return allowed


def _fixpoint(csp: CSP, domain: NDArray[np.bool_], over: OutOfTime) -> tuple[Dead | None, str, bool]:
    """Ask the kinds in turn, in place, until none has anything left to do; gives what is dead, of which kind, and whether it got there."""
    seen = [np.zeros(csp.n, dtype=np.int64) for _ in csp.constraints]  # sizes of the domains when each kind last looked
    idle, left = 0, MOST_WORK
    while idle < len(csp.constraints):
        for constraint, before in zip(csp.constraints, seen, strict=True):
            sizes = np.count_nonzero(domain, axis=1)
            fresh = sizes != before
            if not fresh.any():
                idle += 1
                continue
            idle = 0
            before[:] = sizes
            left -= domain.size + len(constraint.members)
            if over() or left < 0:
                return None, "", False
            dead = constraint.narrow(domain, fresh, over)
            if dead is not None:
                return dead, constraint.kind, True
            if over():
                return None, "", False
    return None, "", True


def _reduced(csp: CSP, domain: NDArray[np.bool_]) -> CSP:
    """The problem with narrower domains; those of variables that were fixed already stay as they are."""
    free = csp.free.numpy()
    sizes = np.count_nonzero(domain, axis=1)
    if not (free & ((sizes == 1) | (sizes < np.count_nonzero(csp.domain.numpy(), axis=1)))).any():
        return csp
    domain[~free] = csp.domain.numpy()[~free]
    given = np.where(free, np.where(sizes == 1, domain.argmax(1), -1), csp.given.numpy())
    return csp.narrowed(torch.from_numpy(domain), torch.from_numpy(given))


def _contradiction(csp: CSP, kind: str, dead: Dead) -> Contradiction:
    names = _listed([csp.name(i) for i in dead.variables])
    why = dead.why.format(variables=names, values=_listed([csp.value_labels[v] for v in dead.values]))
    return Contradiction(kind, dead.variables, f"{kind} over {names}: {why}")


def _listed(names: list[str | int]) -> str:
    shown = ", ".join(map(str, names[:MOST_NAMED]))
    return shown if len(names) <= MOST_NAMED else f"{shown} and {len(names) - MOST_NAMED} more"

"""A CSP as local search sees it: pairs and counts in a `State` (`compiled/local/state.py`), all weights as whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consformer.compiled.local import state as kernel
from consformer.constraints import Constraint
from consformer.constraints.cp import whole_scale
from consformer.constraints.local import Counts, Pairs
from consformer.csp import CSP

Whole = NDArray[np.int64]
LARGEST = 2.0**40  # all soft weights together, as whole numbers: nothing overflows, and weights may still grow


def initial_state(csp: CSP, seed: int) -> kernel.State:
    """Everything but the values, which are the first ones allowed, and what follows from them."""
    n, m = csp.n, csp.m
    allowed = csp.domain.numpy().copy()
    given = csp.given.numpy()
    fixed = given >= 0
    allowed[fixed] = False
    allowed[fixed, given[fixed]] = True
    movable = allowed.sum(1) > 1
    free, optimising = int(movable.sum()), csp.soft_weight > 0
    scale = soft_scale(csp)
    hard = max(round(scale * float(csp.soft_scale)), 1) if optimising else 1  # as strong as the soft ones together
    tenure = 3 + free // 100 if optimising else 1
    numbers = np.zeros(kernel.NUMBERS, np.int64)
    settings = {
        kernel.OPTIMISING: int(optimising),
        kernel.BEST_VIOLATIONS: np.iinfo(np.int64).max,
        kernel.PATIENCE: max(free, 2_000) if optimising else max(100 * free, 20_000),
        kernel.STEP: hard,
        kernel.TENURE: tenure,
        kernel.FREE: free,
        kernel.STRENGTH: max(free // 50, 4),
    }
    for place, number in settings.items():
        numbers[place] = number
    ring = tenure + 12 if optimising else 1
    size = 1 << max(n - 1, 1).bit_length() if optimising else 1
    pairs, counts = stated_pairs(csp, scale, hard), _counts(csp, scale, hard)
    variable = np.zeros((n + 1, 8), np.int64)
    variable[:n, kernel.VALUE] = allowed.argmax(1)
    variable[:n, kernel.MOVABLE] = movable
    variable[:, kernel.FIRST_PAIR] = pairs.pop("first")
    variable[:, kernel.FIRST_TALLY] = counts.pop("first")
    kept = np.zeros((7, n), np.int64)
    kept[kernel.CHOICE, :free] = np.flatnonzero(movable)
    return kernel.State(
        variable=variable,
        table=np.where(allowed, 0, kernel.FORBIDDEN).astype(np.int64),
        tabu=np.zeros((n, m), np.int64),
        tree=np.zeros(2 * size, np.int64),
        ring=np.full((ring, 3), -1, np.int64),
        **pairs,
        **counts,
        kept=kept,
        chances=np.rint(-np.log((np.arange(kernel.CHANCES) + 0.5) / kernel.CHANCES) * kernel.CHANCES).astype(np.int64),
        offers=np.zeros(1 if optimising else max(kernel.SCAN, 10 * m), np.int64),
        numbers=numbers,
        random=np.array([scrambled(seed)], np.uint64),
    )


def soft_scale(csp: CSP) -> float:
    """What to multiply soft weights by to have whole numbers: exactly, unless they have too many digits."""
    weights = np.concatenate([np.zeros(0), *(c.weight.numpy()[c.soft.numpy()] for c in csp.constraints)])
    if not len(weights):
        return 1.0
    most = sum(float((c.weight * c.soft * c.sizes.double() ** 2).sum()) for c in csp.constraints)
    return min(whole_scale(np.unique(weights).tolist()), LARGEST / most)


def _weights(constraint: Constraint, scale: float, hard: int) -> Whole:
    soft = np.maximum(np.rint(constraint.weight.numpy() * scale), 1)
    return np.where(constraint.soft.numpy(), soft, hard).astype(np.int64)


def stated_pairs(csp: CSP, scale: float, hard: int) -> dict[str, Whole]:
    """All pairs in both directions, by the variable they start from."""
    ends: list[tuple[Whole, ...]] = [(np.zeros(0, np.int64),) * 4]
    for constraint in csp.constraints:
        terms = constraint.local()
        if isinstance(terms, Pairs):
            left, right, group = terms.left.numpy(), terms.right.numpy(), terms.group.numpy()
            sign = np.where(terms.equal.numpy(), -1, 1)
            weight = _weights(constraint, scale, hard)[group] * sign
            unit = np.where(constraint.soft.numpy()[group], 0, sign)
            ends += [(left, right, weight, unit), (right, left, weight, unit)]
    one, other, weight, unit = (np.concatenate(column).astype(np.int64) for column in zip(*ends, strict=True))
    order = np.argsort(one, kind="stable")
    return {"first": _starts(one, csp.n), "pair": np.stack([other, weight, unit], 1)[order]}


def _counts(csp: CSP, scale: float, hard: int) -> dict[str, Whole]:
    """All counted scopes."""
    found: list[tuple[Constraint, Counts]] = []
    for constraint in csp.constraints:
        terms = constraint.local()
        if isinstance(terms, Counts):
            found.append((constraint, terms))
    before = np.cumsum([0, *(len(c) for c, _ in found)])
    member = _joined([c.members.numpy() for c, _ in found])
    group = _joined([c.group.numpy() + start for (c, _), start in zip(found, before, strict=False)])
    counted = _joined([terms.value.numpy() for _, terms in found])
    cells = np.where(counted < 0, csp.m, 1)
    scope = np.zeros((len(counted) + 1, 8), np.int64)
    scope[:, kernel.FIRST_MEMBER] = _starts(group, len(counted))
    columns = {
        kernel.COUNTED: [counted],
        kernel.LOW: [terms.low.numpy() for _, terms in found],
        kernel.HIGH: [terms.high.numpy() for _, terms in found],
        kernel.STEEP: [terms.steep.numpy() for _, terms in found],
        kernel.SCOPE_WEIGHT: [_weights(c, scale, hard) for c, _ in found],
        kernel.HARD: [~c.soft.numpy() for c, _ in found],
        kernel.CELL: [np.cumsum(cells) - cells],
    }
    for place, parts in columns.items():
        scope[:-1, place] = _joined(parts)
    order = np.argsort(member, kind="stable")
    counts = np.zeros(int(cells.sum()), np.int64)
    return {"first": _starts(member, csp.n), "scope": scope, "member": member, "tally": group[order], "counts": counts}


def _joined(parts: list[NDArray[Any]]) -> Whole:
    return np.concatenate([np.zeros(0, np.int64), *parts]).astype(np.int64)


def _starts(sorted_by: Whole, size: int) -> Whole:
    """[size+1] where the entries of each begin once they are sorted."""
    return np.concatenate([[0], np.cumsum(np.bincount(sorted_by, minlength=size))]).astype(np.int64)


def scrambled(seed: int) -> int:
    """A start for xorshift: never 0, and unlike for seeds that are alike."""
    mixed = (seed + 1) * 0x9E3779B97F4A7C15 & (1 << 64) - 1
    return (mixed ^ mixed >> 29) or 1

"""The table of what each value of each variable costs: made from the values, kept up to date with every move, with weights that grow."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from consformer.compiled.local.build import part
from consformer.compiled.local.chance import draw
from consformer.compiled.local.state import (
    BAD,
    BASE,
    BEST_CHANGED,
    CELL,
    CONFLICTS,
    COST,
    COUNTED,
    FIRST_MEMBER,
    FIRST_PAIR,
    FIRST_TALLY,
    FORBIDDEN,
    HARD,
    HEAD,
    HIGH,
    LEAST,
    LOW,
    MOVABLE,
    MOVES,
    NOTHING,
    OPTIMISING,
    OTHER,
    PEAK_CHANGED,
    PLACE,
    SCOPE_WEIGHT,
    STEEP,
    STEP,
    TOTAL,
    TREE,
    UNIT,
    VALUE,
    VIOLATIONS,
    WEIGHT,
    State,
    Whole,
)


@part()
def _slope(scope: Whole, g: int, c: int) -> int:
    """What one more adds to the violation of a scope in which c have the value."""
    if c < scope[g, LOW]:
        return -1
    if c < scope[g, HIGH]:
        return 0
    return c - scope[g, HIGH] + 1 if scope[g, STEEP] else 1


@part(inline=True)
def _sort(variable: Whole, table: Whole, kept: Whole, numbers: Whole, i: int) -> None:
    """To repair: keep variable i among those in conflict, or out of them."""
    count, place = numbers[CONFLICTS], variable[i, PLACE]
    if variable[i, MOVABLE] and table[i, variable[i, VALUE]] + variable[i, BASE] > 0:
        if place < 0:
            kept[BAD, count] = i
            variable[i, PLACE] = count
            numbers[CONFLICTS] = count + 1
    elif place >= 0:
        last = kept[BAD, count - 1]
        kept[BAD, place] = last
        variable[last, PLACE] = place
        variable[i, PLACE] = -1
        numbers[CONFLICTS] = count - 1


@part()
def _enter(variable: Whole, table: Whole, tabu: Whole, tree: Whole, random: NDArray[np.uint64], now: int, i: int) -> None:
    """To optimise: put the best move of variable i in the tree, up to where another one wins anyway."""
    value = variable[i, VALUE]
    own, least = table[i, value], FORBIDDEN >> 1
    if variable[i, MOVABLE]:
        for v in range(table.shape[1]):
            if table[i, v] - own < least and v != value and tabu[i, v] <= now:
                least = table[i, v] - own
    key = NOTHING if least == FORBIDDEN >> 1 else least * 256 + draw(random, 256)
    at = (len(tree) >> 1) + i
    tree[at] = key
    at >>= 1
    while at:
        key = min(tree[2 * at], tree[2 * at + 1])
        if tree[at] == key:
            break
        tree[at] = key
        at >>= 1


@part()
def touch(s: State, i: int) -> None:
    """Note that the costs of variable i are other than before."""
    if s.numbers[OPTIMISING] == TREE:
        _enter(s.variable, s.table, s.tabu, s.tree, s.random, s.numbers[MOVES], i)
    elif not s.numbers[OPTIMISING]:
        _sort(s.variable, s.table, s.kept, s.numbers, i)


@part()
def _recount(variable: Whole, table: Whole, scope: Whole, member: Whole, count: Whole, numbers: Whole, g: int, v: int, step: int) -> None:
    """One variable of a scope has taken (step 1) or left (-1) value v."""
    cell = scope[g, CELL] + (v if scope[g, COUNTED] < 0 else 0)
    before = count[cell]
    after = before + step
    count[cell] = after
    weight = scope[g, SCOPE_WEIGHT]
    change = step * _slope(scope, g, min(before, after))
    if scope[g, HARD]:
        numbers[VIOLATIONS] += change
    else:
        numbers[COST] += change * weight
    # What a variable sees is the count without itself: one slope for those that have the value, another for those that have not.
    with_old, with_new = _slope(scope, g, before - 1), _slope(scope, g, after - 1)
    without_old, without_new = _slope(scope, g, before), _slope(scope, g, after)
    if with_old == with_new and without_old == without_new:
        return
    for at in range(scope[g, FIRST_MEMBER], scope[g + 1, FIRST_MEMBER]):
        j = member[at]
        old, new = (with_old, with_new) if variable[j, VALUE] == v else (without_old, without_new)
        table[j, v] += weight * (new - old)
        variable[j, BASE] += weight * (int(new < 0) - int(old < 0))


@part()
def shift(s: State, i: int, b: int) -> None:
    """Give variable i the value b."""
    variable, table, pair, scope, numbers = s.variable, s.table, s.pair, s.scope, s.numbers
    a, optimising = variable[i, VALUE], numbers[OPTIMISING]
    numbers[TOTAL] += table[i, b] - table[i, a]
    variable[i, VALUE] = b
    violations, cost = 0, 0
    for e in range(variable[i, FIRST_PAIR], variable[i + 1, FIRST_PAIR]):
        j, weight, unit = pair[e, OTHER], pair[e, WEIGHT], pair[e, UNIT]
        table[j, a] -= weight
        table[j, b] += weight
        value = variable[j, VALUE]
        if value in (a, b):
            sign = 1 if value == b else -1
            violations += sign * unit
            cost += sign * weight * (unit == 0)
            if not optimising:
                _sort(variable, table, s.kept, numbers, j)
        if optimising == TREE:
            _enter(variable, table, s.tabu, s.tree, s.random, numbers[MOVES], j)
    numbers[VIOLATIONS] += violations
    numbers[COST] += cost
    for t in range(variable[i, FIRST_TALLY], variable[i + 1, FIRST_TALLY]):
        g = s.tally[t]
        counted = scope[g, COUNTED]
        if counted < 0 or counted in (a, b):
            own_a, own_b, base = table[i, a], table[i, b], variable[i, BASE]  # a variable does not see itself
            if counted != b:
                _recount(variable, table, scope, s.member, s.counts, numbers, g, a, -1)
            if counted != a:
                _recount(variable, table, scope, s.member, s.counts, numbers, g, b, 1)
            table[i, a], table[i, b], variable[i, BASE] = own_a, own_b, base
            for at in range(scope[g, FIRST_MEMBER], scope[g + 1, FIRST_MEMBER]):
                touch(s, s.member[at])
    touch(s, i)


@part()
def rebuild(s: State) -> None:
    """Make table, counts and whatever else follows from the values anew; nothing is tabu any more."""
    n, m = s.table.shape
    numbers = s.numbers
    for i in range(n):
        s.variable[i, BASE], s.variable[i, PLACE] = 0, -1
        for v in range(m):
            s.table[i, v] = FORBIDDEN if s.table[i, v] >= FORBIDDEN >> 1 else 0
            s.tabu[i, v] = 0
    numbers[VIOLATIONS] = numbers[COST] = numbers[CONFLICTS] = 0
    for i in range(n):
        for e in range(s.variable[i, FIRST_PAIR], s.variable[i + 1, FIRST_PAIR]):
            j, weight, unit = s.pair[e, OTHER], s.pair[e, WEIGHT], s.pair[e, UNIT]
            s.table[j, s.variable[i, VALUE]] += weight
            if weight < 0:
                s.variable[j, BASE] -= weight
            if i < j and (s.variable[i, VALUE] == s.variable[j, VALUE]) == (weight > 0):
                numbers[VIOLATIONS] += abs(unit)
                numbers[COST] += abs(weight) * (unit == 0)
    s.counts[:] = 0
    for g in range(len(s.scope) - 1):
        _rebuild_scope(s, g)
    s.tree[:] = NOTHING
    s.ring[:, HEAD] = -1
    for i in range(n):
        touch(s, i)
    numbers[TOTAL] = numbers[LEAST] = 0
    numbers[PEAK_CHANGED] = numbers[BEST_CHANGED] = -1


@part()
def _rebuild_scope(s: State, g: int) -> None:
    """Count a scope anew and add what it makes values cost."""
    m = s.table.shape[1]
    members = s.member[s.scope[g, FIRST_MEMBER] : s.scope[g + 1, FIRST_MEMBER]]
    weight, cell, every = s.scope[g, SCOPE_WEIGHT], s.scope[g, CELL], s.scope[g, COUNTED] < 0
    for j in members:
        if every or s.variable[j, VALUE] == s.scope[g, COUNTED]:
            s.counts[cell + (s.variable[j, VALUE] if every else 0)] += 1
    for v in range(m) if every else range(s.scope[g, COUNTED], s.scope[g, COUNTED] + 1):
        c = s.counts[cell + (v if every else 0)]
        missing, over = max(s.scope[g, LOW] - c, 0), max(c - s.scope[g, HIGH], 0)
        violation = missing + (over * (over + 1) // 2 if s.scope[g, STEEP] else over)
        if s.scope[g, HARD]:
            s.numbers[VIOLATIONS] += violation
        else:
            s.numbers[COST] += violation * weight
        for j in members:
            slope = _slope(s.scope, g, c - (s.variable[j, VALUE] == v))
            s.table[j, v] += weight * slope
            s.variable[j, BASE] += weight * (slope < 0)


@part()
def insist(s: State) -> None:
    """Make hard constraints that are violated weigh more."""
    numbers, step = s.numbers, s.numbers[STEP]
    for i in range(len(s.table)):
        for e in range(s.variable[i, FIRST_PAIR], s.variable[i + 1, FIRST_PAIR]):
            j, unit = s.pair[e, OTHER], s.pair[e, UNIT]
            if unit != 0 and (s.variable[i, VALUE] == s.variable[j, VALUE]) == (unit > 0):
                s.pair[e, WEIGHT] += unit * step
                s.table[j, s.variable[i, VALUE]] += unit * step
                s.variable[j, BASE] += step * (unit < 0)
    for g in range(len(s.scope) - 1):
        if s.scope[g, HARD]:
            _insist_scope(s, g)
    for i in range(len(s.table)):
        touch(s, i)
    numbers[TOTAL] = numbers[LEAST] = 0


@part()
def _insist_scope(s: State, g: int) -> None:
    m, every, step = s.table.shape[1], s.scope[g, COUNTED] < 0, s.numbers[STEP]
    violated = False
    for v in range(m if every else 1):
        c = s.counts[s.scope[g, CELL] + v]
        violated |= c < s.scope[g, LOW] or c > s.scope[g, HIGH]
    if not violated:
        return
    s.scope[g, SCOPE_WEIGHT] += step
    for v in range(m) if every else range(s.scope[g, COUNTED], s.scope[g, COUNTED] + 1):
        c = s.counts[s.scope[g, CELL] + (v if every else 0)]
        for at in range(s.scope[g, FIRST_MEMBER], s.scope[g + 1, FIRST_MEMBER]):
            j = s.member[at]
            slope = _slope(s.scope, g, c - (s.variable[j, VALUE] == v))
            s.table[j, v] += step * slope
            s.variable[j, BASE] += step * (slope < 0)

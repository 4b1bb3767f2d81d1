"""Tabu moves: the best one of a variable in conflict (to repair), or of all (to optimise); what was left is tabu for a while."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from consformer.compiled.local.build import part
from consformer.compiled.local.chance import draw
from consformer.compiled.local.state import (
    BAD,
    CONFLICTS,
    FOLLOWING,
    FORBIDDEN,
    HEAD,
    LEAST,
    LEFT,
    MOVES,
    NOTHING,
    OPTIMISING,
    SAMPLE,
    TENURE,
    TOTAL,
    TREE,
    VALUE,
    State,
    Whole,
)
from consformer.compiled.local.table import touch


@part(inline=True)
def _in_conflict(kept: Whole, at: int, count: int) -> int:
    """The variable at a place of those in conflict; after the last comes the first."""
    return kept[BAD, at if at < count else at - count]  # type: ignore[no-any-return]


@part(inline=True)
def _offers(table: Whole, tabu: Whole, i: int, v: int, value: int, least: int, passes: int, now: int) -> bool:
    """Whether variable i, which has `value`, may take v at the cost `least`."""
    return (table[i, v] == least + table[i, value]) & (v != value) & ((tabu[i, v] <= now) | (least < passes))  # type: ignore[no-any-return]


@part()
def _repair(variable: Whole, table: Whole, tabu: Whole, kept: Whole, offers: Whole, numbers: Whole, random: NDArray[np.uint64]) -> int:
    """The best move (variable * m + value) of a variable in conflict; of some of them where there are many; -1: there is none.

    Costs are looked at without branches that depend on them, and with one random number for all ties: nothing there can be foreseen by
    the processor. Which values of a variable are among the best is asked only where one is.
    """
    m, count, now = table.shape[1], numbers[CONFLICTS], numbers[MOVES]
    tries = count if count * m <= len(offers) else max(SAMPLE // m, 4)
    passes = numbers[LEAST] - numbers[TOTAL]  # a move that costs less leads to something new
    least, start = FORBIDDEN >> 1, 0 if tries == count else draw(random, count)
    for k in range(tries):
        i = _in_conflict(kept, start + k, count)
        value, costs, until = variable[i, VALUE], table[i], tabu[i]
        own, low = costs[value], FORBIDDEN
        for v in range(m):
            cost = costs[v] - own
            cost = cost if (until[v] <= now) | (cost < passes) else FORBIDDEN
            low = min(low, cost if v != value else FORBIDDEN)
        offers[k] = low
        least = min(least, low)
    ties = 0
    for k in range(tries):
        if offers[k] == least:
            i = _in_conflict(kept, start + k, count)
            for v in range(m):
                ties += _offers(table, tabu, i, v, variable[i, VALUE], least, passes, now)
    if ties == 0:
        return -1
    rank = draw(random, ties)
    for k in range(tries):
        if offers[k] == least:
            i = _in_conflict(kept, start + k, count)
            for v in range(m):
                rank -= _offers(table, tabu, i, v, variable[i, VALUE], least, passes, now)
                if rank < 0:
                    return int(i * m + v)
    return -1


@part()
def _optimise(s: State) -> int:
    """The best move of all that is not tabu."""
    m, size, now = s.table.shape[1], len(s.tree) >> 1, s.numbers[MOVES]
    if s.tree[1] == NOTHING:
        return -1
    at = 1
    while at < size:
        at = 2 * at + (s.tree[2 * at] != s.tree[at])
    i = at - size
    value, ties, move, least = s.variable[i, VALUE], 0, -1, FORBIDDEN >> 1
    for v in range(m):
        cost = s.table[i, v]
        if cost > least or v == value or s.tabu[i, v] > now:
            continue
        if cost < least:
            least, ties = cost, 0
        ties += 1
        if ties == 1 or draw(s.random, ties) == 0:
            move = i * m + v
    return move


@part()
def pick(s: State, now: int) -> int:
    """The next move; -1: none this time."""
    numbers, m, ring = s.numbers, s.table.shape[1], len(s.ring)
    if numbers[OPTIMISING] == 0:
        return _repair(s.variable, s.table, s.tabu, s.kept, s.offers, numbers, s.random)
    node = s.ring[now % ring, HEAD]
    s.ring[now % ring, HEAD] = -1
    while node >= 0:  # is tabu no longer
        touch(s, s.ring[node, LEFT] // m)
        node = s.ring[node, FOLLOWING]
    return _optimise(s)


@part()
def forbid(s: State, now: int, i: int) -> None:
    """Make the value of variable i, which it is about to leave, tabu for a while."""
    numbers, ring, a = s.numbers, len(s.ring), s.variable[i, VALUE]
    until = now + numbers[TENURE] + draw(s.random, 10)
    if numbers[OPTIMISING] == 0:
        s.tabu[i, a] = until + 6 * numbers[CONFLICTS] // 10
    elif numbers[OPTIMISING] == TREE:
        s.tabu[i, a] = until
        s.ring[now % ring, LEFT] = i * s.table.shape[1] + a
        s.ring[now % ring, FOLLOWING] = s.ring[until % ring, HEAD]
        s.ring[until % ring, HEAD] = now % ring

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


@part()
def _repair(variable: Whole, table: Whole, tabu: Whole, kept: Whole, offers: Whole, numbers: Whole, random: NDArray[np.uint64]) -> int:
    """The best move (variable * m + value) of a variable in conflict; of some of them where there are many; -1: there is none.

    Without branches that depend on costs, and with one random number for all ties: nothing here can be foreseen by the processor.
    """
    m, count, now = table.shape[1], numbers[CONFLICTS], numbers[MOVES]
    tries = count if count * m <= len(offers) else max(SAMPLE // m, 4)
    passes = numbers[LEAST] - numbers[TOTAL]  # a move that costs less leads to something new
    least, start = FORBIDDEN >> 1, 0 if tries == count else draw(random, count)
    for k in range(tries):
        at = start + k
        i = kept[BAD, at if at < count else at - count]
        value = variable[i, VALUE]
        own = table[i, value]
        for v in range(m):
            cost = table[i, v] - own
            offer = cost if tabu[i, v] <= now or cost < passes else FORBIDDEN
            offers[k * m + v] = offer
        offers[k * m + value] = FORBIDDEN
        for v in range(m):
            least = min(least, offers[k * m + v])
    ties = 0
    for at in range(tries * m):
        ties += offers[at] == least
    if ties == 0 or least == FORBIDDEN >> 1:
        return -1
    rank = draw(random, ties)
    at = -1
    while rank >= 0:
        at += 1
        rank -= offers[at] == least
    at_bad = start + at // m
    i = kept[BAD, at_bad if at_bad < count else at_bad - count]
    return int(i * m + at % m)


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

"""Tabu moves where all there is are pairs that must differ: the inner loop of `partners/memetic.py`.

What a value costs a variable is then the number of neighbours that have it. The moves are those of TabuCol: the best one of all variables
in conflict; the value that was left is tabu for a while, unless it leads to something new.
"""

from __future__ import annotations

from pathlib import Path

import numba
import numpy as np
from numpy.typing import NDArray

from consformer.compiled import stamped
from consformer.compiled.local.chance import draw

Places = NDArray[np.uint32]
"""Whole numbers without a sign: nothing has to be looked up before them in an array, which halves the time."""
Costs = NDArray[np.int32]
Numbers = NDArray[np.int64]

VIOLATIONS, LEAST, IN_CONFLICT, CHANGED, NOW = range(5)
"""The numbers of a state: pairs that are violated, and the fewest that were since it began; variables in conflict; how many changed since
the best was written down; moves since it began."""

FORBIDDEN = 1 << 28  # what a value costs that a variable may not have; and no move costs more than half of it
NEVER = 1 << 30  # the move from which on a value may be taken that the variable has already
FIXED, CALM = -2, -1  # where a variable stands among those in conflict that is never there, or is not there now
SCAN, SAMPLE = 4000, 250  # up to so many moves are all looked at; of more only so many

_places, _costs, _numbers = numba.uint32[::1], numba.int32[::1], numba.int64[::1]
_state = (_places, _places, _places, _costs, _costs, _costs, _places, _places, _places, _numbers)
_sources = (Path(__file__), Path(__file__).parent / "local" / "chance.py")


@numba.njit(numba.void(*_state), nogil=True, cache=True)  # type: ignore[untyped-decorator]
@stamped(*_sources)
def begin(
    first: Places,  # [n+1] where the neighbours of each variable begin
    other: Places,  # [P] the neighbours
    value: Places,  # [n]
    cost: Costs,  # [n*m] how many neighbours have a value; FORBIDDEN and more where the variable may not
    until: Costs,  # [n*m] the move from which on a value may be taken
    place: Costs,  # [n] where in `conflict`
    conflict: Places,  # [n] the variables in conflict
    best: Places,  # [n] the values with fewest violations
    changed: Places,  # [2n] the variables that changed since those were written down; and for each whether it did
    numbers: Numbers,
) -> None:
    """Make everything from the values."""
    n, w = len(value), np.uint64(len(cost) // max(len(value), 1))
    for at in range(len(cost)):
        cost[at] = FORBIDDEN if cost[at] >= FORBIDDEN // 2 else 0
        until[at] = 0
    twice, count = 0, 0
    for i in range(np.uint64(n)):
        own = i * w + value[i]
        for e in range(first[i], first[i + 1]):
            cost[i * w + value[other[e]]] += 1
            twice += (value[other[e]] == value[i]) & ((place[i] != FIXED) | (place[other[e]] != FIXED))
        best[i], changed[n + i], until[own] = value[i], 0, NEVER
        if place[i] != FIXED:
            place[i] = CALM
            if cost[own]:
                place[i], conflict[count] = count, i
                count += 1
    numbers[VIOLATIONS] = numbers[LEAST] = twice // 2
    numbers[IN_CONFLICT], numbers[CHANGED], numbers[NOW] = count, 0, 0


@numba.njit(numba.void(_places, _places, _places, _costs, _costs, numba.uint64[::1]), nogil=True, cache=True)  # type: ignore[untyped-decorator]
@stamped(*_sources)
def descend(first: Places, other: Places, value: Places, cost: Costs, place: Costs, random: NDArray[np.uint64]) -> None:
    """Let one variable after the other take a value that costs least: from random values of a large problem the quickest way down.

    After it everything is to be made anew.
    """
    m = len(cost) // max(len(value), 1)
    w = np.uint64(m)
    for i in range(np.uint64(len(value))):
        row, a, b, start = i * w, value[i], value[i], draw(random, m)
        for step in range(m * (place[i] != FIXED)):
            v = np.uint32(start + step if start + step < m else start + step - m)
            if cost[row + v] < cost[row + b]:
                b = v
        if b != a:
            value[i] = b
            for e in range(first[i], first[i + 1]):
                cost[other[e] * w + a] -= 1
                cost[other[e] * w + b] += 1


@numba.njit(numba.int64(*_state, _costs, numba.uint64[::1], numba.int64), nogil=True, cache=True)  # type: ignore[untyped-decorator]
@stamped(*_sources)
def advance(
    first: Places,
    other: Places,
    value: Places,
    cost: Costs,
    until: Costs,
    place: Costs,
    conflict: Places,
    best: Places,
    changed: Places,
    numbers: Numbers,
    offers: Costs,  # room for what the best move of each variable that is looked at costs
    random: NDArray[np.uint64],
    moves: int,
) -> int:
    """Make so many moves, fewer when nothing that can move is in conflict any more; gives how many."""
    n, m = len(value), len(cost) // max(len(value), 1)
    w = np.uint64(m)
    violations, lowest, count, now = numbers[VIOLATIONS], numbers[LEAST], numbers[IN_CONFLICT], np.int32(numbers[NOW])
    done = 0
    while done < moves and count > 0:
        done, now = done + 1, np.int32(now + 1)
        tries, start = count, 0
        if count * m > SCAN:
            tries, start = min(max(SAMPLE // m, 4), count), draw(random, count)
        # The least that a move costs. Nothing here can be foreseen by the processor, so there are no branches.
        passes, least = np.int32(lowest - violations), np.int32(FORBIDDEN)
        for k in range(tries):
            i = conflict[start + k if start + k < count else start + k - count]
            row, low = i * w, np.int32(FORBIDDEN)
            own = cost[row + value[i]]
            for v in range(w):
                price = np.int32(cost[row + v] - own)
                low = min(low, price if (until[row + v] <= now) | (price < passes) else np.int32(FORBIDDEN))
            offers[k] = low
            least = min(least, low)
        if least >= FORBIDDEN // 2:
            continue
        # One of the variables that have such a move, and one of its moves.
        ties = 0
        for k in range(tries):
            ties += offers[k] == least
        rank, k = draw(random, ties), -1
        while rank >= 0:
            k += 1
            rank -= offers[k] == least
        i = conflict[start + k if start + k < count else start + k - count]
        row, a, b, ties = i * w, value[i], value[i], 0
        for v in range(w):
            if cost[row + v] - cost[row + a] == least and (until[row + v] <= now or least < passes):
                ties += 1
                if ties == 1 or draw(random, ties) == 0:
                    b = np.uint32(v)
        # Make it.
        until[row + a], until[row + b] = now + 1 + draw(random, 10) + 6 * count // 10, NEVER
        value[i] = b
        violations += least
        for e in range(first[i], first[i + 1]):
            j = other[e]
            cost[j * w + a] -= 1
            cost[j * w + b] += 1
            if value[j] == a:
                if place[j] >= 0 and cost[j * w + a] == 0:
                    count -= 1
                    last = conflict[count]
                    conflict[np.uint32(place[j])], place[last], place[j] = last, place[j], CALM
            elif value[j] == b and place[j] == CALM:
                conflict[count], place[j] = j, count
                count += 1
        if cost[row + b] == 0:
            count -= 1
            last = conflict[count]
            conflict[np.uint32(place[i])], place[last], place[i] = last, place[i], CALM
        if changed[n + i] == 0:
            changed[numbers[CHANGED]], changed[n + i] = i, 1
            numbers[CHANGED] += 1
        if violations < lowest:
            lowest = violations
            for k in range(numbers[CHANGED]):  # only those, so that it costs no more than the moves before it
                j = changed[k]
                best[j], changed[n + j] = value[j], 0
            numbers[CHANGED] = 0
    numbers[VIOLATIONS], numbers[LEAST], numbers[IN_CONFLICT], numbers[NOW] = violations, lowest, count, now
    return done

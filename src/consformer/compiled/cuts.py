"""Annealing between two sides: the inner loop of `partners/cuts.py`.

Where all there is are pairs of variables with two values each, one number says all about a variable: what is gained when it changes sides.
"""

from __future__ import annotations

from pathlib import Path

import numba
import numpy as np
from numpy.typing import NDArray

from consformer.compiled import stamped
from consformer.compiled.local.chance import following

Floats = NDArray[np.float64]
Places = NDArray[np.uint32]
Marks = NDArray[np.bool_]

COST, BEST_COST, PLACE, SWEEP, LENGTH, HEAT = range(6)
"""The numbers of a state: cost of the sides and of the best so far; whose turn it is in a sweep; sweeps done, and to do, in this annealing;
its first temperature."""

COIN = np.uint64(1 << 40)
"""A bit that decides what makes no difference: taken every time, in turn, it would go around in circles."""

_floats, _places, _marks, _random = numba.float64[::1], numba.uint32[::1], numba.boolean[::1], numba.uint64[::1]
_pairs, _joined = (_places, _places, _floats), (_floats, _marks, _places, numba.boolean)
_compile = {"nogil": True, "cache": True}
_sources = Path(__file__), Path(__file__).parent / "local" / "chance.py"


@numba.njit(numba.void(*_pairs, _floats, *_joined, _floats, _random), **_compile)  # type: ignore[untyped-decorator]
@stamped(*_sources)
def join(
    first: Places,  # [n+1] where the pairs of each variable begin
    other: Places,  # [P] the other end of each pair
    double: Floats,  # [P] twice what it costs when both ends are on one side; less than nothing where they should be
    side: Floats,  # [n] 1 or -1
    best: Floats,  # [n] sides
    seen: Marks,  # [n] for its own use, as the next
    region: Places,
    free: bool,  # all variables may change sides, so that the two sides may change names
    numbers: Floats,
    random: NDArray[np.uint64],
) -> None:
    """Take into the best what is better in these sides.

    Where the two differ falls into regions without a pair between them, so each can be taken or left for itself. If all regions are taken
    that gain something, the best is as good as both were, and better where each has what the other lacks; those that neither gain nor lose
    are taken by chance.
    """
    x, differing = random[0], 0
    for i in range(len(side)):
        seen[i] = False
        differing += side[i] != best[i]
    sign = -1.0 if free and 2 * differing > len(side) else 1.0
    for start in range(len(side)):
        if seen[start] or sign * side[start] == best[start]:
            continue
        seen[start], region[0], count, k, gained = True, start, 1, 0, 0.0
        while k < count:
            i = region[k]
            k += 1
            for e in range(first[i], first[i + 1]):
                j = other[e]
                if sign * side[j] == best[j]:  # outside of the region
                    gained += double[e] * best[i] * best[j] / 2
                elif not seen[j]:
                    seen[j], region[count] = True, j
                    count += 1
        x = following(x)
        if gained > 0 or (gained == 0 and x & COIN):
            numbers[BEST_COST] -= gained
            for k in range(count):
                best[region[k]] = -best[region[k]]
    random[0] = x


@numba.njit(
    numba.void(*_pairs, _places, _floats, _floats, *_joined, _floats, _floats, _random, numba.int64),
    **_compile,
)  # type: ignore[untyped-decorator]
@stamped(*_sources)
def advance(
    first: Places,
    other: Places,
    double: Floats,
    choice: Places,  # the variables that can change sides
    side: Floats,
    gain: Floats,  # [n] what the cost falls by when a variable changes sides
    best: Floats,
    seen: Marks,
    region: Places,
    free: bool,
    chances: Floats,  # [1024] minus logarithms of what is as likely
    numbers: Floats,
    random: NDArray[np.uint64],
    moves: int,
) -> None:
    """Let one variable after the other, so many in all, have a chance to change sides, the temperature falling in a straight line."""
    x, cost, place = random[0], numbers[COST], int(numbers[PLACE])
    while moves > 0:
        heat = numbers[HEAT] * (1 - numbers[SWEEP] / numbers[LENGTH])
        end = min(place + moves, len(choice))
        for k in range(place, end):
            i = choice[k]
            x = following(x)
            gained = gain[i]
            if gained > 0 or (-gained <= heat * chances[np.int64(x >> np.uint64(54))] and (gained < 0 or x & COIN)):
                cost -= gained
                gain[i] = -gained
                was = side[i]
                side[i] = -was
                for e in range(first[i], first[i + 1]):
                    gain[other[e]] -= double[e] * was * side[other[e]]
        moves -= end - place
        place = end
        if place == len(choice):
            place = 0
            numbers[SWEEP] += 1
            if cost < numbers[BEST_COST] or numbers[SWEEP] >= numbers[LENGTH]:
                random[0] = x
                join(first, other, double, side, best, seen, region, free, numbers, random)
                x = random[0]
    random[0], numbers[COST], numbers[PLACE] = x, cost, place

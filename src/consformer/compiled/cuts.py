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

COST, BEST_COST, PLACE, SWEEP, LENGTH, HEAT = range(6)
"""The numbers of a state: cost of the sides and of the best so far; whose turn it is in a sweep; sweeps done, and to do, in this annealing;
its first temperature."""

COIN = np.uint64(1 << 40)
"""A bit that decides what makes no difference: taken every time, in turn, it would go around in circles."""

_floats, _places = numba.float64[::1], numba.uint32[::1]


@numba.njit(
    numba.void(_places, _places, _floats, _places, _floats, _floats, _floats, _floats, _floats, numba.uint64[::1], numba.int64),
    nogil=True,
    cache=True,
)  # type: ignore[untyped-decorator]
@stamped(Path(__file__), Path(__file__).parent / "local" / "chance.py")
def advance(
    first: Places,  # [n+1] where the pairs of each variable begin
    other: Places,  # [P] the other end of each pair
    double: Floats,  # [P] twice what it costs when both ends are on one side; less than nothing where they should be
    choice: Places,  # the variables that can change sides
    side: Floats,  # [n] 1 or -1
    gain: Floats,  # [n] what the cost falls by when a variable changes sides
    best: Floats,  # [n] sides
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
            if cost < numbers[BEST_COST]:
                numbers[BEST_COST] = cost
                best[:] = side
    random[0], numbers[COST], numbers[PLACE] = x, cost, place

"""Annealing: random moves that may make it worse, ever less so, where there is something to optimise."""

from __future__ import annotations

import numpy as np

from consformer.compiled.local.build import part
from consformer.compiled.local.chance import draw, following
from consformer.compiled.local.state import (
    CHANCE,
    CHANCES,
    CHOICE,
    COOL,
    COOLING,
    FREE,
    HEAT,
    LEVEL,
    LONGEST,
    MOVES,
    OPTIMISING,
    PATIENCE,
    STALE,
    STEP,
    SWEEP,
    TREE,
    UNTIL,
    VALUE,
    State,
)
from consformer.compiled.local.table import touch


@part()
def heat(s: State, eighths: int) -> None:
    """Begin to anneal, from so many eighths of what pulls at a variable down to nothing; quickly at first, later slowly or quickly."""
    numbers = s.numbers
    level = numbers[LEVEL] if numbers[LEVEL] < LONGEST else draw(s.random, LONGEST + 1)
    numbers[LEVEL] += 1
    numbers[COOLING] = numbers[COOL] = (32 << level) * numbers[FREE]
    numbers[HEAT] = eighths * numbers[STEP]
    numbers[OPTIMISING] = CHANCE


@part()
def anneal(s: State, most: int) -> int:
    """Random moves of one variable after the other, until one is good enough for the temperature: variable * m + value, or -1 after so many
    that are not. What is read and written most is kept out of the arrays: nearly all moves are refused when it is cold.
    """
    numbers, table, variable, m = s.numbers, s.table, s.variable, s.table.shape[1]
    x, place, left, found = s.random[0], numbers[SWEEP], numbers[COOL], -1
    warmth = 0.125 * numbers[HEAT] / (CHANCES * numbers[COOLING])
    end = max(left - most, 0)
    while left > end and found < 0:
        i = s.kept[CHOICE, place]
        place = place + 1 if place + 1 < numbers[FREE] else 0
        value = variable[i, VALUE]
        v = 1 - value
        if m > 2:
            x = following(x)
            v = (np.int64(x >> np.uint64(33)) * (m - 1)) >> 31
            v += v >= value
        x = following(x)
        cost = table[i, v] - table[i, value]  # of a value outside the domain far too much
        if cost <= 0 or cost <= warmth * left * s.chances[np.int64(x >> np.uint64(54))]:
            found = i * m + v
        left -= 1
    s.random[0] = x
    numbers[SWEEP], numbers[COOL] = place, left
    return int(found)


@part()
def settle(s: State) -> None:
    """After annealing: back to the best move of all."""
    s.numbers[OPTIMISING], s.numbers[STALE] = TREE, 0
    s.numbers[UNTIL] = s.numbers[MOVES] + s.numbers[COOLING] // 4 + s.numbers[PATIENCE]
    for i in range(len(s.table)):
        touch(s, i)

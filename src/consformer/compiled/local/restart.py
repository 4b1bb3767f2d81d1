"""Beginning again: from the best so far, kicked or heated."""

from __future__ import annotations

from consformer.compiled.local.anneal import heat
from consformer.compiled.local.build import part
from consformer.compiled.local.chance import draw
from consformer.compiled.local.state import (
    BAD,
    CHOICE,
    COST,
    FIRST_PAIR,
    FORBIDDEN,
    FREE,
    HOME,
    HOME_COST,
    HOME_VIOLATIONS,
    MOVABLE,
    MOVES,
    OTHER,
    PATIENCE,
    PEAK,
    PEAK_COST,
    PEAK_VIOLATIONS,
    PENDING,
    PLACE,
    ROUND,
    STALE,
    STRENGTH,
    UNTIL,
    VALUE,
    VIOLATIONS,
    State,
)
from consformer.compiled.local.table import rebuild, shift


@part()
def random_value(s: State, i: int, other: bool) -> int:
    """A value of a variable, where asked for and possible other than the one it has."""
    found, ties = s.variable[i, VALUE], 0
    for v in range(s.table.shape[1]):
        if not (other and v == s.variable[i, VALUE]) and s.table[i, v] < FORBIDDEN >> 1:
            ties += 1
            if draw(s.random, ties) == 0:
                found = v
    return int(found)


@part()
def descend(s: State) -> None:
    """Let one variable after the other take a value that costs least: from random values of a large problem the quickest way down."""
    m = s.table.shape[1]
    for i in s.kept[CHOICE, : s.numbers[FREE]]:
        best, start = s.variable[i, VALUE], draw(s.random, m)
        for step in range(m):
            v = (start + step) % m
            if s.table[i, v] < s.table[i, best]:
                best = v
        if best != s.variable[i, VALUE]:
            shift(s, i, best)


@part()
def kick(s: State, size: int) -> None:
    """Move variables at random: some anywhere, or a cluster of neighbours, whose pairs with one another stay as good as they are."""
    s.variable[:, PLACE] = -1
    queue, front, end = s.kept[BAD], 0, 0
    scattered = draw(s.random, 2) == 0 or len(s.pair) == 0
    for _ in range(size):
        i = -1
        if not scattered:
            while front < end and i < 0:
                e = s.variable[queue[front], FIRST_PAIR]
                degree = s.variable[queue[front] + 1, FIRST_PAIR] - e
                j = s.pair[e + draw(s.random, degree), OTHER] if degree else queue[front]
                if s.variable[j, PLACE] < 0 and s.variable[j, MOVABLE]:
                    i = j
                elif draw(s.random, degree + 1) == 0:
                    front += 1
        if i < 0:
            i = s.kept[CHOICE, draw(s.random, s.numbers[FREE])]
        if s.variable[i, PLACE] < 0:
            s.variable[i, PLACE] = 0
            queue[end] = i
            end += 1
            s.variable[i, VALUE] = random_value(s, i, True)


@part()
def restart(s: State) -> None:
    """Begin again from the best since the last restart, or from where that began if it was better: kicked, or heated and annealed.

    The longer nothing helps, the further away and the longer.
    """
    numbers = s.numbers
    home = numbers[HOME_VIOLATIONS]
    if numbers[PEAK_VIOLATIONS] < home or (numbers[PEAK_VIOLATIONS] == home and numbers[PEAK_COST] <= numbers[HOME_COST]):
        numbers[HOME_VIOLATIONS], numbers[HOME_COST] = numbers[PEAK_VIOLATIONS], numbers[PEAK_COST]
        for i in range(len(s.table)):
            s.kept[HOME, i] = s.kept[PEAK, i]
    numbers[ROUND] += 1
    for i in range(len(s.table)):
        s.variable[i, VALUE] = s.kept[HOME, i]
    if draw(s.random, 2):
        numbers[UNTIL] = numbers[MOVES] + 10 * numbers[PATIENCE]
        most = max(numbers[FREE] // 4, 1)
        kick(s, min(1 + draw(s.random, numbers[STRENGTH] * (1 + numbers[ROUND] % 8)), most))
        rebuild(s)
    else:
        heat(s, 2 + draw(s.random, 4))
        rebuild(s)
    numbers[PEAK_VIOLATIONS], numbers[PEAK_COST] = numbers[VIOLATIONS], numbers[COST]
    numbers[PENDING], numbers[STALE] = 1, 0

"""The best values so far, written down at the end of a way down and not with every step of it."""

from __future__ import annotations

from consformer.compiled.local.build import part
from consformer.compiled.local.state import (
    BEST,
    BEST_COST,
    BEST_VIOLATIONS,
    COST,
    PEAK,
    PEAK_CHANGED,
    PEAK_CHANGES,
    PEAK_COST,
    PEAK_MARK,
    PEAK_VIOLATIONS,
    PENDING,
    ROUND,
    STALE,
    VALUE,
    VIOLATIONS,
    State,
)


@part()
def _keep(s: State, row: int) -> None:
    """Copy the values to the row PEAK or BEST of `kept`: only those that changed, so that it costs no more than the moves before it."""
    changed, changes, mark = PEAK_CHANGED + row, PEAK_CHANGES + row, PEAK_MARK + row
    if s.numbers[changed] < 0:
        for i in range(len(s.table)):
            s.kept[row, i] = s.variable[i, VALUE]
            s.variable[i, mark] = 0
    for k in range(s.numbers[changed]):
        i = s.kept[changes, k]
        s.kept[row, i] = s.variable[i, VALUE]
        s.variable[i, mark] = 0
    s.numbers[changed] = 0


@part()
def _mark(s: State, row: int, i: int) -> None:
    """Note that variable i moved."""
    changed, changes, mark = PEAK_CHANGED + row, PEAK_CHANGES + row, PEAK_MARK + row
    if s.numbers[changed] >= 0 and not s.variable[i, mark]:
        s.kept[changes, s.numbers[changed]] = i
        s.variable[i, mark] = 1
        s.numbers[changed] += 1


@part()
def write_down(s: State) -> None:
    """Keep the values as the best since the last restart, and as the best of all if they are."""
    numbers = s.numbers
    _keep(s, PEAK)
    numbers[PENDING] = 0
    best = numbers[BEST_VIOLATIONS]
    if numbers[PEAK_VIOLATIONS] < best or (numbers[PEAK_VIOLATIONS] == best and numbers[PEAK_COST] < numbers[BEST_COST]):
        numbers[BEST_VIOLATIONS], numbers[BEST_COST] = numbers[PEAK_VIOLATIONS], numbers[PEAK_COST]
        _keep(s, BEST)
        numbers[ROUND] = 0


@part()
def judge(s: State, i: int, a: int) -> None:
    """See whether the values, of which variable i had a before, are the best so far; only at the end of a way down are they written."""
    numbers = s.numbers
    peak = numbers[PEAK_VIOLATIONS]
    if numbers[VIOLATIONS] < peak or (numbers[VIOLATIONS] == peak and numbers[COST] < numbers[PEAK_COST]):
        numbers[PEAK_VIOLATIONS], numbers[PEAK_COST] = numbers[VIOLATIONS], numbers[COST]
        numbers[PENDING], numbers[STALE] = 1, 0
        _mark(s, PEAK, i)
        _mark(s, BEST, i)
        return
    numbers[STALE] += 1
    if numbers[PENDING]:
        b = s.variable[i, VALUE]
        s.variable[i, VALUE] = a
        write_down(s)
        s.variable[i, VALUE] = b
    _mark(s, PEAK, i)
    _mark(s, BEST, i)

"""Moves of a local search, compiled when this is imported: `begin` and `advance`, each on a `State`."""

from __future__ import annotations

from consformer.compiled.local.anneal import anneal, heat, settle
from consformer.compiled.local.best import judge, write_down
from consformer.compiled.local.build import entry, part
from consformer.compiled.local.restart import descend, random_value, restart
from consformer.compiled.local.state import (
    BEST_COST,
    BEST_VIOLATIONS,
    CHANCE,
    CHOICE,
    COOL,
    COST,
    FREE,
    HOME,
    HOME_COST,
    HOME_VIOLATIONS,
    LEAST,
    MOVES,
    OPTIMISING,
    PATIENCE,
    PEAK_COST,
    PEAK_VIOLATIONS,
    PENDING,
    STALE,
    TOTAL,
    TREE,
    UNTIL,
    VALUE,
    VIOLATIONS,
    State,
)
from consformer.compiled.local.table import insist, rebuild, shift
from consformer.compiled.local.tabu import forbid, pick


@entry
def begin(s: State, at_random: int) -> int:
    """Make everything from the values, or from random ones."""
    s.numbers[OPTIMISING] = min(s.numbers[OPTIMISING], TREE)
    if at_random and s.numbers[OPTIMISING] and s.numbers[FREE]:
        heat(s, 4)
    if at_random:
        for i in s.kept[CHOICE, : s.numbers[FREE]]:
            s.variable[i, VALUE] = random_value(s, i, False)
    rebuild(s)
    numbers = s.numbers
    if at_random and not numbers[OPTIMISING]:
        descend(s)
        numbers[LEAST] = numbers[TOTAL]
    numbers[PEAK_VIOLATIONS], numbers[PEAK_COST] = numbers[VIOLATIONS], numbers[COST]
    numbers[HOME_VIOLATIONS], numbers[HOME_COST] = numbers[VIOLATIONS], numbers[COST]
    for i in range(len(s.table)):
        s.kept[HOME, i] = s.variable[i, VALUE]
    numbers[STALE], numbers[UNTIL] = 0, numbers[MOVES] + 100 * numbers[PATIENCE]
    write_down(s)
    return 0


@part()
def _stuck(s: State) -> None:
    """Nothing improved for long: insist on what is violated, or begin again elsewhere."""
    if s.numbers[OPTIMISING] == 0 or s.numbers[VIOLATIONS] > 0:
        insist(s)
        s.numbers[STALE], s.numbers[UNTIL] = 0, s.numbers[MOVES] + 10 * s.numbers[PATIENCE]
    else:
        restart(s)


@entry
def advance(s: State, moves: int) -> int:
    """Make so many moves; fewer when there is nothing left to improve. Gives how many."""
    numbers, m = s.numbers, s.table.shape[1]
    done = 0
    while done < moves and (numbers[BEST_VIOLATIONS] > 0 or numbers[BEST_COST] > 0) and numbers[FREE] > 0:
        if numbers[PENDING] and numbers[PEAK_VIOLATIONS] == 0 and numbers[PEAK_COST] == 0:
            break
        if numbers[OPTIMISING] == CHANCE and numbers[COOL] == 0:
            settle(s)
        if numbers[OPTIMISING] == CHANCE:
            before = numbers[COOL]
            move = anneal(s, moves - done)
            tried = before - numbers[COOL]
            numbers[MOVES] += tried
        else:
            if numbers[STALE] >= numbers[PATIENCE] or (numbers[OPTIMISING] and numbers[MOVES] >= numbers[UNTIL]):
                _stuck(s)
                if numbers[OPTIMISING] == CHANCE:
                    continue
            numbers[MOVES] += 1
            move, tried = pick(s, numbers[MOVES]), 1
        done += tried
        numbers[STALE] += tried - 1
        if move < 0:
            numbers[STALE] += 1
            continue
        i, b = move // m, move % m
        a = s.variable[i, VALUE]
        forbid(s, numbers[MOVES], i)
        shift(s, i, b)
        numbers[LEAST] = min(numbers[LEAST], numbers[TOTAL])
        judge(s, i, a)
    if numbers[PENDING]:
        write_down(s)
    return done

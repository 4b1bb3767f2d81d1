"""Moves of a local search: a table of what each value of each variable costs, kept up to date, and tabu search on it.

All of it works on a `State`, in place, and is plain Python that is compiled; `plain` gives the same functions as they are. Everything is
a whole number, so that a table that went through a million updates is exactly the one made anew.

There are two ways to choose a move. To *repair*, where nothing is soft: the best move of a variable in conflict (as TabuCol does). To
*optimise*: the best move of all, which a tournament tree over the variables knows without looking at each.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from consformer.compiled import available

Whole = NDArray[np.int64]

(
    MOVES,  # done so far
    OPTIMISING,  # TREE: the tree chooses; CHANCE: annealing; 0: variables in conflict do
    VIOLATIONS,  # of hard constraints, of the values as they are
    COST,  # of soft constraints
    TOTAL,  # all with the weights of the moment, up to a constant
    LEAST,  # the lowest TOTAL since weights last changed: what lets a move pass that is tabu
    BEST_VIOLATIONS,
    BEST_COST,
    PEAK_VIOLATIONS,  # best since the last restart
    PEAK_COST,
    HOME_VIOLATIONS,  # what the last restart began from
    HOME_COST,
    PENDING,  # 1: the values are the best since the last restart, and not yet written down
    STALE,  # moves since PEAK_* improved
    PATIENCE,  # so many of them, and something is done about it
    ROUND,  # how often something was done since the last improvement of the best
    CONFLICTS,  # how many variables are in conflict
    STEP,  # what is added to the weight of a hard constraint that stays violated
    TENURE,  # least number of moves for which a value that was left is tabu
    FREE,  # variables that can move
    STRENGTH,  # how many variables a restart moves
    HEAT,  # the highest temperature of this annealing, in eighths
    COOLING,  # how many moves it takes,
    COOL,  # and how many are left
    LEVEL,  # how often it was done: it takes up to twice as long each time
    UNTIL,  # the move with which to begin again at the latest
    PEAK_CHANGED,  # how many variables stand in PEAK_CHANGES; -1: any may have changed
    BEST_CHANGED,
    SWEEP,  # whose turn it is in annealing
) = range(29)
NUMBERS = 29
LONGEST = 8  # times as long, as a power of two
TREE, CHANCE = 1, 2

FORBIDDEN = 1 << 60  # what a value outside the domain costs
NOTHING = 1 << 62  # in the tree: no move
CHANCES = 1024
SCAN = 4000  # up to so many moves of variables in conflict are all looked at,
SAMPLE = 250  # of more only so many


# The columns of `variable`, `pair`, `scope` and `ring`. Few arrays with many columns are what the compiler is quick with.
VALUE, BASE, MOVABLE, PLACE, FIRST_PAIR, FIRST_TALLY, PEAK_MARK, BEST_MARK = range(8)
OTHER, WEIGHT, UNIT = range(3)
FIRST_MEMBER, COUNTED, LOW, HIGH, STEEP, SCOPE_WEIGHT, HARD, CELL = range(8)
HEAD, FOLLOWING, LEFT = range(3)
PEAK, BEST, HOME, BAD, CHOICE, PEAK_CHANGES, BEST_CHANGES = range(7)  # the rows of `kept`


class State(NamedTuple):
    """Everything a search knows, of n variables, m values, E directed pairs, G counted scopes with M variables in all."""

    # [n+1,8] the value it has; what `table` is less than the truth; 0 or 1; where in BAD, or -1; where its pairs and scopes begin; whether
    # it stands in PEAK_CHANGES and in BEST_CHANGES
    variable: Whole
    table: Whole  # [n,m] what each value costs
    tabu: Whole  # [n,m] the move from which on a value may be taken again
    # [E,3] the other variable; what the same value costs, negative where it is wanted; 1 or -1 for a hard constraint, 0 for a soft one
    pair: Whole
    scope: Whole  # [G+1,8] where its variables begin; the value or -1; bounds; 0 or 1; weight; 0 or 1; where its counts begin
    member: Whole  # [M] the variables of the scopes
    tally: Whole  # [M] the scopes of the variables
    counts: Whole  # how many variables of a scope have a value
    tree: Whole  # [2 * power of two] the least cost of a move of any variable below, with noise in the last bits
    ring: Whole  # [R,3] by move: the first value that is tabu until then; the next one after it; what was left (variable * m + value)
    # [7,n] best values since the last restart; best of all; what the restart began from; the variables in conflict; those that can move;
    # those that moved since the first and since the second row were written
    kept: Whole
    chances: Whole  # [CHANCES] quantiles of the exponential distribution, times CHANCES
    offers: Whole  # room for what moves cost that are looked at; for no more than so many
    numbers: Whole  # [NUMBERS]
    random: NDArray[np.uint64]  # [1] xorshift


Function = TypeVar("Function", bound=Callable[..., Any])


def _compiled(entry: bool = False, inline: bool = False) -> Callable[[Function], Function]:
    """Compile, where there is a compiler: entries at once, for good, and without holding up other threads; others along with them."""
    if not available():
        return lambda function: function
    import numba

    if not entry:
        return numba.njit(inline="always" if inline else "never", no_cpython_wrapper=True, no_cfunc_wrapper=True)  # type: ignore[no-any-return]
    one, two = np.zeros(1, np.int64), np.zeros((1, 1), np.int64)
    matrices = ("variable", "table", "tabu", "pair", "scope", "ring", "kept")
    blank = State(**{name: two if name in matrices else one for name in State._fields if name != "random"}, random=np.zeros(1, np.uint64))
    return numba.njit(numba.int64(numba.typeof(blank), numba.int64), nogil=True, cache=True)  # type: ignore[no-any-return]


@_compiled()
def _draw(random: NDArray[np.uint64], below: int) -> int:
    """A random number from 0 to below - 1."""
    x = random[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    random[0] = x
    return int((np.int64(x >> np.uint64(33)) * below) >> 31)


@_compiled()
def _slope(scope: Whole, g: int, c: int) -> int:
    """What one more adds to the violation of a scope in which c have the value."""
    if c < scope[g, LOW]:
        return -1
    if c < scope[g, HIGH]:
        return 0
    return c - scope[g, HIGH] + 1 if scope[g, STEEP] else 1


@_compiled(inline=True)
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


@_compiled()
def _enter(variable: Whole, table: Whole, tabu: Whole, tree: Whole, random: NDArray[np.uint64], now: int, i: int) -> None:
    """To optimise: put the best move of variable i in the tree, up to where another one wins anyway."""
    value = variable[i, VALUE]
    own, least = table[i, value], FORBIDDEN >> 1
    if variable[i, MOVABLE]:
        for v in range(table.shape[1]):
            if table[i, v] - own < least and v != value and tabu[i, v] <= now:
                least = table[i, v] - own
    key = NOTHING if least == FORBIDDEN >> 1 else least * 256 + _draw(random, 256)
    at = (len(tree) >> 1) + i
    tree[at] = key
    at >>= 1
    while at:
        key = min(tree[2 * at], tree[2 * at + 1])
        if tree[at] == key:
            break
        tree[at] = key
        at >>= 1


@_compiled()
def _touch(s: State, i: int) -> None:
    """Note that the costs of variable i are other than before."""
    if s.numbers[OPTIMISING] == TREE:
        _enter(s.variable, s.table, s.tabu, s.tree, s.random, s.numbers[MOVES], i)
    elif not s.numbers[OPTIMISING]:
        _sort(s.variable, s.table, s.kept, s.numbers, i)


@_compiled()
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


@_compiled()
def _shift(s: State, i: int, b: int) -> None:
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
                _touch(s, s.member[at])
    _touch(s, i)


@_compiled()
def _rebuild(s: State) -> None:
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
        _touch(s, i)
    numbers[TOTAL] = numbers[LEAST] = 0
    numbers[PEAK_CHANGED] = numbers[BEST_CHANGED] = -1


@_compiled()
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


@_compiled()
def _pick_repair(variable: Whole, table: Whole, tabu: Whole, kept: Whole, offers: Whole, numbers: Whole, random: NDArray[np.uint64]) -> int:
    """The best move (variable * m + value) of a variable in conflict; of some of them where there are many; -1: there is none.

    Without branches that depend on costs, and with one random number for all ties: nothing here can be foreseen by the processor.
    """
    m, count, now = table.shape[1], numbers[CONFLICTS], numbers[MOVES]
    tries = count if count * m <= len(offers) else max(SAMPLE // m, 4)
    passes = numbers[LEAST] - numbers[TOTAL]  # a move that costs less leads to something new
    least, start = FORBIDDEN >> 1, 0 if tries == count else _draw(random, count)
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
    rank = _draw(random, ties)
    at = -1
    while rank >= 0:
        at += 1
        rank -= offers[at] == least
    at_bad = start + at // m
    i = kept[BAD, at_bad if at_bad < count else at_bad - count]
    return int(i * m + at % m)


@_compiled()
def _pick_any(s: State) -> int:
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
        if ties == 1 or _draw(s.random, ties) == 0:
            move = i * m + v
    return move


@_compiled()
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


@_compiled()
def _mark(s: State, row: int, i: int) -> None:
    """Note that variable i moved."""
    changed, changes, mark = PEAK_CHANGED + row, PEAK_CHANGES + row, PEAK_MARK + row
    if s.numbers[changed] >= 0 and not s.variable[i, mark]:
        s.kept[changes, s.numbers[changed]] = i
        s.variable[i, mark] = 1
        s.numbers[changed] += 1


@_compiled()
def _write_down(s: State) -> None:
    """Keep the values as the best since the last restart, and as the best of all if they are."""
    numbers = s.numbers
    _keep(s, PEAK)
    numbers[PENDING] = 0
    best = numbers[BEST_VIOLATIONS]
    if numbers[PEAK_VIOLATIONS] < best or (numbers[PEAK_VIOLATIONS] == best and numbers[PEAK_COST] < numbers[BEST_COST]):
        numbers[BEST_VIOLATIONS], numbers[BEST_COST] = numbers[PEAK_VIOLATIONS], numbers[PEAK_COST]
        _keep(s, BEST)
        numbers[ROUND] = 0


@_compiled()
def _judge(s: State, i: int, a: int) -> None:
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
        _write_down(s)
        s.variable[i, VALUE] = b
    _mark(s, PEAK, i)
    _mark(s, BEST, i)


@_compiled()
def _insist(s: State) -> None:
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
        _touch(s, i)
    numbers[TOTAL] = numbers[LEAST] = 0


@_compiled()
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


@_compiled()
def _random_value(s: State, i: int, other: bool) -> int:
    """A value of a variable, where asked for and possible other than the one it has."""
    found, ties = s.variable[i, VALUE], 0
    for v in range(s.table.shape[1]):
        if not (other and v == s.variable[i, VALUE]) and s.table[i, v] < FORBIDDEN >> 1:
            ties += 1
            if _draw(s.random, ties) == 0:
                found = v
    return int(found)


@_compiled()
def _kick(s: State, size: int) -> None:
    """Move variables at random: some anywhere, or a cluster of neighbours, whose pairs with one another stay as good as they are."""
    s.variable[:, PLACE] = -1
    queue, front, end = s.kept[BAD], 0, 0
    scattered = _draw(s.random, 2) == 0 or len(s.pair) == 0
    for _ in range(size):
        i = -1
        if not scattered:
            while front < end and i < 0:
                e = s.variable[queue[front], FIRST_PAIR]
                degree = s.variable[queue[front] + 1, FIRST_PAIR] - e
                j = s.pair[e + _draw(s.random, degree), OTHER] if degree else queue[front]
                if s.variable[j, PLACE] < 0 and s.variable[j, MOVABLE]:
                    i = j
                elif _draw(s.random, degree + 1) == 0:
                    front += 1
        if i < 0:
            i = s.kept[CHOICE, _draw(s.random, s.numbers[FREE])]
        if s.variable[i, PLACE] < 0:
            s.variable[i, PLACE] = 0
            queue[end] = i
            end += 1
            s.variable[i, VALUE] = _random_value(s, i, True)


@_compiled()
def _heat(s: State, eighths: int) -> None:
    """Begin to anneal, from so many eighths of what pulls at a variable down to nothing; quickly at first, later slowly or quickly."""
    numbers = s.numbers
    level = numbers[LEVEL] if numbers[LEVEL] < LONGEST else _draw(s.random, LONGEST + 1)
    numbers[LEVEL] += 1
    numbers[COOLING] = numbers[COOL] = (32 << level) * numbers[FREE]
    numbers[HEAT] = eighths * numbers[STEP]
    numbers[OPTIMISING] = CHANCE


@_compiled()
def _restart(s: State) -> None:
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
    if _draw(s.random, 2):
        numbers[UNTIL] = numbers[MOVES] + 10 * numbers[PATIENCE]
        most = max(numbers[FREE] // 4, 1)
        _kick(s, min(1 + _draw(s.random, numbers[STRENGTH] * (1 + numbers[ROUND] % 8)), most))
        _rebuild(s)
    else:
        _heat(s, 2 + _draw(s.random, 4))
        _rebuild(s)
    numbers[PEAK_VIOLATIONS], numbers[PEAK_COST] = numbers[VIOLATIONS], numbers[COST]
    numbers[PENDING], numbers[STALE] = 1, 0


@_compiled()
def _anneal(s: State, most: int) -> int:
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
            x ^= x << np.uint64(13)
            x ^= x >> np.uint64(7)
            x ^= x << np.uint64(17)
            v = (np.int64(x >> np.uint64(33)) * (m - 1)) >> 31
            v += v >= value
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        cost = table[i, v] - table[i, value]  # of a value outside the domain far too much
        if cost <= 0 or cost <= warmth * left * s.chances[np.int64(x >> np.uint64(54))]:
            found = i * m + v
        left -= 1
    s.random[0] = x
    numbers[SWEEP], numbers[COOL] = place, left
    return int(found)


@_compiled()
def _settle(s: State) -> None:
    """After annealing: back to the best move of all."""
    s.numbers[OPTIMISING], s.numbers[STALE] = TREE, 0
    s.numbers[UNTIL] = s.numbers[MOVES] + s.numbers[COOLING] // 4 + s.numbers[PATIENCE]
    for i in range(len(s.table)):
        _touch(s, i)


@_compiled(entry=True)
def begin(s: State, at_random: int) -> int:
    """Make everything from the values, or from random ones."""
    s.numbers[OPTIMISING] = min(s.numbers[OPTIMISING], TREE)
    if at_random and s.numbers[OPTIMISING] and s.numbers[FREE]:
        _heat(s, 4)
    if at_random:
        for i in s.kept[CHOICE, : s.numbers[FREE]]:
            s.variable[i, VALUE] = _random_value(s, i, False)
    _rebuild(s)
    numbers = s.numbers
    numbers[PEAK_VIOLATIONS], numbers[PEAK_COST] = numbers[VIOLATIONS], numbers[COST]
    numbers[HOME_VIOLATIONS], numbers[HOME_COST] = numbers[VIOLATIONS], numbers[COST]
    for i in range(len(s.table)):
        s.kept[HOME, i] = s.variable[i, VALUE]
    numbers[STALE], numbers[UNTIL] = 0, numbers[MOVES] + 100 * numbers[PATIENCE]
    _write_down(s)
    return 0


@_compiled()
def _pick(s: State, now: int) -> int:
    """The next move; -1: none this time."""
    numbers, m, ring = s.numbers, s.table.shape[1], len(s.ring)
    if numbers[OPTIMISING] == 0:
        return _pick_repair(s.variable, s.table, s.tabu, s.kept, s.offers, numbers, s.random)
    node = s.ring[now % ring, HEAD]
    s.ring[now % ring, HEAD] = -1
    while node >= 0:  # is tabu no longer
        _touch(s, s.ring[node, LEFT] // m)
        node = s.ring[node, FOLLOWING]
    return _pick_any(s)


@_compiled()
def _forbid(s: State, now: int, i: int) -> None:
    """Make the value of variable i, which it is about to leave, tabu for a while."""
    numbers, ring, a = s.numbers, len(s.ring), s.variable[i, VALUE]
    until = now + numbers[TENURE] + _draw(s.random, 10)
    if numbers[OPTIMISING] == 0:
        s.tabu[i, a] = until + 6 * numbers[CONFLICTS] // 10
    elif numbers[OPTIMISING] == TREE:
        s.tabu[i, a] = until
        s.ring[now % ring, LEFT] = i * s.table.shape[1] + a
        s.ring[now % ring, FOLLOWING] = s.ring[until % ring, HEAD]
        s.ring[until % ring, HEAD] = now % ring


@_compiled()
def _stuck(s: State) -> None:
    """Nothing improved for long: insist on what is violated, or begin again elsewhere."""
    if s.numbers[OPTIMISING] == 0 or s.numbers[VIOLATIONS] > 0:
        _insist(s)
        s.numbers[STALE], s.numbers[UNTIL] = 0, s.numbers[MOVES] + 10 * s.numbers[PATIENCE]
    else:
        _restart(s)


@_compiled(entry=True)
def advance(s: State, moves: int) -> int:
    """Make so many moves; fewer when there is nothing left to improve. Gives how many."""
    numbers, m = s.numbers, s.table.shape[1]
    done = 0
    while done < moves and (numbers[BEST_VIOLATIONS] > 0 or numbers[BEST_COST] > 0) and numbers[FREE] > 0:
        if numbers[PENDING] and numbers[PEAK_VIOLATIONS] == 0 and numbers[PEAK_COST] == 0:
            break
        if numbers[OPTIMISING] == CHANCE and numbers[COOL] == 0:
            _settle(s)
        if numbers[OPTIMISING] == CHANCE:
            before = numbers[COOL]
            move = _anneal(s, moves - done)
            tried = before - numbers[COOL]
            numbers[MOVES] += tried
        else:
            if numbers[STALE] >= numbers[PATIENCE] or (numbers[OPTIMISING] and numbers[MOVES] >= numbers[UNTIL]):
                _stuck(s)
                if numbers[OPTIMISING] == CHANCE:
                    continue
            numbers[MOVES] += 1
            move, tried = _pick(s, numbers[MOVES]), 1
        done += tried
        numbers[STALE] += tried - 1
        if move < 0:
            numbers[STALE] += 1
            continue
        i, b = move // m, move % m
        a = s.variable[i, VALUE]
        _forbid(s, numbers[MOVES], i)
        _shift(s, i, b)
        numbers[LEAST] = min(numbers[LEAST], numbers[TOTAL])
        _judge(s, i, a)
    if numbers[PENDING]:
        _write_down(s)
    return done


def plain() -> dict[str, Callable[..., Any]]:
    """All functions as they are written, not compiled: slow, and the same to the last move."""
    shared = dict(globals())
    found: dict[str, Callable[..., Any]] = {}
    for name, function in globals().items():
        source = getattr(function, "py_func", function)
        if isinstance(source, FunctionType) and source.__module__ == __name__:
            shared[name] = found[name] = FunctionType(source.__code__, shared, name)
    return found

"""The steps of an iteration on a problem of differences, but for the layers of the network: which variables are updated, what is open, who
attends to whom, what the network is told, and what becomes of what it says.

The twins are tensor operations: `search.select`, `networks.open` and `search.decode`. Everything here is compiled along with what calls it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np
import torch
from numpy.typing import NDArray

from consformer.compiled.attention import Floats, Marks, Places
from consformer.compiled.local.chance import draw, following
from consformer.csp import CSP
from consformer.networks.inputs import HIGHEST_CONFLICT

Random = NDArray[np.uint64]
_LIMIT = np.float32(HIGHEST_CONFLICT)


class Ground(NamedTuple):
    """A problem in which variables must differ, and nothing else."""

    free: Places  # [f] the variables that are not fixed
    first: Places  # [n+1] where the others that each must differ from begin
    near: Places  # [E] who these are
    times: Places  # [E] by how many constraints
    chance: Floats  # [n,m] of each value when all that a variable may take are equally likely
    ties: Floats  # [n] what the network is told of how many others each is tied to
    alike: bool  # whether these chances are the same for all that are not fixed
    may: Marks  # [n,m] the values of variables that are not fixed, and that no fixed one rules out


class Wishes(NamedTuple):
    """How to search, iteration by iteration."""

    p: Floats  # [N]
    temperature: Floats  # [N]
    redraw: Floats  # [N] chance that the network is not shown the present values of what it updates
    informed: bool  # all variables in conflict are updated
    greedy: bool  # the likeliest value is taken
    patience: float  # iterations without progress after which nothing more is done


class Chain(NamedTuple):
    """A candidate: an assignment and what is known of it; worked on in place."""

    values: Places  # [n]
    peak: Places  # [n] the best since it was started
    margin: Floats  # [n] how far the best value of each variable was ahead of the next when the network was last asked
    numbers: Places  # [NUMBERS]
    random: Random  # [1]


# Places in `Chain.numbers`: violations now and at its best, iterations since then and since it started, the longest time without progress
# that ended well.
VIOLATIONS, BEST, STALE, SPENT, DROUGHT = range(NUMBERS := 5)


class Trace(NamedTuple):
    """What the last iteration was about."""

    chosen: Marks  # [n] the variables that were updated
    seen: Places  # [n] the values that the network was shown
    said: Floats  # [n,m] logits of those variables, where something was open; minus infinity where not


def ground(csp: CSP) -> Ground:
    """Of a single problem."""
    pairs = csp.differences.numpy()
    key, times = np.unique(pairs[0] * csp.n + pairs[1], return_counts=True)
    to, near = np.divmod(key, max(csp.n, 1))
    free = torch.nonzero(csp.free)[:, 0]
    chance = csp.uniform.float().contiguous()
    return Ground(
        free=free.numpy(),
        first=np.searchsorted(to, np.arange(csp.n + 1)).astype(np.int64),
        near=near,
        times=times.astype(np.int64),
        chance=chance.numpy(),
        ties=(torch.log1p(csp.graph.degree.float()) / 3).numpy(),
        alike=bool((chance[free] == chance[free[:1]]).all()),
        may=(csp.open & csp.free[:, None]).numpy(),
    )


_along = numba.njit(nogil=True)  # compiled along with what calls it


@_along  # type: ignore[untyped-decorator]
def coin(random: Random) -> np.float32:
    """A random number from 0 to 1, neither of them."""
    x = following(random[0])
    random[0] = x
    return (np.float32(x >> np.uint64(41)) + np.float32(0.5)) * np.float32(2.0**-23)


@_along  # type: ignore[untyped-decorator]
def drawn(random: Random, chance: Floats, i: int) -> int:
    """A random value that variable i may take."""
    many = 0
    for v in range(chance.shape[1]):
        many += chance[i, v] > 0
    left = draw(random, many)
    for v in range(chance.shape[1]):
        if chance[i, v] > 0:
            if left == 0:
                return v
            left -= 1
    return 0


@_along  # type: ignore[untyped-decorator]
def count(ground: Ground, values: Places, wrong: Places) -> int:
    """How many constraints are violated; `wrong` [n]: by each variable."""
    total = 0
    for i in range(len(values)):
        wrong[i] = 0
        for e in range(ground.first[i], ground.first[i + 1]):
            if values[ground.near[e]] == values[i]:
                wrong[i] += ground.times[e]
        total += wrong[i]
    return total // 2


@_along  # type: ignore[untyped-decorator]
def change(ground: Ground, values: Places, wrong: Places, i: int, value: int) -> int:
    """Give variable i another value; by how much there are more violations."""
    before, now = values[i], 0
    for e in range(ground.first[i], ground.first[i + 1]):
        j = ground.near[e]
        if values[j] == value:
            wrong[j] += ground.times[e]
            now += ground.times[e]
        elif values[j] == before:
            wrong[j] -= ground.times[e]
    more: int = now - wrong[i]
    values[i], wrong[i] = value, now
    return more


@_along  # type: ignore[untyped-decorator]
def choose(ground: Ground, wrong: Places, p: float, informed: bool, random: Random, chosen: Marks) -> None:
    """Which variables are updated: one at least."""
    some = False
    for i in ground.free:
        chosen[i] = coin(random) < p or (informed and wrong[i] > 0)
        some |= chosen[i]
    if not some:
        chosen[ground.free[draw(random, len(ground.free))]] = True


@_along  # type: ignore[untyped-decorator]
def open_values(ground: Ground, values: Places, chosen: Marks, number: Places, group: Places) -> tuple[int, int, int]:
    """Number the values that are open [n,m], others get -1; `group` [V+1] is where each updated variable's begin.

    How many there are, of how many variables, and the most edges there may be between them, filled up to eights.
    """
    for i in ground.free:
        for v in range(number.shape[1]):
            number[i, v] = 0 if chosen[i] and ground.may[i, v] else -1
    for i in ground.free:
        if not chosen[i] and ground.may[i, values[i]]:
            for e in range(ground.first[i], ground.first[i + 1]):
                number[ground.near[e], values[i]] = -1
    many, variables, edges = 0, 0, 0
    for i in ground.free:
        if not chosen[i]:
            continue
        some = False
        for v in range(number.shape[1]):
            some |= number[i, v] == 0
        before = many
        for v in range(number.shape[1]):
            if number[i, v] == 0 or (not some and ground.may[i, v]):
                number[i, v] = many
                many += 1
        group[variables] = before
        variables += 1
        edges += (many - before) * (ground.first[i + 1] - ground.first[i] + 8)
    group[variables] = many
    return many, variables, edges


@_along  # type: ignore[untyped-decorator]
def link(ground: Ground, chosen: Marks, number: Places, first: Places, degree: Places, source: Places) -> int:
    """Who attends to whom: edges from each other variable that may take the same value, and from itself, filled up to eights by the last.

    `first` [T+1] is where those to each begin, `degree` [T] how many there really are besides its own, and the result the most of these.
    """
    at, most, m = 0, 0, number.shape[1]
    near = np.empty(len(chosen), np.int64)
    flat = number.ravel()
    first[0] = 0
    for i in ground.free:
        if not chosen[i]:
            continue
        count = 0
        for e in range(ground.first[i], ground.first[i + 1]):
            near[count] = ground.near[e] * m
            count += chosen[ground.near[e]]
        for v in range(m):
            t = number[i, v]
            if t < 0:
                continue
            source[at] = t
            end = at + 1
            for e in range(count):
                other = flat[near[e] + v]
                source[end] = other
                end += other >= 0
            degree[t] = end - at - 1
            most = max(most, end - at)
            until = at + (end - at + 7) // 8 * 8
            for e in range(end, until):
                source[e] = source[end - 1]
            at = until
            first[t + 1] = at
    return most


@_along  # type: ignore[untyped-decorator]
def tell(
    ground: Ground, seen: Places, chosen: Marks, number: Places, degree: Places, temperature: float, skip: Floats, x: Floats, plain: Floats
) -> None:
    """What the network is told [T,FEATURES] of each open value, as `networks.open` does, and what is known without it [T]."""
    m = ground.chance.shape[1]
    marginal, present = np.empty(m, np.float32), np.empty(m, np.float32)
    warm, cold = np.float32(math.log(temperature)), np.float32(0.25 / temperature)
    for i in ground.free:
        if not chosen[i]:
            continue
        marginal[:] = 0
        present[:] = 0
        undecided = np.float32(0)
        for e in range(ground.first[i], ground.first[i + 1]):
            j, weight = ground.near[e], np.float32(ground.times[e])
            if not chosen[j]:
                marginal[seen[j]] += weight
                continue
            present[seen[j]] += weight
            undecided += weight
            if not ground.alike:
                for v in range(m):
                    marginal[v] += weight * ground.chance[j, v]
                    present[v] -= weight * ground.chance[j, v]
        if ground.alike:
            for v in range(m):
                marginal[v] += undecided * ground.chance[i, v]
                present[v] -= undecided * ground.chance[i, v]
        floor, least = np.float32(np.inf), np.float32(np.inf)
        for v in range(m):
            if ground.chance[i, v] > 0:
                floor, least = min(floor, marginal[v]), min(least, present[v])
        held = 0
        for v in range(m):
            held += number[i, v] >= 0
        length, share = np.float32(math.log(held)), np.float32(1 / max(held, 1))
        for v in range(m):
            t = number[i, v]
            if t < 0:
                continue
            outside, inside = marginal[v] - floor, present[v] - least
            plain[t] = skip[0] * outside + skip[1] * inside
            x[t, 0] = min(floor, _LIMIT)
            x[t, 1] = warm
            x[t, 2] = cold
            x[t, 3] = np.float32(seen[i] == v)
            x[t, 4] = min(outside, _LIMIT)
            x[t, 5] = min(inside, _LIMIT)
            x[t, 6] = np.float32(outside < 0.5)
            x[t, 7] = np.float32(math.log1p(degree[t]) / 3)
            x[t, 8] = ground.ties[i]
            x[t, 9] = length
            x[t, 10] = share


@_along  # type: ignore[untyped-decorator]
def take(
    ground: Ground, number: Places, said: Floats, temperature: float, wishes: Wishes, chain: Chain, trace: Trace, wrong: Places
) -> int:
    """Draw values from what was said [T], divided by the temperature; by how much there are more violations."""
    more = 0
    for i in ground.free:
        if not trace.chosen[i]:
            continue
        value, most = chain.values[i], np.float32(-np.inf)
        first, second = np.float32(-np.inf), np.float32(-np.inf)
        for v in range(number.shape[1]):
            t = number[i, v]
            if t < 0:
                trace.said[i, v] = -np.inf
                continue
            logit = said[t] / np.float32(temperature)
            trace.said[i, v] = logit
            if logit > first:
                first, second = logit, first
            else:
                second = max(second, logit)
            if not wishes.greedy:
                logit -= np.float32(math.log(-math.log(coin(chain.random))))
            if logit > most:
                value, most = v, logit
        chain.margin[i] = min(first - second, np.float32(1e9))
        if value != chain.values[i]:
            more += change(ground, chain.values, wrong, i, value)
    return more


@_along  # type: ignore[untyped-decorator]
def better(chain: Chain) -> None:
    """This is the best of the candidate so far."""
    chain.numbers[BEST], chain.numbers[STALE] = chain.numbers[VIOLATIONS], 0
    for i in range(len(chain.values)):
        chain.peak[i] = chain.values[i]

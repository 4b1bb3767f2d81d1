"""Backtracking over variables that must differ: the inner loop of `partners/backtrack.py`.

Domains are sets of at most 64 values, kept as bits. A step assigns a variable, takes its value from all that must differ, follows what
becomes forced (one value left for a variable; one place left for a value that a scope needs), and goes back when a domain is empty.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint64]
Places = NDArray[np.int64]

OPEN, SOLVED, EXHAUSTED = 0, 1, 2

_HEAD = "uint64[::1],int64[::1],int64[::1],int64[::1],int64[::1],int64[::1],int64[::1]"
_COMPILE = {"nogil": True, "cache": True}
_piece = numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)  # compiled along with what calls it, and not kept by itself


@_piece  # type: ignore[untyped-decorator]
def _count(bits: np.uint64) -> np.int64:
    """How many bits are set."""
    x = bits - ((bits >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@_piece  # type: ignore[untyped-decorator]
def _random(state: Bits) -> np.uint64:
    """xorshift64*."""
    x: np.uint64 = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return x * np.uint64(2685821657736338717)


@numba.njit(f"boolean(int64,uint64,{_HEAD},int64[::1],uint64[::1],int64[::1],int64[::1],boolean[::1])", **_COMPILE)  # type: ignore[untyped-decorator]
def assign(
    variable: int,
    bit: np.uint64,
    domain: Bits,
    first: Places,
    other: Places,
    scope_first: Places,
    scope_member: Places,
    owner_first: Places,
    owner: Places,
    trail: Places,
    trail_bits: Bits,
    sizes: Places,  # [0] length of the trail, [1] variable whose domain became empty
    queue: Places,
    dirty: NDArray[np.bool_],
) -> bool:
    """Give a variable a value and follow the consequences; False when some domain is empty. What changed stands in the trail."""
    scopes = len(scope_first) - 1
    length = sizes[0]
    if domain[variable] != bit:
        trail[length], trail_bits[length] = variable, domain[variable]
        length += 1
        domain[variable] = bit
    queue[0] = variable
    begin, end = 0, 1
    dirty[:] = False
    while True:
        while begin < end:
            i = queue[begin]
            begin += 1
            gone = domain[i]
            for s in range(owner_first[i], owner_first[i + 1]):
                dirty[owner[s]] = True
            for e in range(first[i], first[i + 1]):
                j = other[e]
                before = domain[j]
                if before & gone:
                    after = before & ~gone
                    trail[length], trail_bits[length] = j, before
                    length += 1
                    domain[j] = after
                    if after == np.uint64(0):
                        sizes[0], sizes[1] = length, j
                        return False
                    if after & (after - np.uint64(1)) == np.uint64(0):
                        queue[end] = j
                        end += 1
                    for s in range(owner_first[j], owner_first[j + 1]):
                        dirty[owner[s]] = True
        for s in range(scopes):
            if not dirty[s]:
                continue
            dirty[s] = False
            once, twice = np.uint64(0), np.uint64(0)
            for e in range(scope_first[s], scope_first[s + 1]):
                bits = domain[scope_member[e]]
                twice |= once & bits
                once |= bits
            if _count(once) < scope_first[s + 1] - scope_first[s]:
                sizes[0], sizes[1] = length, scope_member[scope_first[s]]
                return False
            single = once & ~twice
            for e in range(scope_first[s], scope_first[s + 1]):
                j = scope_member[e]
                found = domain[j] & single
                if found and domain[j] != found:
                    if found & (found - np.uint64(1)):
                        sizes[0], sizes[1] = length, j
                        return False
                    trail[length], trail_bits[length] = j, domain[j]
                    length += 1
                    domain[j] = found
                    queue[end] = j
                    end += 1
            if begin < end:
                break
        if begin == end:
            sizes[0] = length
            return True


@_piece  # type: ignore[untyped-decorator]
def _undo(domain: Bits, trail: Places, trail_bits: Bits, last: Bits, sizes: Places, mark: int) -> None:
    """Take back what changed since the trail was so long; values that variables had are remembered."""
    while sizes[0] > mark:
        sizes[0] -= 1
        i = trail[sizes[0]]
        bits = domain[i]
        if bits and bits & (bits - np.uint64(1)) == np.uint64(0):
            last[i] = bits
        domain[i] = trail_bits[sizes[0]]


@numba.njit(
    f"int64({_HEAD},uint64[::1],int64[::1],uint64[::1],float64[::1],int64[::1],uint64[::1],uint64[::1],int64[::1],uint64[::1],int64[::1],uint64[::1],int64[::1],int64[::1],boolean[::1],uint64[::1],int64)",
    **_COMPILE,
)  # type: ignore[untyped-decorator]
def advance(
    domain: Bits,
    first: Places,
    other: Places,
    scope_first: Places,
    scope_member: Places,
    owner_first: Places,
    owner: Places,
    alike: Bits,  # [m] for each value, those that nothing tells apart from it at the root
    trail: Places,
    trail_bits: Bits,
    weight: NDArray[np.float64],  # [n] how often a variable's domain became empty: those are decided first
    undecided: Places,  # variables that the root leaves open
    settled: Bits,  # [1] the values of the others
    last: Bits,  # [n] the value that each variable had last, which is tried first; 0: none
    decided: Places,  # [depth] variable of each decision
    untried: Bits,  # [depth] values that are yet to be tried
    marks: Places,  # [depth] length of the trail before it
    used: Bits,  # [depth] values that are taken somewhere
    sizes: Places,  # [0] length of the trail, [1] scratch, [2] depth, [3] nodes so far
    queue: Places,
    dirty: NDArray[np.bool_],
    random: Bits,
    nodes: int,
) -> int:
    """Go on for so many nodes: OPEN, SOLVED (every domain has one value), or EXHAUSTED (there is no solution)."""
    for _ in range(nodes):
        sizes[3] += 1
        # Choose: fewest values, then most trouble so far.
        chosen, lowest = -1, np.inf
        taken = settled[0]
        for place in range(len(undecided)):
            i = undecided[place]
            bits = domain[i]
            if bits & (bits - np.uint64(1)):
                score = _count(bits) / weight[i]
                if score < lowest:
                    chosen, lowest = i, score
            else:
                taken |= bits
        if chosen < 0:
            return SOLVED
        depth = sizes[2]
        decided[depth], untried[depth], marks[depth], used[depth] = chosen, domain[chosen], sizes[0], taken
        sizes[2] = depth + 1
        # Try values until one does not fail at once; go back where none is left.
        while True:
            depth = sizes[2] - 1
            if depth < 0:
                return EXHAUSTED
            left = untried[depth]
            if left == np.uint64(0):
                sizes[2] = depth
                if depth > 0:
                    _undo(domain, trail, trail_bits, last, sizes, marks[depth - 1])
                continue
            bit = left & last[decided[depth]]
            if bit == np.uint64(0):  # a random one of those left
                bits = left
                for _skipped in range(np.int64(_random(random) % np.uint64(_count(left)))):
                    bits &= bits - np.uint64(1)
                bit = bits & (~bits + np.uint64(1))
            value = _count(bit - np.uint64(1))
            untried[depth] = left & ~bit
            if bit & ~used[depth]:  # one value that is used nowhere stands for all that are like it
                untried[depth] &= ~(alike[value] & ~used[depth])
            fine = assign(
                decided[depth],
                bit,
                domain,
                first,
                other,
                scope_first,
                scope_member,
                owner_first,
                owner,
                trail,
                trail_bits,
                sizes,
                queue,
                dirty,
            )
            if fine:
                break
            weight[sizes[1]] += 1.0
            _undo(domain, trail, trail_bits, last, sizes, marks[depth])
    return OPEN

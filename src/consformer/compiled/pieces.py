"""The steps of a layer of an any-CSP network, put into kernels that know the sizes: those of `layers` and of `chain`.

Nothing here is compiled by itself. Matrices, states and the room to work in are `memory` of arrays whose rows lie one after the other.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from consformer.compiled.attention import Floats, Marks, Places
from consformer.compiled.vectors import (
    add,
    add_times,
    fill,
    get,
    highest,
    load,
    peak,
    piece,
    powers_of_two,
    put,
    store,
    times,
    total,
    totals,
)

SOURCE = Path(__file__)  # what kernels on disk depend on, besides their own file
EPSILON = 1e-5  # of the norms, as in torch
TOGETHER = 60  # tokens, or thereabouts


def sizes(width: int, heads: int, hidden: int) -> tuple[int, int, int, int]:
    """How wide heads are, and how many numbers are worked out at a time: of a head, of a state, of what is inside the feed-forward."""
    head = width // heads
    some = 8 if head % 8 == 0 else head
    wide, wider = (16 if outputs % 16 == 0 else outputs for outputs in (width, hidden))
    return head, some, wide, wider


@piece  # type: ignore[untyped-decorator]
def asked(
    h: Any,
    qkv: Any,
    n: int,
    rows: int,
    norm: Any,
    weight: Any,
    x: Any,
    made: Any,
    begin: int,
    end: int,
    width: int,
    head: int,
    wide: int,
) -> None:
    """Queries, keys and values in the places from `begin` to `end` of n; `x` and `made` are room to work in.

    Each row and head has its own part of `qkv`, so that what a place looks at is close together.
    """
    heads = width // head
    for first in range(begin * rows, end * rows, TOGETHER):
        count = min(TOGETHER, end * rows - first)
        for t in range(count):
            store(x, t * width, _normed(load(h, (first + t) * width, width), norm, width))
            for part in range(3):
                store(made, (3 * t + part) * width, fill(0, width))
        add_products(x, count, width, weight, 3 * width, wide, made, 0)
        for t in range(count):
            i, r = divmod(first + t, rows)
            for part in range(3):
                for a in range(heads):
                    found = load(made, (3 * t + part) * width + a * head, head)
                    store(qkv, (((r * heads + a) * 3 + part) * n + i) * head, found)


@piece  # type: ignore[untyped-decorator]
def attended(
    h: Any,
    qkv: Any,
    n: int,
    rows: int,
    first: Places,
    source: Any,
    degree: Places,
    out: Any,
    share: Any,
    mixed: Any,
    begin: int,
    end: int,
    width: int,
    head: int,
    some: int,
    wide: int,
) -> None:
    """Attention in the places from `begin` to `end` of n; edges are those of `by_eight`, `share` and `mixed` are room to work in."""
    heads = width // head
    for r in range(rows):
        for a in range(heads):
            at = (r * heads + a) * 3 * n * head
            for i in range(begin, end):
                found = _mixed(qkv, at, n, i, source, first[i], first[i + 1] - first[i], degree[i] + 1, share, head, some)
                store(mixed, ((i - begin) * rows + r) * width + a * head, found)
    add_products(mixed, (end - begin) * rows, width, out, width, wide, h, begin * rows * width)


@piece  # type: ignore[untyped-decorator]
def fed(
    h: Any,
    first: Places,
    tokens: Places,
    allowed: Marks,
    norm: Any,
    others: Any,
    up: Any,
    down: Any,
    state: Any,
    x: Any,
    inner: Any,
    seen: Any,
    told: Any,
    begin: int,
    end: int,
    width: int,
    hidden: int,
    wide: int,
    wider: int,
) -> None:
    """What is behind attention, for the groups from `begin` to `end`; from `state` to `told`, there is only room to work in."""
    group = begin
    while group < end:
        start, until = first[group], group + 1
        while until < end and first[until + 1] - start <= TOGETHER:
            until += 1
        count = first[until] - start
        for t in range(count):
            own = load(h, tokens[start + t] * width, width)
            store(state, t * width, own)
            store(x, t * width, _normed(own, norm, width))
        for g in range(group, until):
            many, sums, most = np.float32(0), fill(0, width), fill(-np.inf, width)
            for t in range(first[g], first[g + 1]):
                if allowed[t]:
                    own = load(x, (t - start) * width, width)
                    many, sums, most = many + np.float32(1), add(sums, own), highest(most, own)
            store(seen, 2 * (g - group) * width, times(sums, fill(1 / many, width)))
            store(seen, (2 * (g - group) + 1) * width, most)
            store(told, (g - group) * hidden, fill(0, hidden))
        add_products(seen, until - group, 2 * width, others, hidden, wider, told, 0)
        for g in range(group, until):
            for t in range(first[g] - start, first[g + 1] - start):
                store(inner, t * hidden, load(told, (g - group) * hidden, hidden))
        add_products(x, count, width, up, hidden, wider, inner, 0)
        for t in range(count):
            store(inner, t * hidden, highest(load(inner, t * hidden, hidden), fill(0, hidden)))
        add_products(inner, count, hidden, down, width, wide, state, 0)
        for t in range(count):
            store(h, tokens[start + t] * width, load(state, t * width, width))
        group = until


@piece  # type: ignore[untyped-decorator]
def answered(h: Any, count: int, weight: Any, found: Floats, width: int) -> None:
    """The head of so many tokens, behind a norm without shift whose scale is part of the weight."""
    for t in range(count):
        centred = _centred(load(h, t * width, width), width)
        found[t] = _scale(centred, width) * total(times(centred, load(weight, 0, width)))


@piece  # type: ignore[untyped-decorator]
def add_products(x: Any, count: int, inputs: int, weight: Any, outputs: int, wide: int, y: Any, at: int) -> None:
    """y[t] += x[t] weight for the first `count` tokens t, the y [outputs] of which lie from `at` on.

    Six tokens and `wide` outputs at a time: what is read of the weights serves all six, and their sums fit into the registers. Where
    there are no six left, the last one is worked out several times over, from what it was and to the same end.
    """
    for t in range(0, count, 6):
        last = count - 1
        t0, t1, t2, t3, t4, t5 = t, min(t + 1, last), min(t + 2, last), min(t + 3, last), min(t + 4, last), min(t + 5, last)
        for o in range(0, outputs, wide):
            y0, y1, y2 = load(y, at + t0 * outputs + o, wide), load(y, at + t1 * outputs + o, wide), load(y, at + t2 * outputs + o, wide)
            y3, y4, y5 = load(y, at + t3 * outputs + o, wide), load(y, at + t4 * outputs + o, wide), load(y, at + t5 * outputs + o, wide)
            for i in range(inputs):
                row = load(weight, i * outputs + o, wide)
                y0, y1 = add_times(y0, get(x, t0 * inputs + i), row), add_times(y1, get(x, t1 * inputs + i), row)
                y2, y3 = add_times(y2, get(x, t2 * inputs + i), row), add_times(y3, get(x, t3 * inputs + i), row)
                y4, y5 = add_times(y4, get(x, t4 * inputs + i), row), add_times(y5, get(x, t5 * inputs + i), row)
            store(y, at + t0 * outputs + o, y0)
            store(y, at + t1 * outputs + o, y1)
            store(y, at + t2 * outputs + o, y2)
            store(y, at + t3 * outputs + o, y3)
            store(y, at + t4 * outputs + o, y4)
            store(y, at + t5 * outputs + o, y5)


@piece  # type: ignore[untyped-decorator]
def _normed(state: Any, norm: Any, width: int) -> Any:
    """A layer norm; `norm` is its scale and shift."""
    centred = _centred(state, width)
    return add_times(load(norm, width, width), _scale(centred, width), times(centred, load(norm, 0, width)))


@piece  # type: ignore[untyped-decorator]
def _centred(state: Any, width: int) -> Any:
    return add(state, fill(-total(state) / np.float32(width), width))


@piece  # type: ignore[untyped-decorator]
def _scale(centred: Any, width: int) -> Any:
    return np.float32(1) / np.sqrt(total(times(centred, centred)) / np.float32(width) + np.float32(EPSILON))


@piece  # type: ignore[untyped-decorator]
def _near(source: Any, edge: int, head: int) -> int:
    """Where, among states of so many numbers, the one at the other end of an edge begins."""
    place: int = get(source, edge) * head
    return place


@piece  # type: ignore[untyped-decorator]
def _mixed(qkv: Any, at: int, n: int, i: int, source: Any, first: int, filled: int, edges: int, share: Any, head: int, some: int) -> Any:
    """Softmax attention of place i, with queries, keys and values [3,n,head] from `at` on, to source[first:first+filled].

    Of these only so many `edges` count; the others fill up a multiple of eight. Products of states are worked out `some` numbers at a time.
    """
    keys, values = at + n * head, at + 2 * n * head
    peaks = fill(-np.inf, 8)
    for e in range(0, filled, 8):
        j0, j1, j2, j3 = (
            _near(source, first + e, head),
            _near(source, first + e + 1, head),
            _near(source, first + e + 2, head),
            _near(source, first + e + 3, head),
        )
        j4, j5, j6, j7 = (
            _near(source, first + e + 4, head),
            _near(source, first + e + 5, head),
            _near(source, first + e + 6, head),
            _near(source, first + e + 7, head),
        )
        p0, p1, p2, p3, p4, p5, p6, p7 = (
            fill(0, some),
            fill(0, some),
            fill(0, some),
            fill(0, some),
            fill(0, some),
            fill(0, some),
            fill(0, some),
            fill(0, some),
        )
        for c in range(0, head, some):
            query, there = load(qkv, at + i * head + c, some), keys + c
            p0, p1 = add(p0, times(query, load(qkv, there + j0, some))), add(p1, times(query, load(qkv, there + j1, some)))
            p2, p3 = add(p2, times(query, load(qkv, there + j2, some))), add(p3, times(query, load(qkv, there + j3, some)))
            p4, p5 = add(p4, times(query, load(qkv, there + j4, some))), add(p5, times(query, load(qkv, there + j5, some)))
            p6, p7 = add(p6, times(query, load(qkv, there + j6, some))), add(p7, times(query, load(qkv, there + j7, some)))
        products = totals(p0, p1, p2, p3, p4, p5, p6, p7)
        store(share, e, products)
        peaks = highest(peaks, products)
    for e in range(edges, filled):
        put(share, e, np.float32(-np.inf))
    lower = fill(-peak(peaks), 8)
    even, odd, weight = fill(0, head), fill(0, head), fill(0, 8)
    for e in range(0, filled, 8):
        powers = powers_of_two(add(load(share, e, 8), lower))
        store(share, e, powers)
        weight = add(weight, powers)
    for e in range(0, filled, 2):
        there = first + e
        even = add_times(even, get(share, e), load(qkv, values + get(source, there) * head, head))
        odd = add_times(odd, get(share, e + 1), load(qkv, values + get(source, there + 1) * head, head))
    return times(add(even, odd), fill(1 / total(weight), head))

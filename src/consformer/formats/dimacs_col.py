"""Graphs in DIMACS format (`.col`): `p edge <vertices> <edges>`, then `e <u> <v>`."""

from __future__ import annotations

import re

import numpy as np

from consformer.csp import check_size
from consformer.errors import InputError, ModelError
from consformer.formats.base import Format, content_lines, head, lines_of, shorten, text_of, whole
from consformer.formats.payloads import GraphData, Payload

_GRAPH = ("edge", "edges", "col")
_IGNORED = ("c", "n", "d", "v", "x")  # comments; weights, bounds and places of vertices, which colouring does not know
_COLORS = re.compile(r"c to be coloured with ([1-9]\d{0,17}) colours")  # as the colouring family writes it


class DimacsCol(Format):
    """One graph; edges may be listed once or in both directions, and the header may count either.

    The format has no place for a number of colours; the comment in which `consformer generate coloring` writes it is understood.
    """

    name = "dimacs_col"
    summary = "DIMACS .col graph: 'p edge <vertices> <edges>', then 'e <u> <v>', vertices from 1"
    default_family = "coloring"

    def recognises(self, data: bytes) -> bool:
        for line in head(data, comment="c", lines=20):
            words = line.split()
            if words[0] == "p":
                return len(words) > 1 and words[1] in _GRAPH
            if words[0] == "e":
                return len(words) >= 3
            if words[0] not in _IGNORED:
                return False
        return False

    def read(self, data: bytes) -> list[Payload]:
        n, promised, header, listed = 0, 0, 0, 0
        first: dict[tuple[int, int], int] = {}  # the line in which each edge is listed first
        text = text_of(data)
        for number, line in content_lines(text, comment="c"):
            words = line.split()
            if words[0] == "e":
                if not header:
                    raise InputError("an edge before the line 'p edge <vertices> <edges>'; put that line first", line=number)
                edge = _edge(words, n, number)
                first.setdefault(edge, number)
                listed += 1
            elif words[0] == "p":
                if header:
                    raise InputError(f"a second 'p' line (the first is line {header}); a file holds one graph", line=number)
                n, promised = _header(words, number)
                header = number
            elif words[0] not in _IGNORED:
                raise InputError(f"{shorten(line)} is no DIMACS line; lines start with c, p or e", line=number)
        if not header:
            raise InputError("the line 'p edge <vertices> <edges>' is missing; put it before the edges")
        if promised not in (listed, len(first), 2 * len(first)):
            raise InputError(f"the header says {promised} edges, but {listed} are listed; correct the header or the list", line=header)
        colors = next((int(found[1]) for line in lines_of(text) if (found := _COLORS.fullmatch(line.strip()))), None)
        check_vertices(n, header, colors or 2)
        return [
            GraphData(
                n=n,
                edges=np.array(list(first), dtype=np.int64).reshape(-1, 2),
                weights=np.ones(len(first)),
                lines=np.array(list(first.values()), dtype=np.int64),
                colors=colors,
            )
        ]

    @staticmethod
    def sample() -> bytes:
        return b"c a triangle and a tail\np edge 4 4\ne 1 2\ne 2 3\ne 1 3\ne 3 4\n"


def _header(words: list[str], line: int) -> tuple[int, int]:
    sizes = [whole(word) for word in words[2:]]
    if len(words) != 4 or words[1] not in _GRAPH or sizes[0] is None or sizes[1] is None:
        raise InputError(f"the header must be 'p edge <vertices> <edges>', not {shorten(' '.join(words))}", line=line)
    check_vertices(sizes[0], line)
    return sizes[0], sizes[1]


def check_vertices(n: int, line: int, values: int = 2) -> None:
    """Refuse a number of vertices that cannot be meant, or does not fit in memory with so many values each.

    >>> check_vertices(0, 1)
    Traceback (most recent call last):
    ...
    consformer.errors.InputError: line 1: a graph needs at least one vertex
    """
    if n < 1:
        raise InputError("a graph needs at least one vertex", line=line)
    try:
        check_size(n, values)
    except ModelError as error:
        raise InputError(f"the graph is too large: {error}", line=line) from None


def _edge(words: list[str], n: int, line: int) -> tuple[int, int]:
    one, two = (whole(words[1]), whole(words[2])) if len(words) == 3 else (None, None)
    if one is None or two is None:
        raise InputError(f"an edge must be 'e <u> <v>' with two vertices, not {shorten(' '.join(words))}", line=line)
    return edge_ends(one, two, n, line)


def edge_ends(one: int, two: int, n: int, line: int) -> tuple[int, int]:
    """The two ends of an edge, from 0, the smaller first.

    >>> edge_ends(3, 1, 3, line=1)
    (0, 2)
    """
    for vertex in (one, two):
        if not 1 <= vertex <= n:
            raise InputError(f"vertex {vertex} is out of range: the header says {n} vertices, so they are 1 to {n}", line=line)
    return (one - 1, two - 1) if one < two else (two - 1, one - 1)

"""Weighted graphs as in Gset: `<vertices> <edges>`, then `<u> <v> <weight>`."""

from __future__ import annotations

import numpy as np

from consformer.constraints.base import MAX_WEIGHT
from consformer.errors import InputError
from consformer.formats.base import Format, content_lines, head, shorten, text_of, whole
from consformer.formats.dimacs_col import check_vertices, edge_ends
from consformer.formats.payloads import GraphData, Payload


class Gset(Format):
    """One graph, vertices from 1, every edge once; an edge without a weight has weight 1."""

    name = "gset"
    summary = "Gset graph: '<vertices> <edges>', then '<u> <v> <weight>', vertices from 1, the weight is optional"
    default_family = "maxcut"

    def recognises(self, data: bytes) -> bool:
        lines = [line.split() for line in head(data, lines=2)]
        if not lines or len(lines[0]) != 2 or not all(word.isdecimal() for word in lines[0]):
            return False
        return len(lines) == 1 or (len(lines[1]) in (2, 3) and sum(word.isdecimal() for word in lines[1]) >= len(lines[1]) - 1)

    def read(self, data: bytes) -> list[Payload]:
        lines = content_lines(text_of(data))
        header, first = next(lines, (1, ""))
        n, promised = _two(first.split()) if len(first.split()) == 2 else (None, None)
        if n is None or promised is None:
            raise InputError(f"the first line must be '<vertices> <edges>', not {shorten(first)}", line=header)
        check_vertices(n, header)
        found: dict[tuple[int, int], tuple[float, int]] = {}
        for number, line in lines:
            words = line.split()
            one, two = _two(words) if len(words) in (2, 3) else (None, None)
            if one is None or two is None:
                raise InputError(f"an edge must be '<u> <v> <weight>', not {shorten(line)}", line=number)
            edge = edge_ends(one, two, n, number)
            if edge in found:
                raise InputError(f"the edge {one} {two} stands in line {found[edge][1]} already; keep one of them", line=number)
            found[edge] = _weight(words[2], number) if len(words) == 3 else 1.0, number
        if promised != len(found):
            raise InputError(f"the header says {promised} edges, but {len(found)} are listed; correct the header or the list", line=header)
        return [
            GraphData(
                n=n,
                edges=np.array(list(found), dtype=np.int64).reshape(-1, 2),
                weights=np.array([weight for weight, _ in found.values()], dtype=np.float64),
                lines=np.array([number for _, number in found.values()], dtype=np.int64),
            )
        ]

    @staticmethod
    def sample() -> bytes:
        return b"4 4\n1 2 1\n2 3 -1\n3 4 1\n1 4 2.5\n"


def _two(words: list[str]) -> tuple[int | None, int | None]:
    return whole(words[0]), whole(words[1])


def _weight(word: str, line: int) -> float:
    try:
        weight = float(word)
    except ValueError:
        weight = float("nan")
    if not -MAX_WEIGHT <= weight <= MAX_WEIGHT:
        raise InputError(f"the weight must be a number of at most {MAX_WEIGHT:g} in size, not {shorten(word)}", line=line)
    return weight

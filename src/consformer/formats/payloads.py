"""What formats read, before a family makes a problem of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from consformer.csp import CSP


@dataclass(frozen=True, eq=False)
class Board:
    """A Sudoku board: values 0..N-1, -1 for a blank cell."""

    cells: NDArray[np.int64]  # [N,N]
    line: int | None = None  # where it starts in its file, from 1


class LatinSquare(Board):
    """A Latin square with holes, in the same terms."""

    largest: ClassVar[int] = 200  # order: beyond it, the constraint graph does not fit


@dataclass(frozen=True, eq=False)
class GraphData:
    """A graph, possibly weighted; no edge twice, loops kept (a family knows what they mean)."""

    n: int
    edges: NDArray[np.int64]  # [E,2] from 0
    weights: NDArray[np.float64]  # [E]
    lines: NDArray[np.int64]  # [E] where each edge stands in its file, from 1
    colors: int | None = None  # to be coloured with so many, where the file says so


Payload = Board | GraphData | CSP

"""Graph colouring: vertices joined by an edge take different colours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import torch

from consformer.constraints.not_equal import NotEqual
from consformer.csp import CSP
from consformer.errors import ModelError
from consformer.families import graphs
from consformer.families.base import Family, Params, setting
from consformer.graph import Graph

Kind = Literal["er", "ba", "geo"]
_PATIENCE = 20_000  # graphs that may be dropped in a row before the parameters are called impossible


def _draw(kind: str, sizes: graphs.Sizes, rng: np.random.Generator) -> graphs.Adjacency:
    """Graphs from the paper's distributions."""
    count = len(sizes)
    if kind == "er":
        return graphs.erdos_renyi(sizes, rng.uniform(0.1, 0.3, count), rng)
    if kind == "ba":
        return graphs.barabasi_albert(sizes, np.minimum(rng.integers(2, 10, count, endpoint=True), sizes - 1), rng)
    return graphs.random_geometric(sizes, rng.uniform(0.15, 0.3, count), rng)


@dataclass(frozen=True)
class ColoringParams(Params):
    """How graphs to colour are drawn."""

    vertices: tuple[int, int] = setting((50, 50), "range of the number of vertices")
    colors: tuple[int, int] = setting((5, 5), "range of the number of colours")
    kinds: tuple[Kind, ...] | None = setting(None, "random graphs to draw: er, ba, geo; default all three, from 10 colours on er and geo")
    filter: bool = setting(
        True, "keep a graph only when one colour less than greedy colouring needs (3 to 10) is in range; else draw the number of colours"
    )

    def __post_init__(self) -> None:
        if self.vertices[0] < 2:
            raise ModelError(f"coloring parameter 'vertices' must start from 2, not {self.vertices[0]}")
        if self.colors[0] < 1:
            raise ModelError(f"coloring parameter 'colors' must start from 1, not {self.colors[0]}")
        if self.kinds is not None and not self.kinds:
            raise ModelError("coloring parameter 'kinds' must name at least one of er, ba and geo")
        if self.filter and (self.colors[1] < 3 or self.colors[0] > 10):
            low, high = self.colors
            raise ModelError(f"coloring: the filter only ever keeps graphs for 3 to 10 colours, not {low} to {high}; set filter = false")

    @property
    def drawn(self) -> tuple[Kind, ...]:
        """The kinds of graph, default filled in."""
        return self.kinds or (("er", "ba", "geo") if self.colors[0] < 10 else ("er", "geo"))


@lru_cache(maxsize=64)
def _shared(n: int, colors: int) -> dict[str, Any]:
    """What all graphs with as many vertices and colours have in common."""
    return {
        "domain": torch.ones(n, colors, dtype=torch.bool),
        "given": torch.full((n,), -1),
        "positions": torch.arange(n)[:, None],
        "value_labels": tuple(range(1, colors + 1)),
        "variable_labels": tuple(range(1, n + 1)),
        "family": "coloring",
    }


def problem(n: int, edges: graphs.Edges, colors: int, info: dict[str, Any], matrix: graphs.Adjacency | None = None) -> CSP:
    """The CSP of a graph: one `not_equal` per edge. A matrix of the same graph, where there is one, gives the constraint graph cheaply.

    >>> problem(3, np.array([[0, 1], [1, 2]]), 2, {}).violations(torch.tensor([[0, 1, 1]])).tolist()
    [[1]]
    """
    count = len(edges)
    constraint = NotEqual(
        members=torch.from_numpy(edges.reshape(-1)),
        group=torch.from_numpy(np.arange(2 * count) // 2),
        weight=torch.ones(count, dtype=torch.float64),
        soft=torch.zeros(count, dtype=torch.bool),
        equal=torch.zeros(count, dtype=torch.bool),
    )
    csp = CSP(constraints=(constraint,) if count else (), info=info, **_shared(n, colors))
    if matrix is not None:
        ends = np.nonzero(matrix | np.eye(n, dtype=bool))  # already in the order that `Graph` wants
        csp.__dict__["graph"] = Graph(torch.from_numpy(np.stack(ends)), (n,))
    return csp


class Coloring(Family[ColoringParams]):
    """Erdős–Rényi (p in [0.1, 0.3]), Barabási–Albert (m in 2..10) and geometric (radius in [0.15, 0.3]) graphs, as in the paper."""

    name = "coloring"
    params = ColoringParams

    def draw(self, rng: np.random.Generator, count: int, params: ColoringParams) -> list[CSP]:
        found: list[CSP] = []
        dropped, (low, high) = 0, params.colors
        while len(found) < count:
            kinds, sizes, matrices = _candidates(params, count - len(found), rng)
            if params.filter:
                colors = [max(3, min(10, max(colouring))) for colouring in graphs.largest_first(matrices)]  # the largest is greedy - 1
            else:
                colors = rng.integers(low, high, len(sizes), endpoint=True).tolist()
            right = [index for index, k in enumerate(colors) if low <= k <= high][: count - len(found)]
            dropped = 0 if right else dropped + len(sizes)
            for index in right:
                n = sizes[index]
                matrix = matrices[index, :n, :n]
                found.append(problem(n, graphs.edges_of(matrix), colors[index], {"kind": kinds[index]}, matrix))
            if dropped >= _PATIENCE:
                raise ModelError(
                    f"coloring: none of {dropped} random graphs with {_span(params.vertices)} vertices ({', '.join(params.drawn)}) "
                    f"is right for {_span(params.colors)} colours; ask for other vertices, colors or kinds, or set filter = false"
                )
        return found


def _candidates(params: ColoringParams, wanted: int, rng: np.random.Generator) -> tuple[list[str], list[int], graphs.Adjacency]:
    """Kinds, sizes and matrices of random graphs; more than wanted, because many will be dropped."""
    widest = params.vertices[1]
    room = max(1, 4_000_000 // widest**2)  # matrices that are no burden for memory
    count = min(128, room, max(16, 5 * wanted) if params.filter else wanted)
    sizes = rng.integers(params.vertices[0], widest, count, endpoint=True)
    kind = rng.integers(len(params.drawn), size=count)
    matrices = np.zeros((count, widest, widest), dtype=bool)
    for index, name in enumerate(params.drawn):
        own = np.flatnonzero(kind == index)
        if len(own):
            drawn = _draw(name, sizes[own], rng)
            matrices[own, : drawn.shape[1], : drawn.shape[1]] = drawn
    return [params.drawn[index] for index in kind], sizes.tolist(), matrices


def _span(pair: tuple[int, int]) -> str:
    return str(pair[0]) if pair[0] == pair[1] else f"{pair[0]} to {pair[1]}"

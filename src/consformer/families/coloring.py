"""Graph colouring: vertices joined by an edge take different colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, Literal

import numpy as np
import torch

from consformer.constraints.not_equal import NotEqual
from consformer.csp import CSP, check_size
from consformer.errors import InputError, ModelError
from consformer.families import graphs
from consformer.families.base import Family, Params, by_name, entries, setting
from consformer.families.drawing import View
from consformer.formats.payloads import GraphData
from consformer.graph import Graph

Kind = Literal["er", "ba", "geo"]
_PATIENCE = 20_000  # graphs of 50 vertices that may be dropped in a row before the parameters are called impossible; fewer larger ones


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
        check_size(self.vertices[1], self.colors[1])
        if self.filter and (self.colors[1] < 3 or self.colors[0] > 10):
            low, high = self.colors
            raise ModelError(
                f"coloring: the filter only ever keeps graphs for 3 to 10 colours, not {low} to {high}; set filter = false (--no-filter)"
            )

    @property
    def drawn(self) -> tuple[Kind, ...]:
        """The kinds of graph, default filled in."""
        return self.kinds or (("er", "ba", "geo") if self.colors[0] < 10 else ("er", "geo"))


@lru_cache(maxsize=256)
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
    constraints = (NotEqual.of(torch.from_numpy(edges)),) if len(edges) else ()
    csp = CSP(constraints=constraints, info=info, **_shared(n, colors))
    if matrix is not None:
        ends = np.nonzero(matrix | np.eye(n, dtype=bool))  # already in the order that `Graph` wants
        csp.__dict__["graph"] = Graph(torch.from_numpy(np.stack(ends)), (n,))
    return csp


class Coloring(Family[ColoringParams]):
    """Erdős–Rényi (p in [0.1, 0.3]), Barabási–Albert (m in 2..10) and geometric (radius in [0.15, 0.3]) graphs, as in the paper.

    About 0.6 ms for a graph of 50 vertices and 5 colours, the three in four that the filter drops included (see docs/data.md).
    """

    name = "coloring"
    params = ColoringParams
    accepts = (GraphData,)
    options = {"colors": "number of colours; default: what the file says, else as many as greedy colouring needs"}

    def _draw(self, rng: np.random.Generator, count: int, params: ColoringParams) -> list[CSP]:
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
            if dropped * max(1, params.vertices[1] // 50) >= _PATIENCE:
                raise ModelError(
                    f"coloring: none of {dropped} random graphs with {_span(params.vertices)} vertices ({', '.join(params.drawn)}) "
                    f"is right for {_span(params.colors)} colours; ask for other vertices, colors or kinds, "
                    "or set filter = false (--no-filter)"
                )
        return found

    def _build(self, payload: GraphData, **options: Any) -> CSP:
        loops = np.flatnonzero(payload.edges[:, 0] == payload.edges[:, 1])
        if len(loops):
            vertex, line = int(payload.edges[loops[0], 0]) + 1, int(payload.lines[loops[0]])
            raise InputError(
                f"vertex {vertex} has an edge to itself: it cannot differ from itself, so no colouring exists; remove it", line=line
            )
        colors = options.get("colors")
        if colors is None:
            colors = payload.colors
        if colors is None:
            colors = max(graphs.largest_first_of(payload.n, payload.edges)) + 1
        if not isinstance(colors, int) or isinstance(colors, bool) or colors < 1:
            raise ModelError(f"coloring option 'colors' must be a whole number from 1, not {colors!r}")
        check_size(payload.n, colors)
        return problem(payload.n, payload.edges, colors, {})

    def fits(self, csp: CSP) -> bool:
        return all(isinstance(constraint, NotEqual) and not constraint.equal.any() for constraint in csp.constraints)

    def view(self, csp: CSP, values: Sequence[int] | None = None) -> View:
        shown, edges = entries(csp, values), edges_of(csp)
        clash = [values is not None and values[one] == values[two] for one, two in edges]
        return {
            "type": "graph",
            "value": "colour",
            "summary": f"{csp.n} vertices, {len(edges)} edges, {csp.m} colours",
            "vertices": [{"label": str(csp.name(index)), **entry} for index, entry in enumerate(shown)],
            "edges": [{"ends": ends, "weight": 1.0, "mark": "conflict" if bad else ""} for ends, bad in zip(edges, clash, strict=True)],
        }

    def answer(self, csp: CSP, values: Sequence[int]) -> dict[str, Any]:
        return {"colors": by_name(csp, values)}

    def pack(self, csp: CSP) -> Any:
        return {"n": csp.n, "colors": csp.m, "kind": csp.info.get("kind"), "edges": list(chain.from_iterable(edges_of(csp)))}

    def unpack(self, data: Any) -> CSP:
        edges = np.array(data["edges"], dtype=np.int64).reshape(-1, 2)
        return problem(data["n"], edges, data["colors"], {"kind": data["kind"]})

    def write(self, csps: Sequence[CSP]) -> str:
        """A single graph as DIMACS `.col`, the number of colours in a comment that is read again; several as JSON lines."""
        if len(csps) != 1 or bool((csps[0].given >= 0).any()):
            return super().write(csps)
        (csp,) = csps
        edges = edges_of(csp)
        lines = [f"c to be coloured with {csp.m} colours", f"p edge {csp.n} {len(edges)}"]
        return "\n".join([*lines, *(f"e {one + 1} {two + 1}" for one, two in edges)]) + "\n"


def edges_of(csp: CSP) -> list[list[int]]:
    """The edges of a graph problem, in the order of its constraints.

    >>> edges_of(problem(3, np.array([[0, 1], [1, 2]]), 2, {}))
    [[0, 1], [1, 2]]
    """
    return [ends for constraint in csp.constraints for ends in constraint.members.view(-1, 2).tolist()]


def _candidates(params: ColoringParams, wanted: int, rng: np.random.Generator) -> tuple[list[str], list[int], graphs.Adjacency]:
    """Kinds, sizes and matrices of random graphs; more than wanted, because many will be dropped."""
    widest = params.vertices[1]
    count = min(128, graphs.room(widest), max(16, 5 * wanted) if params.filter else wanted)
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

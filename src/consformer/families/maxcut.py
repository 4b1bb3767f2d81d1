"""MAXCUT: split the vertices of a weighted graph in two so that the edges between the sides weigh as much as possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from consformer.constraints.base import plain_number
from consformer.constraints.not_equal import NotEqual
from consformer.csp import CSP, check_size
from consformer.errors import ModelError
from consformer.families import graphs
from consformer.families.base import Family, Params, by_name, entries, setting
from consformer.families.drawing import View
from consformer.formats.payloads import GraphData

Kind = Literal["er", "ba", "regular", "geo", "torus"]


@dataclass(frozen=True)
class MaxcutParams(Params):
    """How graphs to cut are drawn."""

    vertices: tuple[int, int] = setting((100, 100), "range of the number of vertices (a torus may have a few less)")
    density: tuple[float, float] = setting((0.05, 0.15), "range of the share of all possible edges that a graph has (not of a torus)")
    kinds: tuple[Kind, ...] = setting(("er", "ba", "regular"), "random graphs to draw: er, ba, regular, geo, torus")
    weights: Literal["unit", "signed"] = setting("unit", "weights of the edges: all 1 (unit), or 1 and -1 with equal chances (signed)")

    def __post_init__(self) -> None:
        if self.vertices[0] < 9:
            raise ModelError(f"maxcut parameter 'vertices' must start from 9, not {self.vertices[0]}")
        if self.density[0] <= 0 or self.density[1] > 1:
            raise ModelError(f"maxcut parameter 'density' must be above 0 and at most 1, not {self.density[0]} to {self.density[1]}")
        if not self.kinds:
            raise ModelError("maxcut parameter 'kinds' must name at least one of er, ba, regular, geo and torus")
        check_size(self.vertices[1], 2)


@lru_cache(maxsize=64)
def _shared(n: int) -> dict[str, Any]:
    """What all graphs with as many vertices have in common."""
    return {
        "domain": torch.ones(n, 2, dtype=torch.bool),
        "given": torch.full((n,), -1),
        "positions": torch.arange(n)[:, None],
        "value_labels": (0, 1),
        "variable_labels": tuple(range(1, n + 1)),
        "family": "maxcut",
        "maximise": True,
    }


def problem(n: int, edges: graphs.Edges, weights: NDArray[np.float64], info: dict[str, Any]) -> CSP:
    """The CSP of a graph: a soft `not_equal` per edge; an edge of negative weight wants its ends equal. The objective is the cut.

    >>> csp = problem(3, np.array([[0, 1], [1, 2]]), np.array([2.0, -1.0]), {})
    >>> csp.offset - csp.cost(torch.tensor([[0, 1, 1], [0, 1, 0]]))[:, 0]
    tensor([2., 1.], dtype=torch.float64)
    """
    kept = (weights != 0) & (edges[:, 0] != edges[:, 1])  # neither counts in any cut
    edges, weights = edges[kept], weights[kept]
    constraints = (NotEqual.of(torch.from_numpy(edges), weight=torch.from_numpy(weights), soft=True),) if len(edges) else ()
    return CSP(constraints=constraints, info=info, offset=float(weights[weights > 0].sum()), **_shared(n))


class Maxcut(Family[MaxcutParams]):
    """Erdős–Rényi, Barabási–Albert, regular and geometric graphs of a given density, and toroidal grids."""

    name = "maxcut"
    params = MaxcutParams
    accepts = (GraphData,)

    def _draw(self, rng: np.random.Generator, count: int, params: MaxcutParams) -> list[CSP]:
        found: list[CSP] = []
        while len(found) < count:
            for kind, n, edges in _graphs(params, min(count - len(found), graphs.room(params.vertices[1])), rng):
                weights = np.ones(len(edges)) if params.weights == "unit" else rng.choice([-1.0, 1.0], len(edges))
                found.append(problem(n, edges, weights, {"kind": kind}))
        return found

    def _build(self, payload: GraphData, **options: Any) -> CSP:
        return problem(payload.n, payload.edges, payload.weights, {})

    def fits(self, csp: CSP) -> bool:
        return csp.m == 2 and all(isinstance(c, NotEqual) and bool(c.soft.all()) for c in csp.constraints)

    def view(self, csp: CSP, values: Sequence[int] | None = None) -> View:
        shown, (edges, weights) = entries(csp, values), edges_of(csp)
        summary = f"{csp.n} vertices, {len(edges)} edges"
        if values is not None:
            summary += f", cut {plain_number(cut_value(csp, values))}"
        return {
            "type": "graph",
            "value": "side",
            "summary": summary,
            "vertices": [{"label": str(csp.name(index)), **entry} for index, entry in enumerate(shown)],
            "edges": [
                {"ends": [one, two], "weight": weight, "mark": "cut" if values is not None and values[one] != values[two] else ""}
                for (one, two), weight in zip(edges.tolist(), weights.tolist(), strict=True)
            ],
        }

    def answer(self, csp: CSP, values: Sequence[int]) -> dict[str, Any]:
        return {"cut": plain_number(cut_value(csp, values)), "sides": by_name(csp, values)}

    def pack(self, csp: CSP) -> Any:
        edges, weights = edges_of(csp)
        plain = None if bool((weights == 1).all()) else [plain_number(weight) for weight in weights.tolist()]
        return {"n": csp.n, "kind": csp.info.get("kind"), "edges": edges.reshape(-1).tolist(), "weights": plain}

    def unpack(self, data: Any) -> CSP:
        edges = np.array(data["edges"], dtype=np.int64).reshape(-1, 2)
        weights = np.ones(len(edges)) if data["weights"] is None else np.array(data["weights"], dtype=np.float64)
        return problem(data["n"], edges, weights, {"kind": data["kind"]})

    def write(self, csps: Sequence[CSP]) -> str:
        """A single graph as in Gset, several as JSON lines."""
        if len(csps) != 1 or bool((csps[0].given >= 0).any()):
            return super().write(csps)
        edges, weights = edges_of(csps[0])
        rows = [f"{one + 1} {two + 1} {plain_number(w)}" for (one, two), w in zip(edges.tolist(), weights.tolist(), strict=True)]
        return "\n".join([f"{csps[0].n} {len(edges)}", *rows]) + "\n"


def edges_of(csp: CSP) -> tuple[graphs.Edges, NDArray[np.float64]]:
    """The edges [E,2] of a graph problem and their weights [E], as in the graph it came from.

    >>> edges_of(problem(3, np.array([[0, 1], [1, 2]]), np.array([2.0, -1.0]), {}))[1].tolist()
    [2.0, -1.0]
    """
    if not csp.constraints:
        return np.zeros((0, 2), dtype=np.int64), np.zeros(0)
    (constraint,) = csp.constraints
    return constraint.members.view(-1, 2).numpy(), constraint.signed_weight.numpy()


def cut_value(csp: CSP, values: Sequence[int]) -> float:
    """The weight of all edges between the two sides.

    >>> cut_value(problem(3, np.array([[0, 1], [1, 2]]), np.array([2.0, -1.0]), {}), [0, 1, 0])
    1.0
    """
    edges, weights = edges_of(csp)
    sides = np.asarray(values)
    return float(weights[sides[edges[:, 0]] != sides[edges[:, 1]]].sum())


def _graphs(params: MaxcutParams, count: int, rng: np.random.Generator) -> list[tuple[Kind, int, graphs.Edges]]:
    """Kinds, numbers of vertices and edges [E,2] of random graphs, in random order; drawn together for each kind, which is faster."""
    sizes = rng.integers(*params.vertices, count, endpoint=True)
    density = rng.uniform(*params.density, count)
    chosen = rng.integers(len(params.kinds), size=count)
    found: list[tuple[int, Kind, int, graphs.Edges]] = []
    for index, kind in enumerate(params.kinds):
        own = np.flatnonzero(chosen == index)
        if len(own):
            drawn = _of_kind(kind, sizes[own], density[own], rng)
            found += [(place, kind, n, edges) for place, (n, edges) in zip(own.tolist(), drawn, strict=True)]
    return [(kind, n, edges) for _, kind, n, edges in sorted(found, key=lambda graph: graph[0])]


def _of_kind(kind: Kind, sizes: graphs.Sizes, density: NDArray[np.float64], rng: np.random.Generator) -> list[tuple[int, graphs.Edges]]:
    if kind == "torus":
        rows = [int(rng.integers(3, int(n**0.5), endpoint=True)) for n in sizes]
        return [(r * (n // r), graphs.torus(r, n // r)) for r, n in zip(rows, sizes.tolist(), strict=True)]
    if kind == "regular":
        degrees = np.clip(np.round(density * (sizes - 1)), 1, sizes - 1).astype(np.int64)
        degrees -= sizes * degrees % 2  # the number of ends is even
        pairs = zip(sizes.tolist(), degrees.tolist(), strict=True)
        return [(n, graphs.edges_of(graphs.random_regular(n, degree, rng))) for n, degree in pairs]
    if kind == "er":
        matrices = graphs.erdos_renyi(sizes, density, rng)
    elif kind == "ba":  # of (n - m) m edges
        matrices = graphs.barabasi_albert(sizes, np.clip(np.round(density * sizes / 2), 1, sizes - 1).astype(np.int64), rng)
    else:  # the border of the unit square cuts off some of a disc
        matrices = graphs.random_geometric(sizes, (density / np.pi) ** 0.5, rng)
    return [(n, graphs.edges_of(matrix)) for n, matrix in zip(sizes.tolist(), matrices, strict=True)]

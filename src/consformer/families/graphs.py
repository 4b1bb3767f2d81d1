"""Random graphs and greedy colouring, fast enough to draw fresh graphs for every training step.

Graphs are adjacency matrices (bool, symmetric, no loops), drawn by the same processes as in NetworkX but in batches [B,n,n];
a graph smaller than the widest of its batch is padded with isolated vertices.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from consformer.errors import ModelError

Adjacency = NDArray[np.bool_]
Edges = NDArray[np.int64]  # [E,2]
Sizes = NDArray[np.int64]  # [B] numbers of vertices


def erdos_renyi(sizes: Sizes, p: NDArray[np.float64], rng: np.random.Generator) -> Adjacency:
    """Every edge with probability p.

    >>> erdos_renyi(np.array([3, 5]), np.array([1.0, 1.0]), np.random.default_rng(0)).sum((1, 2)).tolist()
    [6, 20]
    """
    widest = int(sizes.max())
    upper = np.triu(rng.random((len(sizes), widest, widest), dtype=np.float32) < p[:, None, None], 1)
    return _cut(upper | upper.transpose(0, 2, 1), sizes)


def barabasi_albert(sizes: Sizes, m: NDArray[np.int64], rng: np.random.Generator) -> Adjacency:
    """Preferential attachment: from a star of m + 1 vertices, every further vertex joins m distinct ones, drawn by degree.

    >>> barabasi_albert(np.array([20, 10]), np.array([3, 1]), np.random.default_rng(0)).sum((1, 2)).tolist()  # (n - m) m edges
    [102, 18]
    """
    if (m < 1).any() or (m >= sizes).any():
        raise ModelError("a Barabási–Albert graph of n vertices needs 1 <= m < n")
    count, widest = len(sizes), int(sizes.max())
    batch = np.arange(count)
    joined = np.zeros((count, widest, widest), dtype=bool)
    joined[:, 0, :] = np.arange(widest) <= m[:, None]
    joined[:, 0, 0] = False
    joined |= joined.transpose(0, 2, 1)
    degree = joined.sum(1, dtype=np.float32)
    with np.errstate(divide="ignore"):
        for new in range(int(m.min()) + 1, widest):
            # The m smallest of exponential times over degree are m draws by degree without repetition.
            time = rng.standard_exponential((count, new), dtype=np.float32) / degree[:, :new]
            last = np.sort(time, axis=1)[batch, np.minimum(m, new) - 1]
            chosen = (time <= last[:, None]) & (new > m)[:, None]
            joined[:, new, :new] |= chosen
            joined[:, :new, new] |= chosen
            degree[:, :new] += chosen
            degree[:, new] = np.where(new > m, m, degree[:, new])
    return _cut(joined, sizes)  # the first vertices of a longer run are a shorter run


def random_geometric(sizes: Sizes, radius: NDArray[np.float64], rng: np.random.Generator) -> Adjacency:
    """Points in the unit square, joined when no farther apart than `radius`.

    >>> random_geometric(np.array([5]), np.array([2.0]), np.random.default_rng(0)).sum((1, 2)).tolist()
    [20]
    """
    widest = int(sizes.max())
    x, y = rng.random((2, len(sizes), widest))
    square = (x[:, :, None] - x[:, None, :]) ** 2 + (y[:, :, None] - y[:, None, :]) ** 2
    near = square <= radius[:, None, None] ** 2
    near[:, np.arange(widest), np.arange(widest)] = False
    return _cut(near, sizes)


def room(n: int) -> int:
    """How many matrices of n vertices are no burden for memory at once.

    >>> room(1000)
    4
    """
    return max(1, 4_000_000 // n**2)


def _cut(matrices: Adjacency, sizes: Sizes) -> Adjacency:
    """Without edges of vertices that only pad a graph to the widest."""
    if sizes.min() < matrices.shape[1]:
        inside = np.arange(matrices.shape[1]) < sizes[:, None]
        matrices &= inside[:, :, None] & inside[:, None, :]
    return matrices


def random_regular(n: int, degree: int, rng: np.random.Generator) -> Adjacency:
    """One graph [n,n] whose vertices all have the same degree: ends are joined at random, and those that clash are drawn again.

    >>> set(random_regular(10, 3, np.random.default_rng(0)).sum(0).tolist())
    {3}
    """
    if not 0 <= degree < n or n * degree % 2:
        raise ModelError(f"a regular graph of {n} vertices needs a degree below {n} with an even number of ends, not {degree}")
    if degree > (n - 1) // 2:  # a dense graph is the complement of a sparse one
        return ~(random_regular(n, n - 1 - degree, rng) | np.eye(n, dtype=bool))
    while True:
        joined = np.zeros((n, n), dtype=bool)
        ends = np.repeat(np.arange(n), degree)
        while True:
            rest: list[int] = []
            for one, two in rng.permutation(ends).reshape(-1, 2).tolist():
                if one == two or joined[one, two]:
                    rest += [one, two]
                else:
                    joined[one, two] = joined[two, one] = True
            if not rest:
                return joined
            left = np.unique(rest)
            if joined[np.ix_(left, left)].sum() == len(left) * (len(left) - 1):
                break  # whoever is left is joined already: start again
            ends = np.array(rest)


def torus(rows: int, columns: int) -> Edges:
    """A grid whose opposite borders are joined.

    >>> len(torus(3, 4))
    24
    """
    cell = np.arange(rows * columns).reshape(rows, columns)
    ends = np.stack([np.stack([cell, np.roll(cell, -1, axis)], -1).reshape(-1, 2) for axis in (0, 1)]).reshape(-1, 2)
    return np.unique(np.sort(ends, axis=1), axis=0)


def edges_of(matrix: Adjacency) -> Edges:
    """The edges of a matrix, [E,2], smaller vertex first, sorted.

    >>> edges_of(np.eye(3, dtype=bool)[[1, 0, 2]]).tolist()
    [[0, 1]]
    """
    return np.argwhere(np.triu(matrix, 1))


def largest_first(matrices: Adjacency) -> list[list[int]]:
    """Greedy colouring of graphs [B,n,n], vertices of high degree first; the colours are those of `networkx.greedy_color`.

    >>> largest_first(np.ones((1, 3, 3), dtype=bool) & ~np.eye(3, dtype=bool))
    [[0, 1, 2]]
    """
    n = matrices.shape[1]
    order = np.argsort(-matrices.sum(2), axis=1, kind="stable").tolist()
    packed = np.packbits(matrices, axis=2, bitorder="little")
    width, data = packed.shape[2], packed.tobytes()
    masks = [int.from_bytes(data[start : start + width], "little") for start in range(0, len(data), width)]
    return [_greedy(masks[index * n : (index + 1) * n], vertices) for index, vertices in enumerate(order)]


def largest_first_of(n: int, edges: Edges) -> list[int]:
    """The same for one graph given by its edges, each once: for large graphs from files, in memory linear in the edges.

    >>> largest_first_of(4, np.array([[0, 1], [1, 2]]))
    [1, 0, 1, 0]
    """
    ends = np.concatenate([edges, edges[:, ::-1]])
    neighbours = ends[np.argsort(ends[:, 0], kind="stable"), 1]  # of vertex 0, then those of vertex 1, ..
    degrees = np.bincount(ends[:, 0], minlength=n)
    stops = np.cumsum(degrees).tolist()
    colours = [-1] * n
    for vertex in np.argsort(-degrees, kind="stable").tolist():
        taken = {colours[other] for other in neighbours[stops[vertex] - degrees[vertex] : stops[vertex]].tolist()}
        colours[vertex] = next(colour for colour in range(len(taken) + 1) if colour not in taken)
    return colours


def _greedy(masks: Sequence[int], order: Sequence[int]) -> list[int]:
    """The first free colour for each vertex in turn; `masks` has the neighbours of every vertex as bits."""
    classes: list[int] = []  # the vertices of each colour so far, as bits
    colours = [0] * len(masks)
    for vertex in order:
        neighbours = masks[vertex]
        for colour, members in enumerate(classes):
            if not members & neighbours:
                classes[colour] = members | 1 << vertex
                colours[vertex] = colour
                break
        else:
            colours[vertex] = len(classes)
            classes.append(1 << vertex)
    return colours

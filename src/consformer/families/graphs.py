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


def _cut(matrices: Adjacency, sizes: Sizes) -> Adjacency:
    """Without edges of vertices that only pad a graph to the widest."""
    if sizes.min() < matrices.shape[1]:
        inside = np.arange(matrices.shape[1]) < sizes[:, None]
        matrices &= inside[:, :, None] & inside[:, None, :]
    return matrices


def random_regular(n: int, degree: int, rng: np.random.Generator) -> Adjacency:
    """Every vertex has the same degree: stubs are joined at random, and those that clash are drawn again.

    >>> set(random_regular(10, 3, np.random.default_rng(0)).sum(0).tolist())
    {3}
    """
    if not 0 <= degree < n or n * degree % 2:
        raise ModelError(f"a regular graph of {n} vertices needs a degree below {n} with an even number of ends, not {degree}")
    if degree > (n - 1) // 2:  # a dense graph is the complement of a sparse one
        sparse = random_regular(n, n - 1 - degree, rng)
        return ~(sparse | np.eye(n, dtype=bool))
    while True:
        joined = np.zeros((n, n), dtype=bool)
        stubs = np.repeat(np.arange(n), degree)
        for _ in range(1000):
            one, two = rng.permutation(stubs).reshape(-1, 2).T
            rest = []
            for i, k in zip(one.tolist(), two.tolist(), strict=True):
                if i == k or joined[i, k]:
                    rest += [i, k]
                else:
                    joined[i, k] = joined[k, i] = True
            if not rest:
                return joined
            if len(rest) == len(stubs) and not _can_join(rest, joined):
                break  # stuck: start again
            stubs = np.array(rest)


def _can_join(stubs: Sequence[int], joined: Adjacency) -> bool:
    left = sorted(set(stubs))
    return any(i != k and not joined[i, k] for i in left for k in left)


def adjacency(n: int, edges: Edges) -> Adjacency:
    """The matrix of an edge list."""
    matrix = np.zeros((n, n), dtype=bool)
    matrix[edges[:, 0], edges[:, 1]] = matrix[edges[:, 1], edges[:, 0]] = True
    return matrix


def edges_of(matrix: Adjacency) -> Edges:
    """The edges of a matrix, [E,2], smaller vertex first, sorted.

    >>> edges_of(adjacency(3, np.array([[2, 0], [1, 2]]))).tolist()
    [[0, 2], [1, 2]]
    """
    return np.argwhere(np.triu(matrix, 1))


def largest_first(matrices: Adjacency) -> list[list[int]]:
    """Greedy colouring of graphs [B,n,n], vertices of high degree first; the colours are those of `networkx.greedy_color`.

    >>> largest_first(np.ones((1, 3, 3), dtype=bool) & ~np.eye(3, dtype=bool))
    [[0, 1, 2]]
    """
    count, n, _ = matrices.shape
    order = np.argsort(-matrices.sum(2), axis=1, kind="stable").tolist()
    packed = np.packbits(matrices, axis=2, bitorder="little")
    width, data = packed.shape[2], packed.tobytes()
    colourings = []
    for index in range(count):
        classes: list[int] = []  # the vertices of each colour so far, as bits
        colours = [0] * n
        for vertex in order[index]:
            start = (index * n + vertex) * width
            neighbours = int.from_bytes(data[start : start + width], "little")
            for colour, members in enumerate(classes):
                if not members & neighbours:
                    classes[colour] = members | 1 << vertex
                    colours[vertex] = colour
                    break
            else:
                colours[vertex] = len(classes)
                classes.append(1 << vertex)
        colourings.append(colours)
    return colourings

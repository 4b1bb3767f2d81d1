"""Rivals that know graphs: colouring by NetworkX and gcol."""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

from consformer.baselines.base import Answer, Rival
from consformer.constraints.not_equal import NotEqual
from consformer.csp import CSP
from consformer.families.maxcut import edges_of

ENDLESS = 10**9  # iterations: the clock ends it


@dataclass(frozen=True)
class Greedy(Rival):
    """Greedy colouring: one vertex after the other gets the first colour that is free.

    >>> from consformer.families.coloring import problem
    >>> import numpy as np
    >>> list(Greedy().solve(problem(3, np.array([[0, 1], [1, 2]]), 2, {}), 1.0, 0).values)
    [1, 0, 1]
    """

    name: str = "greedy-largest-first"
    title: str = "NetworkX greedy, largest first"
    package: str = "networkx"
    module: str = "networkx"
    strategy: str = "largest_first"

    def solve(self, csp: CSP, seconds: float, seed: int) -> Answer:
        import networkx

        colours = networkx.greedy_color(graph_of(csp), strategy=self.strategy)
        return Answer([colours[vertex] for vertex in range(csp.n)] if max(colours.values(), default=0) < csp.m else None)


@dataclass(frozen=True)
class TabuCol(Rival):
    """gcol's TabuCol, from a DSATUR colouring down to as many colours as there are."""

    single = True

    name: str = "tabucol"
    title: str = "gcol TabuCol (1 thread)"
    package: str = "gcol"
    module: str = "gcol"

    def declines(self, csp: CSP) -> str | None:
        plain = not csp.soft_weight and bool(csp.free.all()) and bool(csp.domain.all())
        differ = all(isinstance(constraint, NotEqual) and not bool(constraint.equal.any()) for constraint in csp.constraints)
        return None if plain and differ else "not run: colours plain graphs only"

    def solve(self, csp: CSP, seconds: float, seed: int) -> Answer:
        import gcol

        random.seed(seed)  # gcol draws from nothing else
        try:
            with stopping(seconds):
                colours = gcol.node_k_coloring(graph_of(csp), csp.m, opt_alg=2, it_limit=ENDLESS)
        except TimeoutError:
            return Answer(None)
        except ValueError as error:
            if "clique" in str(error):  # it looks for one first
                return Answer(None, "infeasible")
            raise
        return Answer([colours[vertex] for vertex in range(csp.n)])


def graph_of(csp: CSP) -> Any:
    """The NetworkX graph of a problem whose only constraints are differences; weights are those of the edges."""
    import networkx

    edges, weights = edges_of(csp)
    graph = networkx.Graph()
    graph.add_nodes_from(range(csp.n))
    graph.add_weighted_edges_from((one, two, weight) for (one, two), weight in zip(edges.tolist(), weights.tolist(), strict=True))
    return graph


@contextmanager
def stopping(seconds: float) -> Iterator[None]:
    """`TimeoutError` in the middle of what a library in plain Python does; only in the main thread of a process."""

    def stop(signum: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)

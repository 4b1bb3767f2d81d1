"""What tests of the refinement share."""

from __future__ import annotations

from typing import Any

from consformer.csp import CSP
from consformer.networks import Network
from consformer.search.refine import Event, Refinement, SearchSettings
from tests.helpers import gibbs, problem


def run(problems: list[CSP], network: Network | None = None, **settings: Any) -> tuple[Refinement, list[Event]]:
    refinement = Refinement(problems, network or gibbs(), SearchSettings(**settings))
    return refinement, list(refinement)


def values_of(refinement: Refinement) -> list[list[int]]:
    return [found.values for found in refinement.incumbents if found is not None]


def cut(n: int = 12) -> CSP:
    """MAXCUT of a graph with odd cycles: no assignment is free of cost."""
    edges = [(i, (i + d) % n) for i in range(n) for d in (1, 2)]
    return problem([{"kind": "not_equal", "scope": list(edge), "soft": True, "weight": 1.0} for edge in edges], n=n, m=2)

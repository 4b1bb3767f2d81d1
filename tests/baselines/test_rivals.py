from __future__ import annotations

import importlib.util
import itertools
import time
from typing import Any

import numpy as np
import pytest

from consformer import checker, families
from consformer.baselines import COLOURING, CUTTING
from consformer.baselines.base import Rival
from consformer.baselines.cpsat import FEASIBILITY_JUMP, RANDOM_SEARCH
from consformer.baselines.cuts import DWaveTabu, GoemansWilliamson, relaxation
from consformer.baselines.graphs import TabuCol
from consformer.csp import CSP
from consformer.families import coloring, maxcut
from tests.helpers import cycle, impossible, problem

CLIQUE = np.array([(one, two) for one in range(5) for two in range(one)])


def needs(rival: Rival) -> Any:
    return pytest.param(rival, marks=pytest.mark.skipif(rival.missing is not None, reason=str(rival.missing)), id=rival.name)


def drawn(family: str, **params: object) -> CSP:
    (csp,) = families.get(family).generate(np.random.default_rng(7), 1, params)
    return csp


@pytest.mark.parametrize("rival", [needs(rival) for rival in COLOURING])
def test_colourings_are_proper(rival: Rival) -> None:
    csp = drawn("coloring", vertices=[20, 20], colors=[8, 8], filter=False)
    values = rival.solve(csp, 5.0, 0).values
    assert values is not None
    assert checker.check(csp, list(values)).solved


@pytest.mark.parametrize("rival", [needs(rival) for rival in COLOURING])
def test_what_cannot_be_coloured_is_not(rival: Rival) -> None:
    answer = rival.solve(coloring.problem(5, CLIQUE, 4, {}), 1.0, 0)
    assert answer.values is None
    assert answer.proof in (None, "infeasible")


@pytest.mark.parametrize("rival", [needs(rival) for rival in CUTTING])
def test_cuts_are_counted_as_they_are(rival: Rival) -> None:
    csp = drawn("maxcut", vertices=[12, 12], density=[0.3, 0.3], weights="signed")
    answer = rival.solve(csp, 0.3 if rival.package == "dwave-samplers" else 20.0, 0)  # the others end by themselves
    assert answer.values is not None
    cut = maxcut.cut_value(csp, answer.values)
    assert cut == checker.check(csp, list(answer.values)).objective
    assert all(one[0] <= two[0] and one[1] <= two[1] for one, two in zip(answer.way, answer.way[1:], strict=False))
    assert not answer.way or answer.way[-1][1] == pytest.approx(cut)
    best = max(maxcut.cut_value(csp, sides) for sides in itertools.product((0, 1), repeat=csp.n) if sides[0] == 0)
    assert (0.0 if rival.name == "greedy" else 0.87) * best <= cut <= best


def test_the_relaxation_bounds_the_cut() -> None:
    pytest.importorskip("scs")
    edges = np.array([(vertex, (vertex + 1) % 5) for vertex in range(5)])
    csp = maxcut.problem(5, edges, np.ones(5), {})
    matrix = relaxation(csp, 10.0)
    assert np.diag(matrix) == pytest.approx(np.ones(5), abs=1e-3)
    bound = sum((1 - matrix[one, two]) / 2 for one, two in edges)
    assert bound == pytest.approx(5 * (1 - np.cos(4 * np.pi / 5)) / 2, abs=1e-2)  # known for a pentagon; its largest cut is 4


def test_too_large_ones_are_declined() -> None:
    large = maxcut.problem(6000, np.array([(0, 1)]), np.ones(1), {})
    assert GoemansWilliamson().declines(large) == "not run: more than 1,000 vertices"
    assert DWaveTabu().declines(large) == "not run: more than 5,000 vertices"
    assert GoemansWilliamson().declines(cycle(4, 2)) is None


def test_tabucol_ends_in_time() -> None:
    pytest.importorskip("gcol")
    csp = drawn("coloring", vertices=[120, 120], colors=[3, 3], kinds=["er"], filter=False)
    edges, _ = maxcut.edges_of(csp)
    began = time.perf_counter()
    answer = TabuCol().solve(coloring.problem(120, edges, 7, {}), 0.3, 0)
    assert answer.values is None
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize("rival", (FEASIBILITY_JUMP, RANDOM_SEARCH))
def test_parts_of_cpsat_are_used_alone(rival: Rival) -> None:
    """Whose solution it is stands in CP-SAT's log."""
    answer = rival.solve(drawn("coloring", vertices=[50, 50], colors=[9, 9], filter=False), 5.0, 0)
    assert answer.values is not None


def test_missing_packages_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consformer.baselines.base.find_spec", lambda name: None)
    assert TabuCol().missing == "not installed: pip install gcol"
    monkeypatch.undo()
    assert importlib.util.find_spec("numpy") is not None


def test_tabucol_colours_plain_graphs_only() -> None:
    assert TabuCol().declines(cycle(5, 3)) is None
    fixed = problem([{"kind": "not_equal", "scope": [0, 1]}], n=2, m=2, given={0: 1})
    equal = problem([{"kind": "not_equal", "scope": [0, 1], "weight": -1.0}], n=2, m=2)
    for csp in (impossible(), fixed, equal):
        assert TabuCol().declines(csp) == "not run: colours plain graphs only"

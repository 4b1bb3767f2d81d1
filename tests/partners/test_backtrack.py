from __future__ import annotations

import itertools
import time
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from consformer import families
from consformer.checker import check
from consformer.compiled import backtrack as kernels
from consformer.csp import CSP
from consformer.errors import ModelError
from consformer.partners.backtrack import Backtracking, _alike
from tests.helpers import coloring, cycle, impossible, problem, random_csp


def solvable(csp: CSP) -> bool:
    """By looking at every assignment."""
    choices = [[int(given)] if given >= 0 else row.nonzero()[:, 0].tolist() for row, given in zip(csp.domain, csp.given, strict=True)]
    return bool((csp.violations(torch.tensor(list(itertools.product(*choices)))) == 0).any())


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6))
def test_right_about_every_small_problem(seed: int) -> None:
    csp = random_csp(seed, kinds=("all_different", "not_equal"), soft=False)
    if any(bool(getattr(constraint, "equal", torch.tensor(False)).any()) for constraint in csp.constraints):
        assert not Backtracking.fits(csp)
        return
    search = Backtracking(csp, seed)
    assert search.run() == ("solved" if solvable(csp) else "infeasible")
    if search.status == "solved":
        assert check(csp, search.values).solved


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_interchangeable_values_are_tried_once_and_nothing_is_missed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(4, 8)), int(rng.integers(2, 4))
    edges = [(i, j) for i in range(n) for j in range(i) if rng.random() < 0.6]
    csp = coloring(edges, n=n, m=m)
    assert Backtracking(csp, seed).run() == ("solved" if solvable(csp) else "infeasible")


def test_an_odd_cycle_has_no_two_colouring_and_few_nodes_show_it() -> None:
    search = Backtracking(cycle(31, 2))
    assert search.run(nodes=3) == "infeasible"
    with pytest.raises(ModelError, match="no solution yet"):
        _ = search.values


def test_boards_and_rosters() -> None:
    rng = np.random.default_rng(0)
    for family, params in (("sudoku", {"givens": [24, 26], "unique": True}), ("nurse", {"days": [10, 10]}), ("latin", {})):
        (csp,) = families.get(family).generate(rng, 1, params)
        search = Backtracking(csp)
        assert search.run(nodes=20_000) == "solved"
        assert check(csp, search.values).solved
        assert all(int(given) in (-1, value) for given, value in zip(csp.given, search.values, strict=True))


def test_contradicting_givens() -> None:
    csp = problem([{"kind": "not_equal", "scope": [0, 1]}], n=2, m=3, given={0: 1, 1: 1})
    assert Backtracking(csp).run() == "infeasible"
    assert Backtracking(impossible()).run() == "infeasible"


def test_goes_on_where_it_stopped_and_is_reproducible() -> None:
    (csp,) = families.get("coloring").generate(np.random.default_rng(1), 1, {"vertices": [100, 100], "colors": [10, 10]})
    whole, pieces = Backtracking(csp, 3), Backtracking(csp, 3)
    whole.run(nodes=2000)
    for _ in range(20):
        pieces.run(nodes=100)
    assert whole.status == pieces.status
    assert whole.nodes >= 1
    if whole.status == "solved":
        assert whole.values == pieces.values


def test_stops_when_told() -> None:
    csp = coloring([(i, j) for i in range(60) for j in range(i) if (i * j) % 7], n=60, m=9)
    search = Backtracking(csp)
    began = time.perf_counter()
    search.run(seconds=0)
    search.run(seconds=60, stop=lambda: True)
    assert time.perf_counter() - began < 30
    assert search.nodes == 0


@pytest.mark.parametrize("n, m", [(1, 1), (1, 3), (0, 2), (3, 1)])
def test_without_constraints(n: int, m: int) -> None:
    search = Backtracking(problem([], n=n, m=m))
    assert search.run() == "solved"
    assert len(search.values) == n


def test_what_it_does_not_take() -> None:
    soft = problem([{"kind": "not_equal", "scope": [0, 1], "soft": True}], n=2, m=2)
    counted = problem([{"kind": "cardinality", "scope": [0, 1], "value": 0, "count": 1}], n=2, m=2)
    equal = problem([{"kind": "not_equal", "scope": [0, 1], "weight": -1.0}], n=2, m=2)
    wide = problem([], n=1, m=65)
    for csp in (soft, counted, equal, wide, CSP.union([cycle(3, 3), cycle(4, 3)])):
        assert not Backtracking.fits(csp)
        with pytest.raises(ModelError, match="backtracking takes single problems"):
            Backtracking(csp)


def test_64_values_use_the_whole_word() -> None:
    csp = problem([{"kind": "all_different", "scope": list(range(64))}], n=64, m=64, given={0: 63})
    search = Backtracking(csp)
    assert search.run() == "solved"
    assert sorted(search.values) == list(range(64))


def test_compiled_and_plain_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    csp = coloring([(i, j) for i in range(12) for j in range(i) if (i + 2 * j) % 3], n=12, m=4)
    compiled = Backtracking(csp, 5)
    compiled.run(nodes=50)
    for name in ("_count", "_random", "assign", "advance"):
        monkeypatch.setattr(kernels, name, getattr(kernels, name).py_func)
    plain = Backtracking(csp, 5)
    with np.errstate(over="ignore"):  # words wrap around
        plain.run(nodes=50)
    assert (plain.status, plain.nodes) == (compiled.status, compiled.nodes)
    if plain.status == "solved":
        assert plain.values == compiled.values


@pytest.mark.parametrize("shape", [(4,), (1, 4)], ids=["numpy 1.26 and 2.1", "numpy 2.0"])
def test_values_are_alike_whatever_shape_numpy_gives(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    usual = np.unique

    def unique(columns: NDArray[np.uint64], **options: Any) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        found, kind = usual(columns, **options)
        return found, kind.reshape(shape)

    monkeypatch.setattr(np, "unique", unique)
    domains = np.array([0b0111, 0b0111, 0b1111], np.uint64)  # 3 is allowed to one variable only
    assert _alike(domains, 4).tolist() == [0b0111, 0b0111, 0b0111, 0b1000]

from __future__ import annotations

import itertools
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from consformer.constraints import Record
from consformer.constraints.all_different import AllDifferent
from consformer.csp import CSP
from consformer.partners import clauses
from consformer.partners.clauses import clique, fits, representatives, state
from consformer.partners.differences import allowed, pairs
from consformer.partners.propagation import propagate
from tests.helpers import coloring, cycle, problem


def split(literals: list[int]) -> list[list[int]]:
    found: list[list[int]] = [[]]
    for literal in literals:
        if literal:
            found[-1].append(literal)
        else:
            found.append([])
    assert found.pop() == []
    return found


@st.composite
def differences(draw: st.DrawFn) -> CSP:
    """Small problems of differences: graphs, scopes of any size that may need every value they have, fixed variables, any domains."""
    n, m = draw(st.integers(2, 5)), draw(st.integers(1, 4))
    everyone = list(itertools.combinations(range(n), 2))
    edges = draw(st.lists(st.sampled_from(everyone), max_size=5, unique=True))
    records: list[Record] = [{"kind": "not_equal", "scope": list(edge)} for edge in edges]
    for _ in range(draw(st.integers(0, 2))):
        records.append({"kind": "all_different", "scope": draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))})
    domains = [draw(st.sets(st.integers(0, m - 1), min_size=1)) if draw(st.booleans()) else set(range(m)) for _ in range(n)]
    given = {i: draw(st.sampled_from(sorted(domains[i]))) for i in range(n) if draw(st.integers(0, 5)) == 0}
    forbidden = [(i, v) for i in range(n) for v in range(m) if v not in domains[i]]
    return problem(records, n=n, m=m, given=given, forbidden=forbidden)


def solutions(csp: CSP) -> list[tuple[int, ...]]:
    choices = [np.flatnonzero(row).tolist() for row in allowed(csp)]
    return [values for values in itertools.product(*choices) if not int(csp.violations(torch.tensor([values])).sum())]


def models(csp: CSP) -> set[tuple[int, ...]]:
    """All assignments for which the clauses hold."""
    stated = state(csp)
    number = {(i, v): at + 1 for at, (i, v) in enumerate(zip(stated.variable.tolist(), stated.value.tolist(), strict=True))}
    clauses_of = split(stated.literals.tolist())
    found = set()
    for choice in itertools.product(range(csp.m), repeat=csp.n):
        true = {number.get((i, v), 0) for i, v in enumerate(choice)}
        if 0 not in true and all(any((literal > 0) == (abs(literal) in true) for literal in clause) for clause in clauses_of):
            found.add(choice)
            assert stated.values(np.array(sorted(true), np.int32), csp.n) == list(choice)
    return found


@settings(max_examples=150)
@given(csp=differences())
def test_clauses_hold_for_solutions_only_and_for_one_if_there_is_any(csp: CSP) -> None:
    known = set(solutions(csp))
    reduced = propagate(csp)
    for each in (csp, *([] if reduced.contradiction is not None else [reduced.csp])):
        found = models(each)
        assert found <= known
        assert bool(found) == bool(known)
    if reduced.contradiction is not None:
        assert not known


def test_a_scope_needs_the_values_it_has_and_not_those_of_others() -> None:
    mine, theirs = [(i, v) for i in range(3) for v in (3, 4)], [(i, v) for i in (3, 4) for v in (0, 1, 2)]
    scopes: list[Record] = [{"kind": "all_different", "scope": scope} for scope in ([0, 1, 2], [3, 4])]
    csp = problem(scopes, n=5, m=5, forbidden=[*mine, *theirs])
    assert models(csp)


def test_of_interchangeable_colours_few_assignments_are_left() -> None:
    csp = coloring([(0, 1), (0, 2), (1, 2), (2, 3)], n=4, m=3)
    kept = representatives(allowed(csp), pairs(csp))
    assert [row.sum() for row in kept[[2, 0, 1]]] == [1, 2, 3]  # the triangle
    assert kept[3].all()
    fixed = problem([{"kind": "not_equal", "scope": [0, 1]}], n=2, m=3, given={0: 1})
    assert representatives(allowed(fixed), pairs(fixed))[1].tolist() == [True, True, False]  # 1 is not like the others any more


def test_cliques_are_cliques() -> None:
    rng = np.random.default_rng(0)
    csp = coloring([(i, j) for i in range(30) for j in range(i) if rng.random() < 0.5], n=30, m=3)
    edges = pairs(csp)
    found = clique(30, edges)
    there = set(zip(*edges.tolist(), strict=True))
    assert len(found) >= 5
    assert all((i, j) in there for i in found for j in found if i != j)
    assert clique(2, np.zeros((2, 0), np.int64)) == [0]


def test_what_does_not_fit() -> None:
    assert fits(cycle(5, 3))
    assert not fits(problem([{"kind": "not_equal", "scope": [0, 1], "soft": True}], n=2, m=2))
    assert not fits(problem([{"kind": "cardinality", "scope": [0, 1], "value": 0, "count": 1}], n=2, m=2))
    assert not fits(CSP.union([cycle(5, 3), cycle(4, 3)]))
    assert clauses.MOST_LITERALS < 5 * 2_000 * 2_001
    assert not fits(problem([{"kind": "not_equal", "scope": [0, 1]}], n=5, m=2_000))


def test_what_does_not_fit_is_soon_seen_not_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a list of all pairs of a scope."""
    n = 5_000
    domain = torch.zeros(n, n, dtype=torch.bool)
    domain[:, :10] = True
    csp = replace(problem([{"kind": "all_different", "scope": list(range(n))}], n=n, m=n), domain=domain)
    monkeypatch.setattr(AllDifferent, "differences", None)
    monkeypatch.setattr(AllDifferent, "pairs", None)
    assert not fits(csp)


def test_many_values_of_which_each_variable_has_few() -> None:
    """Nothing is made for the values that nobody has."""
    n, m = 60, 3_000
    domain = torch.zeros(n, m, dtype=torch.bool)
    for i in range(n):
        domain[i, 40 * i : 40 * i + 50] = True
    csp = replace(problem([{"kind": "not_equal", "scope": [i, i + 1]} for i in range(n - 1)], n=n, m=m), domain=domain)
    assert fits(csp)
    tracemalloc.start()
    stated = state(csp)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6
    assert n < (stated.literals == 0).sum() <= n + n * 50 * 49 // 2 + (n - 1) * 10  # less what stands for the same

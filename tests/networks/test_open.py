from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from consformer import compiled, families
from consformer.csp import CSP
from consformer.networks import MASKED, LayeredConfig, OpenNetwork
from consformer.networks.open import Field, Tokens
from tests.helpers import cycle, problem, random_csp, random_inputs, randomised


def boards(count: int = 2) -> list[CSP]:
    return families.get("sudoku").generate(np.random.default_rng(0), count, {"givens": [25, 30]})


@given(seed=st.integers(0, 10_000), pool=st.integers(1, 3), quickly=st.sampled_from([False, True] if compiled.available() else [False]))
def test_tokens_are_what_no_other_rules_out(seed: int, pool: int, quickly: bool) -> None:
    """By brute force: a value of a variable to be updated, unless one that must differ and is not to be updated has it, and may have it."""
    csp = random_csp(seed)
    values, subset, _ = random_inputs(csp, pool, seed)
    tokens = Tokens.of(csp, values, subset, quickly)
    found = set(zip(tokens.candidate.tolist(), tokens.variable.tolist(), tokens.value.tolist(), strict=True))
    different = [set(csp.differences[1][csp.differences[0] == i].tolist()) for i in range(csp.n)]
    for k in range(pool):
        for i in range(csp.n):
            domain = [v for v in range(csp.m) if bool(csp.domain[i, v])]
            fixed = [v for v in domain if not any(int(csp.given[j]) == v for j in different[i])] or domain
            stay = [j for j in different[i] if bool(csp.free[j]) and not bool(subset[k, j])]
            held = {int(values[k, j]) for j in stay if bool(csp.open[j, values[k, j]])}
            left = [v for v in fixed if v not in held] or fixed
            assert {v for (c, j, v) in found if (c, j) == (k, i)} == (set(left) if bool(subset[k, i]) else set())
    assert tokens.lengths.sum() == len(tokens.variable)
    assert bool((torch.repeat_interleave(torch.arange(len(tokens.lengths)), tokens.lengths) == tokens.owner).all())


def test_edges_are_between_the_same_values_of_neighbours() -> None:
    csp = cycle(4, 3)
    tokens = Tokens.of(csp, torch.tensor([[0, 1, 2, 1]]), torch.tensor([[True, True, False, True]]))
    edges = {tuple(sorted((int(tokens.variable[a]), int(tokens.variable[b])))) for a, b in tokens.graph.edges.T.tolist()}
    assert edges == {(0, 0), (1, 1), (3, 3), (0, 1), (0, 3)}
    assert all(int(tokens.value[a]) == int(tokens.value[b]) for a, b in tokens.graph.edges.T.tolist())
    assert tokens.value[tokens.variable == 1].tolist() == [0, 1]  # 2 is what its neighbour has


def test_what_is_given_and_what_stays_are_the_same() -> None:
    network = randomised(OpenNetwork(LayeredConfig(width=8, layers=2)))
    free = cycle(6, 3)
    fixed = free.with_given(torch.tensor([0, -1, -1, 1, -1, -1]))
    values, subset = torch.tensor([[0, 1, 2, 1, 0, 2]]), torch.tensor([[False, True, True, False, True, True]])
    with torch.no_grad():
        one, other = (network(csp, values, subset, torch.tensor([[0.3]])) for csp in (free, fixed))
    torch.testing.assert_close(one, other)
    assert bool((one[0, 0] == torch.tensor([0.0, MASKED, MASKED])).all())  # it keeps what it has


def test_a_variable_without_a_value_left_has_all_of_them() -> None:
    csp = problem([{"kind": "all_different", "scope": [0, 1, 2]}], n=3, m=2, given={0: 0, 1: 1})
    assert csp.open[2].tolist() == [True, True]
    assert len(Field.of(csp).variable) == 2


def test_a_board_is_mostly_closed() -> None:
    union = CSP.union(boards())
    assert len(Field.of(union).variable) < 0.4 * union.n * union.m


@pytest.mark.skipif(not compiled.available(), reason="there is no compiler")
def test_training_without_a_compiler_gives_the_same_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    network, csp = randomised(OpenNetwork(LayeredConfig(width=8, layers=2))), boards(1)[0]
    inputs = random_inputs(csp, 2)
    expected = network(csp, *inputs)
    monkeypatch.setattr("consformer.compiled.available", lambda: False)
    torch.testing.assert_close(network(csp, *inputs), expected, atol=1e-5, rtol=1e-5)

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from consformer.csp import CSP
from consformer.networks import MASKED, EquivariantNetwork, Network, attention
from consformer.networks.equivariant import EquivariantConfig
from tests.helpers import cycle, gibbs, impossible, permuted, problem, random_csp, random_inputs, randomised, small_equivariant

SEEDS = st.integers(0, 10_000)


def answer(csp: CSP, inputs: tuple[Tensor, Tensor, Tensor], network: Network | None = None) -> Tensor:
    with torch.no_grad():
        logits: Tensor = (network or small_equivariant())(csp, *inputs)
    return logits


def same(a: Tensor, b: Tensor) -> None:
    torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-5)


@given(seed=SEEDS)
def test_permuting_values_permutes_the_answer(seed: int) -> None:
    csp = random_csp(seed)
    values, subset, temperature = random_inputs(csp, pool=2, seed=seed)
    order = torch.randperm(csp.m, generator=torch.Generator().manual_seed(seed))  # value v becomes order[v]
    other = permuted(csp, torch.arange(csp.n), order)
    same(answer(other, (order[values], subset, temperature))[..., order], answer(csp, (values, subset, temperature)))


@given(seed=SEEDS)
def test_permuting_variables_permutes_the_answer(seed: int) -> None:
    csp = random_csp(seed)
    values, subset, temperature = random_inputs(csp, pool=2, seed=seed)
    order = torch.randperm(csp.n, generator=torch.Generator().manual_seed(seed))  # variable i becomes order[i]
    back = torch.argsort(order)
    other = permuted(csp, order, torch.arange(csp.m))
    same(answer(other, (values[:, back], subset[:, back], temperature))[:, order], answer(csp, (values, subset, temperature)))


@given(seeds=st.lists(SEEDS, min_size=2, max_size=4))
def test_a_part_of_a_union_is_answered_as_alone(seeds: list[int]) -> None:
    parts = [random_csp(seed) for seed in seeds]  # sizes and numbers of values differ
    union = CSP.union(parts)
    values, subset, temperature = random_inputs(union, pool=2, seed=seeds[0])
    together = answer(union, (values, subset, temperature))
    for index, part in enumerate(parts):
        own = union.instance == index
        alone = answer(part, (values[:, own], subset[:, own], temperature[:, [index]]))
        same(together[:, own, : part.m], alone)
        assert bool((together[:, own, part.m :] == MASKED).all())


def test_sparse_and_dense_answers_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    union = CSP.union([random_csp(seed) for seed in range(5)])
    inputs = random_inputs(union, pool=2)
    monkeypatch.setattr(attention, "SPARSE_EDGE_COST", 1e9)
    dense = answer(union, inputs)
    monkeypatch.setattr(attention, "SPARSE_EDGE_COST", 0.0)
    same(answer(union, inputs), dense)


def test_candidates_do_not_see_each_other() -> None:
    csp = random_csp(3)
    values, subset, temperature = random_inputs(csp, pool=4)
    together = answer(csp, (values, subset, temperature))
    for k in range(4):
        same(answer(csp, (values[[k]], subset[[k]], temperature[[k]])), together[[k]])


@given(seed=SEEDS)
def test_values_outside_the_domain_have_no_chance(seed: int) -> None:
    csp = random_csp(seed)
    logits = answer(csp, random_inputs(csp, seed=seed))
    chances = logits.softmax(-1)[0]
    assert bool((chances[~csp.domain] == 0).all())
    assert bool(logits.isfinite().all())
    torch.testing.assert_close(chances.sum(-1), torch.ones(csp.n))


def test_the_coldest_temperature_keeps_the_domain() -> None:
    csp = problem([{"kind": "not_equal", "scope": [0, 1]}], n=2, m=3, forbidden=[(0, 0), (1, 2)])
    values, subset, _ = random_inputs(csp)
    for temperature in (1e-4, 1e4):
        logits = answer(csp, (values, subset, torch.full((1, 1), temperature)))
        assert bool(logits.isfinite().all())
        assert bool((logits.softmax(-1)[0][~csp.domain] == 0).all())


def test_every_input_matters() -> None:
    """Guards the tests above: with these weights an answer does depend on what they permute."""
    csp = random_csp(12, n=6, m=4, fixed=False)
    values, subset, temperature = random_inputs(csp, seed=1)
    base = answer(csp, (values, subset, temperature))
    assert not torch.allclose(answer(csp, (values, ~subset & csp.free, temperature)), base, atol=1e-3)
    assert not torch.allclose(answer(csp, (values, subset, temperature * 2)), base, atol=1e-3)
    others = csp.random_values(1, torch.Generator().manual_seed(99))
    assert not torch.allclose(answer(csp, (others, subset, temperature)), base, atol=1e-3)
    fixed = csp.with_given(torch.where(torch.arange(csp.n) == 0, values[0], -1))
    assert not torch.allclose(answer(fixed, (values, subset, temperature)), base, atol=1e-3)
    assert float((base[0].std(0) > 1e-3).float().mean()) > 0  # variables are told apart


@pytest.mark.parametrize("m", [1, 2, 3, 40])
def test_any_number_of_values(m: int) -> None:
    csp = cycle(5, m)
    assert answer(csp, random_inputs(csp)).shape == (1, 5, m)


@pytest.mark.parametrize("kind", ["not_equal", "all_different", "cardinality"])
@pytest.mark.parametrize("soft", [True, False])
def test_any_kind(kind: str, soft: bool) -> None:
    csp = random_csp(5, kinds=(kind,), soft=soft)
    assert bool(answer(csp, random_inputs(csp)).isfinite().all())


def test_without_constraints() -> None:
    csp = problem([], n=4, m=3)
    assert answer(csp, random_inputs(csp)).shape == (1, 4, 3)


def test_untrained_it_is_gibbs_sampling() -> None:
    """The chance of a value goes with exp(-conflicts / T), as if the rest of the subset stayed undecided but for a share of 0.3."""
    csp = random_csp(8, n=6, m=4, soft=False)
    values, _, temperature = random_inputs(csp)
    alone = torch.zeros(1, csp.n, dtype=torch.bool)
    alone[0, int(torch.nonzero(csp.free)[0])] = True
    chances = answer(csp, (values, alone, temperature), gibbs()).softmax(-1)[alone][0]
    conflicts = csp.conflicts(csp.one_hot(values))[alone][0]
    wanted = (-conflicts / temperature[0, 0]).masked_fill(~csp.domain[alone[0]][0], float("-inf")).softmax(-1)
    torch.testing.assert_close(chances, wanted, atol=1e-5, rtol=1e-4)


@given(seed=SEEDS)
def test_gradients_are_finite(seed: int) -> None:
    csp = random_csp(seed)
    network = small_equivariant()
    logits = network(csp, *random_inputs(csp, seed=seed))
    logits.softmax(-1).square().sum().backward()
    assert all(parameter.grad is not None and bool(parameter.grad.isfinite().all()) for parameter in network.parameters())


def test_answers_problems_that_cannot_be_solved() -> None:
    csp = impossible()
    assert bool(answer(csp, random_inputs(csp)).isfinite().all())


@pytest.mark.parametrize("tell", [False, True])
def test_whether_fixed_variables_look_different(tell: bool) -> None:
    """Two variables keep their values; in one problem because they are fixed, in the other because they are not updated."""
    network = randomised(EquivariantNetwork(EquivariantConfig(width=8, layers=2, tell_fixed=tell)), seed=0)
    free = cycle(6, 3)
    fixed = free.with_given(torch.tensor([0, -1, -1, 1, -1, -1]))
    values, subset = torch.tensor([[0, 1, 2, 1, 0, 2]]), torch.tensor([[False, True, True, False, True, True]])
    inputs = (values, subset, torch.tensor([[0.3]]))
    assert torch.allclose(answer(free, inputs, network), answer(fixed, inputs, network)) != tell


def test_repeated_layers_share_their_weights_and_look_further() -> None:
    once, thrice = (randomised(EquivariantNetwork(EquivariantConfig(width=8, layers=1, repeat=repeat)), seed=0) for repeat in (1, 3))
    assert [tensor.shape for tensor in once.state_dict().values()] == [tensor.shape for tensor in thrice.state_dict().values()]
    csp, (values, subset, temperature) = cycle(12, 3), random_inputs(cycle(12, 3), 1, seed=0)
    other = values.clone()
    other[0, 0] = (values[0, 0] + 1) % 3
    seen = []
    for network in (once, thrice):
        before, after = (answer(csp, (shown, subset, temperature), network) for shown in (values, other))
        seen.append(int(((before - after).abs().amax(-1) > 1e-6).sum()))
    assert seen[0] < seen[1]


def test_the_drafts_are_what_fewer_repetitions_would_have_said() -> None:
    csp, inputs = cycle(12, 3), random_inputs(cycle(12, 3), 2, seed=0)
    once, twice = (randomised(EquivariantNetwork(EquivariantConfig(width=8, layers=2, repeat=repeat)), seed=0) for repeat in (1, 2))
    drafts = twice(csp, *inputs, drafts=True)
    torch.testing.assert_close(drafts, torch.cat([once(csp, *inputs), twice(csp, *inputs)]))

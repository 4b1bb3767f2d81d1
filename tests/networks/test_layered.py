"""What holds for the any-CSP networks alike, whichever pairs of variables and values have states."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from consformer.csp import CSP
from consformer.networks import MASKED, EquivariantConfig, EquivariantNetwork, LayeredConfig, OpenNetwork
from consformer.networks.layered import LayeredNetwork
from tests.helpers import cycle, impossible, permuted, problem, random_csp, random_inputs, randomised

SEEDS = st.integers(0, 10_000)
BOTH = pytest.mark.parametrize("architecture", ["equivariant", "open"])
EITHER = st.sampled_from(["equivariant", "open"])


def fresh(architecture: str, *, layers: int = 2, repeat: int = 1) -> LayeredNetwork:
    if architecture == "open":
        return OpenNetwork(LayeredConfig(width=8, layers=layers, heads=2, expand=2, repeat=repeat))
    return EquivariantNetwork(EquivariantConfig(width=8, layers=layers, heads=2, expand=2, repeat=repeat))


def small(architecture: str, *, layers: int = 2, repeat: int = 1) -> LayeredNetwork:
    made = randomised(fresh(architecture, layers=layers, repeat=repeat))
    assert isinstance(made, LayeredNetwork)
    return made


@torch.no_grad()
def answer(network: LayeredNetwork, csp: CSP, inputs: tuple[Tensor, Tensor, Tensor]) -> Tensor:
    logits: Tensor = network(csp, *inputs)
    return logits.where(inputs[1][..., None] & csp.domain, MASKED)  # what is said of others has no meaning


def same(a: Tensor, b: Tensor) -> None:
    torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-5)


@given(seed=SEEDS, architecture=EITHER)
def test_permuting_values_permutes_the_answer(seed: int, architecture: str) -> None:
    csp, network = random_csp(seed), small(architecture)
    values, subset, temperature = random_inputs(csp, pool=2, seed=seed)
    order = torch.randperm(csp.m, generator=torch.Generator().manual_seed(seed))  # value v becomes order[v]
    other = permuted(csp, torch.arange(csp.n), order)
    same(answer(network, other, (order[values], subset, temperature))[..., order], answer(network, csp, (values, subset, temperature)))


@given(seed=SEEDS, architecture=EITHER)
def test_permuting_variables_permutes_the_answer(seed: int, architecture: str) -> None:
    csp, network = random_csp(seed), small(architecture)
    values, subset, temperature = random_inputs(csp, pool=2, seed=seed)
    order = torch.randperm(csp.n, generator=torch.Generator().manual_seed(seed))  # variable i becomes order[i]
    back = torch.argsort(order)
    other = permuted(csp, order, torch.arange(csp.m))
    moved = answer(network, other, (values[:, back], subset[:, back], temperature))
    same(moved[:, order], answer(network, csp, (values, subset, temperature)))


@given(seeds=st.lists(SEEDS, min_size=2, max_size=4), architecture=EITHER)
def test_a_part_of_a_union_is_answered_as_alone(seeds: list[int], architecture: str) -> None:
    parts, network = [random_csp(seed) for seed in seeds], small(architecture)  # sizes and numbers of values differ
    union = CSP.union(parts)
    values, subset, temperature = random_inputs(union, pool=2, seed=seeds[0])
    together = answer(network, union, (values, subset, temperature))
    for index, part in enumerate(parts):
        own = union.instance == index
        alone = answer(network, part, (values[:, own], subset[:, own], temperature[:, [index]]))
        same(together[:, own, : part.m], alone)
        assert bool((together[:, own, part.m :] == MASKED).all())


@BOTH
def test_candidates_do_not_see_each_other(architecture: str) -> None:
    csp, network = random_csp(3), small(architecture)
    values, subset, temperature = random_inputs(csp, pool=4)
    together = answer(network, csp, (values, subset, temperature))
    for k in range(4):
        same(answer(network, csp, (values[[k]], subset[[k]], temperature[[k]])), together[[k]])


@given(seed=SEEDS, architecture=EITHER)
def test_values_outside_the_domain_have_no_chance(seed: int, architecture: str) -> None:
    csp = random_csp(seed)
    with torch.no_grad():
        logits = small(architecture)(csp, *random_inputs(csp, seed=seed))
    chances = logits.softmax(-1)[0]
    assert bool((chances[~csp.domain] == 0).all())
    assert bool(logits.isfinite().all())
    torch.testing.assert_close(chances.sum(-1), torch.ones(csp.n))


@BOTH
def test_the_coldest_temperature_keeps_the_domain(architecture: str) -> None:
    csp = problem([{"kind": "not_equal", "scope": [0, 1]}], n=2, m=3, forbidden=[(0, 0), (1, 2)])
    values, subset, _ = random_inputs(csp)
    for temperature in (1e-4, 1e4):
        with torch.no_grad():
            logits = small(architecture)(csp, values, subset, torch.full((1, 1), temperature))
        assert bool(logits.isfinite().all())
        assert bool((logits.softmax(-1)[0][~csp.domain] == 0).all())


@BOTH
def test_every_input_matters(architecture: str) -> None:
    """Guards the tests above: with these weights an answer does depend on what they permute."""
    csp, network = random_csp(12, n=6, m=4, fixed=False), small(architecture)
    values, subset, temperature = random_inputs(csp, seed=1)
    base = answer(network, csp, (values, subset, temperature))
    assert not torch.allclose(answer(network, csp, (values, ~subset & csp.free, temperature)), base, atol=1e-3)
    assert not torch.allclose(answer(network, csp, (values, subset, temperature * 2)), base, atol=1e-3)
    others = csp.random_values(1, torch.Generator().manual_seed(99))
    assert not torch.allclose(answer(network, csp, (others, subset, temperature)), base, atol=1e-3)
    assert float((base[0].std(0) > 1e-3).float().mean()) > 0  # variables are told apart


@BOTH
@pytest.mark.parametrize("m", [1, 2, 3, 40])
def test_any_number_of_values(architecture: str, m: int) -> None:
    csp = cycle(5, m)
    assert answer(small(architecture), csp, random_inputs(csp)).shape == (1, 5, m)


@BOTH
@pytest.mark.parametrize("kind", ["not_equal", "all_different", "cardinality"])
@pytest.mark.parametrize("soft", [True, False])
def test_any_kind(architecture: str, kind: str, soft: bool) -> None:
    csp = random_csp(5, kinds=(kind,), soft=soft)
    assert bool(answer(small(architecture), csp, random_inputs(csp)).isfinite().all())


@BOTH
def test_without_constraints(architecture: str) -> None:
    csp = problem([], n=4, m=3)
    assert answer(small(architecture), csp, random_inputs(csp)).shape == (1, 4, 3)


@BOTH
def test_untrained_it_is_gibbs_sampling(architecture: str) -> None:
    """The chance of a value goes with exp(-conflicts / T)."""
    csp = random_csp(8, n=6, m=4, soft=False)
    values, _, temperature = random_inputs(csp)
    alone = torch.zeros(1, csp.n, dtype=torch.bool)
    alone[0, int(torch.nonzero(csp.free)[0])] = True
    logits = answer(fresh(architecture), csp, (values, alone, temperature))[alone][0]
    allowed = logits > MASKED
    conflicts = csp.conflicts(csp.one_hot(values))[alone][0]
    wanted = (-conflicts / temperature[0, 0]).masked_fill(~allowed, float("-inf")).softmax(-1)
    torch.testing.assert_close(logits.softmax(-1), wanted, atol=1e-5, rtol=1e-4)
    if architecture == "equivariant":
        assert bool((allowed == csp.domain[alone[0]][0]).all())


@given(seed=SEEDS, architecture=EITHER)
def test_gradients_are_finite(seed: int, architecture: str) -> None:
    csp, network = random_csp(seed), small(architecture)
    values, subset, temperature = random_inputs(csp, seed=seed)
    subset |= csp.free & ~subset.any()  # some are to be updated, if any are free
    logits = network(csp, values, subset, temperature)
    if bool(subset.any()):
        logits.softmax(-1).square().sum().backward()
        assert all(parameter.grad is not None and bool(parameter.grad.isfinite().all()) for parameter in network.parameters())


@BOTH
def test_answers_problems_that_cannot_be_solved(architecture: str) -> None:
    csp = impossible()
    assert bool(answer(small(architecture), csp, random_inputs(csp)).isfinite().all())


@BOTH
def test_nothing_to_update(architecture: str) -> None:
    csp = cycle(4, 3)
    values, _, temperature = random_inputs(csp, pool=2)
    logits = small(architecture)(csp, values, torch.zeros_like(values, dtype=torch.bool), temperature)
    assert bool(logits.isfinite().all())


@BOTH
def test_repeated_layers_share_their_weights_and_look_further(architecture: str) -> None:
    once, thrice = (small(architecture, layers=1, repeat=repeat) for repeat in (1, 3))
    assert [tensor.shape for tensor in once.state_dict().values()] == [tensor.shape for tensor in thrice.state_dict().values()]
    csp, (values, _, temperature) = cycle(12, 3), random_inputs(cycle(12, 3), 1, seed=0)
    subset = torch.ones_like(values, dtype=torch.bool)
    other = values.clone()
    other[0, 0] = (values[0, 0] + 1) % 3
    seen = []
    for network in (once, thrice):
        before, after = (answer(network, csp, (shown, subset, temperature)) for shown in (values, other))
        seen.append(int(((before - after).abs().amax(-1) > 1e-6).sum()))
    assert seen[0] < seen[1]


@BOTH
def test_the_drafts_are_what_fewer_repetitions_would_have_said(architecture: str) -> None:
    csp, inputs = cycle(12, 3), random_inputs(cycle(12, 3), 2, seed=0)
    once, twice = (small(architecture, repeat=repeat) for repeat in (1, 2))
    drafts = twice(csp, *inputs, drafts=True)
    torch.testing.assert_close(drafts, torch.cat([once(csp, *inputs), twice(csp, *inputs)]))


@BOTH
def test_an_iteration_is_thought_to_take_longer_the_more_there_is_to_compute(architecture: str) -> None:
    usual, more = fresh(architecture).seconds_per_pair, fresh(architecture, layers=4).seconds_per_pair
    assert 0 < usual < more
    assert fresh(architecture, repeat=3).seconds_per_pair == pytest.approx(3 * usual)

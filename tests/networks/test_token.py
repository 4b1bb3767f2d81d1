from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from consformer.csp import CSP
from consformer.errors import CheckpointError
from consformer.networks import MASKED, Network, TokenConfig, TokenNetwork
from consformer.networks.token import encode_positions
from tests.helpers import cycle, problem, random_csp, random_inputs, randomised


def token(**config: Any) -> TokenNetwork:
    settings = {"values": 5, "width": 12, "layers": 2, "heads": 2, "head_width": 4, "dropout": 0.0} | config
    network = randomised(TokenNetwork(TokenConfig(**settings)))
    assert isinstance(network, TokenNetwork)
    return network


def answer(network: Network, csp: CSP, inputs: tuple[Tensor, Tensor, Tensor]) -> Tensor:
    with torch.no_grad():
        logits: Tensor = network(csp, *inputs)
    return logits


def grid(m: int = 4) -> CSP:
    """2 x 3 x 2 variables, three dimensions of positions."""
    positions = torch.tensor(list(itertools.product(range(2), range(3), range(2))))
    records: list[dict[str, Any]] = [{"kind": "not_equal", "scope": [i, i + 1]} for i in range(0, 11, 2)]
    return problem(records, n=12, m=m, positions=positions, given={0: 1}, forbidden=[(3, 0)])


@pytest.mark.parametrize("positions", ["none", "flat", "full"])
@pytest.mark.parametrize("relation", ["none", "learned", "mask"])
@pytest.mark.parametrize("inputs", [True, False])
def test_every_option_runs(positions: str, relation: str, inputs: bool) -> None:
    network = token(positions=positions, relation=relation, mark_fixed=inputs, see_temperature=inputs, see_conflicts=inputs)
    csp = grid()
    logits = network(csp, *random_inputs(csp, pool=3))
    assert logits.shape == (3, 12, 4)
    logits.softmax(-1).square().sum().backward()
    unused = {name for name, parameter in network.named_parameters() if parameter.grad is None}
    assert not unused
    assert all(bool(parameter.grad.isfinite().all()) for parameter in network.parameters() if parameter.grad is not None)


def test_as_in_the_paper() -> None:
    """Three heads as wide as the embedding, a feed-forward as wide, seven layers: about two million parameters."""
    network = TokenNetwork(TokenConfig())
    width, heads = 128, 3
    block = 3 * (width + 1) * heads * width + (heads * width + 1) * width + 2 * (width + 1) * width + 4 * width
    rest = 9 * width + width + 3 + 2 * width + (width + 1) * 9
    assert sum(parameter.numel() for parameter in network.parameters()) == 7 * block + rest


@pytest.mark.parametrize(("dims", "width"), [(1, 128), (2, 128), (3, 126), (3, 128), (3, 127), (5, 7), (7, 5)])
def test_any_split_of_the_width(dims: int, width: int) -> None:
    positions = torch.tensor(list(itertools.islice(itertools.product(range(3), repeat=dims), 40)))
    encoded = encode_positions(positions, width)
    assert encoded.shape == (len(positions), width)
    if dims <= width:
        assert len(torch.unique(encoded, dim=0)) == len(positions)  # every position has its own code


def test_dimensions_do_not_mix() -> None:
    near, far = encode_positions(torch.tensor([[1, 2], [1, 9]]), 16)
    assert torch.equal(near[:8], far[:8])
    assert not torch.equal(near[8:], far[8:])


def test_positions_far_beyond_training() -> None:
    positions = torch.tensor([[10**9, 0], [0, 123_456_789], [10**6, 10**6]])
    assert bool(encode_positions(positions, 30).isfinite().all())
    csp = problem([], n=3, m=2, positions=positions)
    assert bool(answer(token(positions="full"), csp, random_inputs(csp)).isfinite().all())


def test_positions_matter_only_when_asked() -> None:
    here = grid()
    there = problem(here.constraints[0].records(), n=12, m=4, positions=here.positions + 3, given={0: 1}, forbidden=[(3, 0)])
    inputs = random_inputs(here)
    assert not torch.allclose(answer(token(positions="full"), here, inputs), answer(token(positions="full"), there, inputs), atol=1e-3)
    for positions in ("none", "flat"):
        network = token(positions=positions)
        assert torch.equal(answer(network, here, inputs), answer(network, there, inputs))


def test_relations_differ() -> None:
    csp, settings = cycle(8, 3), {"positions": "none"}
    inputs = random_inputs(csp)
    none, mask = (answer(token(relation=relation, **settings), csp, inputs) for relation in ("none", "mask"))
    network = token(relation="learned", **settings)
    twin = token(relation="none", **settings)
    network.load_state_dict(twin.state_dict() | {"apart": torch.tensor(0.0)})
    learned = answer(network, csp, inputs)
    assert not torch.allclose(none, mask, atol=1e-3)
    assert not torch.allclose(none, learned, atol=1e-3)
    assert not torch.allclose(mask, learned, atol=1e-3)
    network.load_state_dict(twin.state_dict() | {"apart": torch.tensor(-100.0)})  # no penalty left
    torch.testing.assert_close(answer(network, csp, inputs), none, atol=1e-5, rtol=1e-5)
    network.load_state_dict(twin.state_dict() | {"apart": torch.tensor(1e4)})  # nothing but penalty
    torch.testing.assert_close(answer(network, csp, inputs), mask, atol=1e-5, rtol=1e-5)


@given(apart=st.floats(-100, 100))
def test_the_learned_penalty_never_rewards(apart: float) -> None:
    """Whatever was learned, a variable without a shared constraint has at most the say it has without the penalty."""
    network = token(relation="learned", positions="none")
    assert network.apart is not None
    with torch.no_grad():
        network.apart.fill_(apart)
    penalties = []
    for block in network.blocks:
        block.register_forward_pre_hook(lambda _, arguments: penalties.append(float(arguments[2])))
    csp = cycle(5, 3)
    answer(network, csp, random_inputs(csp))
    assert len(penalties) == 2
    assert all(penalty <= 0 for penalty in penalties)


def test_optional_inputs_matter() -> None:
    csp = grid()
    values, subset, temperature = random_inputs(csp)
    free = csp.with_given(torch.full((12,), -1))
    plain, marked = token(), token(mark_fixed=True)
    assert torch.equal(answer(plain, csp, (values, subset, temperature)), answer(plain, free, (values, subset, temperature)))
    assert not torch.allclose(answer(marked, csp, (values, subset, temperature)), answer(marked, free, (values, subset, temperature)))
    # Without the input, a temperature only scales the logits.
    hot = answer(plain, csp, (values, subset, temperature * 2)).softmax(-1)
    torch.testing.assert_close(hot, (answer(plain, csp, (values, subset, temperature)) / 2).softmax(-1))
    warm = token(see_temperature=True)
    hot = answer(warm, csp, (values, subset, temperature * 2)).softmax(-1)
    assert not torch.allclose(hot, (answer(warm, csp, (values, subset, temperature)) / 2).softmax(-1), atol=1e-3)
    # Conflicts tell of constraints even to a network that sees no graph.
    seeing = token(see_conflicts=True, relation="none")
    unbound = problem([], n=12, m=4, positions=csp.positions, given={0: 1}, forbidden=[(3, 0)])
    assert not torch.allclose(answer(seeing, csp, (values, subset, temperature)), answer(seeing, unbound, (values, subset, temperature)))


def test_the_subset_is_marked() -> None:
    csp = cycle(4, 3)
    values, subset, temperature = random_inputs(csp)
    assert not torch.allclose(answer(token(), csp, (values, subset, temperature)), answer(token(), csp, (values, ~subset, temperature)))


@given(seed=st.integers(0, 10_000))
def test_values_outside_the_domain_have_no_chance(seed: int) -> None:
    csp = random_csp(seed)
    chances = answer(token(see_conflicts=True), csp, random_inputs(csp, seed=seed)).softmax(-1)[0]
    assert bool((chances[~csp.domain] == 0).all())
    torch.testing.assert_close(chances.sum(-1), torch.ones(csp.n))


def test_fewer_values_fit_and_more_do_not() -> None:
    network = token(values=3)
    network.check_fit(cycle(4, 2))
    network.check_fit(cycle(4, 3))
    with pytest.raises(CheckpointError, match="at most 3 values, the problem has 4; use a network of the equivariant architecture"):
        network.check_fit(cycle(4, 4))


@pytest.mark.parametrize("relation", ["none", "learned", "mask"])
@pytest.mark.parametrize("positions", ["flat", "full"])
def test_a_part_of_a_union_is_answered_as_alone(relation: str, positions: str) -> None:
    network = token(relation=relation, positions=positions, mark_fixed=True, see_temperature=True, see_conflicts=True)
    parts = [cycle(3, 2), grid(m=4), random_csp(7), cycle(5, 5)]  # positions of one and of three dimensions
    union = CSP.union(parts)
    values, subset, temperature = random_inputs(union, pool=2)
    together = answer(network, union, (values, subset, temperature))
    for index, part in enumerate(parts):
        own = union.instance == index
        alone = answer(network, part, (values[:, own], subset[:, own], temperature[:, [index]]))
        torch.testing.assert_close(together[:, own, : part.m], alone, atol=1e-5, rtol=1e-5)
        assert bool((together[:, own, part.m :] == MASKED).all())


def test_dropout_only_in_training() -> None:
    network = token(dropout=0.5)
    csp = cycle(4, 3)
    inputs = random_inputs(csp)
    assert torch.equal(answer(network, csp, inputs), answer(network, csp, inputs))
    network.train()
    assert not torch.equal(answer(network, csp, inputs), answer(network, csp, inputs))

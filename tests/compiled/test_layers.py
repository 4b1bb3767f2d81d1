"""The compiled layers against the network they are made from."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from consformer import compiled
from consformer.csp import CSP
from consformer.networks import EquivariantConfig, EquivariantNetwork, LayeredConfig, Network, OpenNetwork
from consformer.networks.layered import WIDEST_COMPILED, LayeredNetwork
from tests.helpers import cycle, random_csp, random_inputs, randomised

SIZES = {"even": (8, 2, 2), "odd": (5, 1, 3)}  # width, heads, expand; few of them, because each is compiled


def network(size: str = "even", *, layers: int = 2, repeat: int = 1, told: str = "all", seed: int = 0) -> LayeredNetwork:
    """`told`: all pairs, with or without a mark on fixed variables, or the open ones."""
    width, heads, expand = SIZES[size]
    made: Network
    if told == "open":
        made = OpenNetwork(LayeredConfig(width=width, heads=heads, expand=expand, layers=layers, repeat=repeat))
    else:
        config = EquivariantConfig(width=width, heads=heads, expand=expand, layers=layers, repeat=repeat, tell_fixed=told == "marked")
        made = EquivariantNetwork(config)
    made = randomised(made, seed)
    assert isinstance(made, LayeredNetwork)
    return made


@torch.no_grad()
def answer(network: LayeredNetwork, csp: CSP, inputs: tuple[Tensor, Tensor, Tensor]) -> Tensor:
    return network(csp, *inputs)  # type: ignore[no-any-return]


@given(
    seeds=st.lists(st.integers(0, 10_000), min_size=1, max_size=4),
    pool=st.integers(1, 3),
    size=st.sampled_from(sorted(SIZES)),
    layers=st.integers(1, 3),
    repeat=st.integers(1, 2),
    told=st.sampled_from(["all", "marked", "open"]),
    threads=st.sampled_from([1, 2]),
)
def test_compiled_or_not_the_answer_is_the_same(
    seeds: list[int], pool: int, size: str, layers: int, repeat: int, told: str, threads: int
) -> None:
    """Over unions of problems of all kinds with domains of all sizes, fixed variables and several candidates."""
    csp = CSP.union([random_csp(seed) for seed in seeds])
    plain = network(size, layers=layers, repeat=repeat, told=told, seed=seeds[0])
    inputs = random_inputs(csp, pool, seeds[0])
    expected = answer(plain, csp, inputs)
    usual = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        found = answer(plain.compiled(), csp, inputs)
    finally:
        torch.set_num_threads(usual)
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


def test_other_depths_are_compiled_too() -> None:
    csp, plain = random_csp(3), network(repeat=1)
    inputs = random_inputs(csp)
    deeper = answer(plain.with_depth(3), csp, inputs)
    torch.testing.assert_close(answer(plain.compiled().with_depth(3), csp, inputs), deeper, atol=1e-4, rtol=1e-4)
    assert not torch.allclose(answer(plain, csp, inputs), deeper, atol=1e-3)


def test_attention_stays_finite_where_products_are_large() -> None:
    csp, plain = cycle(6, 3), network()
    with torch.no_grad():
        for block in plain.blocks:
            block.query.weight *= 1000  # type: ignore[operator, union-attr]
    inputs = random_inputs(csp)
    found = answer(plain.compiled(), csp, inputs)
    assert bool(found.isfinite().all())
    torch.testing.assert_close(found, answer(plain, csp, inputs), atol=1e-2, rtol=1e-2)


def test_gradients_and_drafts_are_not_compiled() -> None:
    csp, plain = random_csp(5), network(repeat=2)
    quick, inputs = plain.compiled(), random_inputs(csp)
    assert torch.equal(quick(csp, *inputs), plain(csp, *inputs))
    quick(csp, *inputs).sum().backward()
    assert plain.inputs.weight.grad is not None
    with torch.no_grad():
        assert torch.equal(quick(csp, *inputs, drafts=True), plain(csp, *inputs, drafts=True))


def test_a_compiled_network_keeps_the_weights_it_was_made_with() -> None:
    csp, plain = random_csp(5), network()
    quick, inputs = plain.compiled(), random_inputs(csp)
    before = answer(quick, csp, inputs)
    with torch.no_grad():
        plain.blocks[0].up.weight += 1  # type: ignore[operator, union-attr]
    assert torch.equal(answer(quick, csp, inputs), before)


def test_only_where_it_pays_and_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = network()
    quick = plain.compiled()
    assert quick is not plain
    assert quick.compiled() is quick
    wide = EquivariantNetwork(EquivariantConfig(width=WIDEST_COMPILED + 2, layers=1))
    assert wide.compiled() is wide
    monkeypatch.setattr(compiled, "available", lambda: False)
    assert plain.compiled() is plain

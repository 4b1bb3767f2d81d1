"""Compiled attention with gradients against that of tensor operations."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from consformer.compiled.learning import attend
from consformer.csp import CSP
from consformer.networks.attention import SparseLayout
from tests.helpers import random_csp


@given(
    seeds=st.lists(st.integers(0, 10_000), min_size=1, max_size=3),
    rows=st.integers(1, 3),
    width=st.sampled_from([4, 5]),
    scale=st.sampled_from([1.0, 30.0]),
)
def test_attention_and_its_gradients(seeds: list[int], rows: int, width: int, scale: float) -> None:
    graph = CSP.union([random_csp(seed) for seed in seeds]).graph
    generator = torch.Generator().manual_seed(seeds[0])
    inputs = [torch.randn(graph.n, rows, width, generator=generator).requires_grad_() for _ in range(3)]
    wanted = torch.randn(graph.n, rows, width, generator=generator)
    q, k, v = inputs
    found, expected = attend(q * scale, k, v, graph), SparseLayout(graph).attend(q * scale, k, v)
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
    for one, other in zip(torch.autograd.grad(found, inputs, wanted), torch.autograd.grad(expected, inputs, wanted), strict=True):
        torch.testing.assert_close(one, other, atol=1e-3, rtol=1e-3)

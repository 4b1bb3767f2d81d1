from __future__ import annotations

import pytest
import torch
from torch import Tensor

from consformer.csp import CSP
from consformer.networks import EquivariantNetwork, Network, attention
from consformer.networks.equivariant import EquivariantConfig
from tests.helpers import cycle, random_csp, random_inputs, randomised, small_equivariant


def answer(csp: CSP, inputs: tuple[Tensor, Tensor, Tensor], network: Network | None = None) -> Tensor:
    with torch.no_grad():
        logits: Tensor = (network or small_equivariant())(csp, *inputs)
    return logits


def same(a: Tensor, b: Tensor) -> None:
    torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-5)


def test_sparse_and_dense_answers_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    union = CSP.union([random_csp(seed) for seed in range(5)])
    inputs = random_inputs(union, pool=2)
    monkeypatch.setattr(attention, "SPARSE_EDGE_COST", 1e9)
    dense = answer(union, inputs)
    monkeypatch.setattr(attention, "SPARSE_EDGE_COST", 0.0)
    same(answer(union, inputs), dense)


@pytest.mark.parametrize("tell", [False, True])
def test_whether_fixed_variables_look_different(tell: bool) -> None:
    """Two variables keep their values; in one problem because they are fixed, in the other because they are not updated."""
    network = randomised(EquivariantNetwork(EquivariantConfig(width=8, layers=2, tell_fixed=tell)), seed=0)
    free = cycle(6, 3)
    fixed = free.with_given(torch.tensor([0, -1, -1, 1, -1, -1]))
    values, subset = torch.tensor([[0, 1, 2, 1, 0, 2]]), torch.tensor([[False, True, True, False, True, True]])
    inputs = (values, subset, torch.tensor([[0.3]]))
    assert torch.allclose(answer(free, inputs, network), answer(fixed, inputs, network)) != tell

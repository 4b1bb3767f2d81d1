from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from consformer.csp import CSP
from consformer.networks import MASKED
from consformer.training.loss import LossSettings, loss
from tests.helpers import cycle, problem, random_csp, random_inputs

SEEDS = st.integers(0, 10_000)


def random_logits(csp: CSP, pool: int, seed: int) -> Tensor:
    logits = torch.randn(pool, csp.n, csp.m, generator=torch.Generator().manual_seed(seed + 1))
    return logits.masked_fill(~csp.domain, MASKED).requires_grad_()


def random_case(seed: int) -> tuple[CSP, tuple[Tensor, Tensor, Tensor], Tensor]:
    """A problem small enough for all its assignments, a candidate, and what a network might say."""
    csp = random_csp(seed, n=4, m=3)
    return csp, random_inputs(csp, seed=seed), random_logits(csp, 1, seed)


def measure(csp: CSP, logits: Tensor, inputs: tuple[Tensor, Tensor, Tensor], seed: int = 0, **settings: Any) -> Tensor:
    return loss(csp, logits, *inputs, LossSettings(**settings), torch.Generator().manual_seed(seed))


def enumerate_moves(csp: CSP, logits: Tensor, inputs: tuple[Tensor, Tensor, Tensor]) -> tuple[float, float]:
    """Expected energy and entropy of one candidate's move, from all assignments it could lead to."""
    values, subset, _ = inputs
    chances = logits[0].softmax(-1).double()
    moving = torch.nonzero(subset[0])[:, 0].tolist()
    energy = entropy = 0.0
    for choice in itertools.product(range(csp.m), repeat=len(moving)):
        chance = math.prod(float(chances[i, v]) for i, v in zip(moving, choice, strict=True))
        if chance == 0:
            continue
        after = values.clone()
        after[0, moving] = torch.tensor(choice, dtype=torch.int64)
        for constraint, weight in zip(csp.constraints, csp.energy_weights, strict=True):
            energy += chance * float((constraint.violation(after) * weight).sum())
        entropy -= chance * math.log(chance)
    return energy, entropy


@given(seed=SEEDS)
def test_expected_is_the_mean_over_all_moves(seed: int) -> None:
    csp, inputs, logits = random_case(seed)
    energy, _ = enumerate_moves(csp, logits.detach(), inputs)
    assert float(measure(csp, logits, inputs, kind="expected").detach()) == pytest.approx(energy / csp.n, abs=1e-4)


@given(seed=SEEDS)
def test_block_is_energy_over_temperature_minus_entropy(seed: int) -> None:
    csp, inputs, logits = random_case(seed)
    energy, entropy = enumerate_moves(csp, logits.detach(), inputs)
    wanted = (energy / float(inputs[2]) - entropy) / csp.n
    assert float(measure(csp, logits, inputs, kind="block").detach()) == pytest.approx(wanted, abs=2e-4)


def test_the_best_block_sampler_is_the_boltzmann_distribution() -> None:
    """With one variable in the subset the loss is least where the softmax is exp(-conflicts / T)."""
    csp = cycle(4, 3)
    values = torch.tensor([[0, 0, 1, 0]])
    subset = torch.tensor([[False, True, False, False]])
    temperature = torch.tensor([[0.5]])
    best = (-csp.conflicts(csp.one_hot(values)) / 0.5).requires_grad_()
    (gradient,) = torch.autograd.grad(measure(csp, best, (values, subset, temperature)), best)
    assert float(gradient.abs().max()) < 1e-6
    for nudge in (-0.3, 0.3):
        worse = best.detach().clone()
        worse[0, 1, 2] += nudge
        assert float(measure(csp, worse, (values, subset, temperature))) > float(measure(csp, best, (values, subset, temperature)).detach())


@pytest.mark.parametrize(
    "settings", [{"kind": "block"}, {"kind": "expected"}, {"kind": "penalty"}, {"kind": "penalty", "relaxation": "gumbel"}]
)
@pytest.mark.parametrize("seed", range(5))
def test_only_the_subset_is_learned_from(settings: dict[str, Any], seed: int) -> None:
    csp = CSP.union([random_csp(seed), random_csp(seed + 50)])
    values, subset, temperature = random_inputs(csp, pool=2, seed=seed)
    logits = random_logits(csp, 2, seed)
    (gradient,) = torch.autograd.grad(measure(csp, logits, (values, subset, temperature), **settings), logits)
    assert bool(gradient.isfinite().all())
    assert not bool(gradient[~subset].any())
    assert bool(gradient[subset].any())
    assert not bool(gradient[:, ~csp.domain].any())


@pytest.mark.parametrize("kind", ["block", "expected", "penalty"])
def test_the_rest_is_what_it_is(kind: str) -> None:
    """Variables outside the subset enter with their present values, whatever the network says of them."""
    csp = cycle(5, 3)
    values, subset, temperature = torch.tensor([[0, 1, 1, 2, 0]]), torch.tensor([[True, False, False, True, False]]), torch.ones(1, 1)
    logits = random_logits(csp, 1, 0).detach()
    other = torch.where(subset[..., None], logits, torch.randn(logits.shape, generator=torch.Generator().manual_seed(9)))
    base = measure(csp, logits, (values, subset, temperature), kind=kind)
    assert torch.equal(measure(csp, other, (values, subset, temperature), kind=kind), base)
    moved = torch.tensor([[0, 1, 2, 2, 0]])
    assert not torch.equal(measure(csp, logits, (moved, subset, temperature), kind=kind), base)
    nobody = torch.zeros_like(subset)
    exact = {"block": 2 / 5, "expected": 2 / 5, "penalty": 2.0}[kind]  # 1 = 1 and 0 = 0
    assert float(measure(csp, logits, (values, nobody, temperature), kind=kind)) == pytest.approx(exact)


def pairs(csp: CSP, probs: Tensor) -> list[float]:
    return [float((probs[i] * probs[(i + 1) % csp.n]).sum()) for i in range(csp.n)]


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("tau", [1.0, 0.1])
def test_penalty_by_hand(power: int, tau: float) -> None:
    csp = cycle(4, 3)
    values, _, temperature = random_inputs(csp)
    logits = random_logits(csp, 1, 0).detach()
    everybody = torch.ones(1, 4, dtype=torch.bool)
    found = measure(csp, logits, (values, everybody, temperature), kind="penalty", power=power, tau=tau)
    assert float(found) == pytest.approx(sum(p**power for p in pairs(csp, (logits[0] / tau).softmax(-1))), rel=1e-4)


def test_penalties_of_kinds_are_weighed() -> None:
    csp = problem([{"kind": "not_equal", "scope": [0, 1]}, {"kind": "all_different", "scope": [1, 2, 3]}], n=4, m=3)
    values, _, temperature = random_inputs(csp)
    logits, everybody = random_logits(csp, 1, 0).detach(), torch.ones(1, 4, dtype=torch.bool)

    def total(**weights: float) -> float:
        return float(measure(csp, logits, (values, everybody, temperature), kind="penalty", weights=weights))

    edge, clique = total(all_different=0.0), total(not_equal=0.0)
    assert edge > 0
    assert clique > 0
    assert total() == pytest.approx(edge + clique)
    assert total(not_equal=0.5, all_different=3.0) == pytest.approx(0.5 * edge + 3 * clique)


def test_soft_penalties_have_their_weights() -> None:
    def total(weight: float) -> float:
        csp = problem([{"kind": "not_equal", "scope": [0, 1], "soft": True, "weight": weight}], n=2, m=2)
        return float(
            measure(csp, torch.zeros(1, 2, 2), (torch.zeros(1, 2).long(), torch.ones(1, 2).bool(), torch.ones(1, 1)), kind="penalty")
        )

    assert total(3.0) == pytest.approx(3 * total(1.0))
    assert total(-2.0) == pytest.approx(2 * total(1.0))  # equality wanted: by chance as often


def test_gumbel_noise_is_drawn_from_the_generator() -> None:
    csp = cycle(4, 3)
    inputs = random_inputs(csp)
    inputs = (inputs[0], torch.ones(1, 4, dtype=torch.bool), inputs[2])
    logits = random_logits(csp, 1, 0).detach()
    noisy = {"kind": "penalty", "relaxation": "gumbel", "tau": 0.1}
    assert torch.equal(measure(csp, logits, inputs, seed=1, **noisy), measure(csp, logits, inputs, seed=1, **noisy))
    assert not torch.equal(measure(csp, logits, inputs, seed=1, **noisy), measure(csp, logits, inputs, seed=2, **noisy))
    plain = {"kind": "penalty", "relaxation": "softmax", "tau": 0.1}
    assert torch.equal(measure(csp, logits, inputs, seed=1, **plain), measure(csp, logits, inputs, seed=2, **plain))


def test_gumbel_at_low_temperature_is_a_sample() -> None:
    """Averaged over the noise, the hard relaxation counts conflicts as often as independent draws have them."""
    csp = cycle(2, 2)  # two edges between the same two: counts twice
    pool = 4000
    logits = torch.tensor([[1.0, 0.0], [0.3, 0.0]]).expand(pool, 2, 2)
    inputs = (torch.zeros(pool, 2).long(), torch.ones(pool, 2).bool(), torch.ones(pool, 1))
    found = float(measure(csp, logits, inputs, kind="penalty", relaxation="gumbel", tau=1e-3, power=1))
    first, second = logits[0].softmax(-1)
    assert found == pytest.approx(2 * float((first * second).sum()), abs=0.05)


def test_is_the_mean_over_candidates_and_instances() -> None:
    parts = [random_csp(seed) for seed in (1, 2, 3)]
    union = CSP.union(parts)
    values, subset, temperature = random_inputs(union, pool=2)
    logits = random_logits(union, 2, 0).detach()
    for kind in ("block", "expected", "penalty"):
        together = measure(union, logits, (values, subset, temperature), kind=kind)
        alone = []
        for k, (index, part) in itertools.product(range(2), enumerate(parts)):
            own = union.instance == index
            inputs = (values[[k]][:, own], subset[[k]][:, own], temperature[[k]][:, [index]])
            alone.append(measure(part, logits[[k]][:, own, : part.m], inputs, kind=kind))
        torch.testing.assert_close(together, torch.stack(alone).mean())

from __future__ import annotations

import math

import torch

from consformer.networks import MASKED
from consformer.search.decode import DECODERS, greedy, sample, with_gumbel_noise


def test_samples_follow_the_softmax() -> None:
    logits = torch.tensor([[1.0, 0.0, -2.0, MASKED], [0.0, 0.0, 0.0, 0.0]])
    drawn = sample(logits.expand(20_000, 2, 4), torch.Generator().manual_seed(0))  # [K,n]
    for variable in range(2):
        share = torch.bincount(drawn[:, variable], minlength=4) / len(drawn)
        torch.testing.assert_close(share, logits[variable].softmax(-1), atol=0.012, rtol=0)
    assert not bool((drawn[:, 0] == 3).any())


def test_noise_is_that_of_gumbel() -> None:
    """Mean Euler's constant, variance pi^2 / 6, finite, and the same for every logit."""
    logits = torch.tensor([0.0, 3.0]).expand(50_000, 2)
    noise = with_gumbel_noise(logits, torch.Generator().manual_seed(0)) - logits
    assert bool(noise.isfinite().all())
    torch.testing.assert_close(noise.mean(0), torch.full((2,), 0.5772), atol=0.02, rtol=0)
    torch.testing.assert_close(noise.var(0), torch.full((2,), math.pi**2 / 6), atol=0.05, rtol=0)


def test_variables_are_drawn_independently() -> None:
    first, second = sample(torch.zeros(10_000, 2, 2), torch.Generator().manual_seed(0)).unbind(1)
    assert abs(float((first == second).float().mean()) - 0.5) < 0.03


def test_samples_follow_the_generator() -> None:
    logits = torch.zeros(3, 20, 5)
    once, again, other = (sample(logits, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2))
    assert torch.equal(once, again)
    assert not torch.equal(once, other)


def test_greedy_takes_the_most_likely() -> None:
    logits = torch.randn(4, 7, 5, generator=torch.Generator().manual_seed(0))
    generator = torch.Generator().manual_seed(0)
    assert torch.equal(greedy(logits, generator), logits.argmax(-1))
    assert greedy(torch.tensor([[[MASKED, -50.0, MASKED]]]), generator).tolist() == [[1]]


def test_names() -> None:
    assert (DECODERS["sample"], DECODERS["greedy"]) == (sample, greedy)

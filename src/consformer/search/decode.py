"""How values are taken from logits."""

from __future__ import annotations

import torch
from torch import Tensor


def with_gumbel_noise(logits: Tensor, generator: torch.Generator) -> Tensor:
    """Logits plus noise such that taking the highest draws from their softmax."""
    uniform = torch.rand(logits.shape, generator=generator).clamp_(min=1e-20)
    return logits - (-uniform.log()).log()


def sample(logits: Tensor, generator: torch.Generator) -> Tensor:
    """Draw a value for every variable from the softmax: [K,n,m] -> [K,n]."""
    return with_gumbel_noise(logits, generator).argmax(-1)


def greedy(logits: Tensor, generator: torch.Generator) -> Tensor:
    """The most likely value of every variable."""
    del generator  # same signature as `sample`
    return logits.argmax(-1)


DECODERS = {"sample": sample, "greedy": greedy}

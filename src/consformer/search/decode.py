"""How values are taken from logits."""

from __future__ import annotations

import torch
from torch import Tensor


def sample(logits: Tensor, generator: torch.Generator) -> Tensor:
    """Draw a value for every variable from the softmax: [K,n,m] -> [K,n]. (Adding Gumbel noise and taking the highest is the same draw.)"""
    uniform = torch.rand(logits.shape, generator=generator).clamp_(min=1e-20)
    return (logits - (-uniform.log()).log()).argmax(-1)


def greedy(logits: Tensor, generator: torch.Generator) -> Tensor:
    """The most likely value of every variable."""
    del generator  # same signature as `sample`
    return logits.argmax(-1)


DECODERS = {"sample": sample, "greedy": greedy}

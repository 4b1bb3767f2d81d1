"""Losses: what the network is asked to do with the subset, given everything else. No solution is ever needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor

from consformer.constraints import kind as constraint_kind
from consformer.csp import CSP
from consformer.errors import RecipeError
from consformer.search.decode import with_gumbel_noise


@dataclass(frozen=True)
class LossSettings:
    """Which loss, and its settings."""

    kind: Literal["block", "expected", "penalty"] = "block"
    """block: sample the subset at a temperature; expected: expected violations; penalty: the paper's relaxations"""
    relaxation: Literal["softmax", "gumbel"] = "softmax"
    """penalty only: how logits become soft values"""
    tau: float = 1.0
    """penalty only: temperature of the relaxation"""
    power: Literal[1, 2] = 2
    """penalty only: penalties are squared (2) or not (1)"""
    weights: Mapping[str, float] = field(default_factory=dict)
    """penalty only: weight of a constraint kind, 1 where not named"""

    def __post_init__(self) -> None:
        if not self.tau > 0:
            raise RecipeError(f"tau must be above 0, not {self.tau}")
        for name in self.weights:
            constraint_kind(name)


def loss(
    csp: CSP, logits: Tensor, values: Tensor, subset: Tensor, temperature: Tensor, settings: LossSettings, generator: torch.Generator
) -> Tensor:
    """Mean loss over candidates and instances: logits [K,n,m], values and subset [K,n], temperature [K,instances] -> scalar."""
    current = csp.one_hot(values)
    if settings.kind == "penalty":
        soft = _relax(logits, settings, generator)
        return _penalty(csp, torch.where(subset[..., None], soft, current), settings).mean()
    chosen = subset[..., None]
    logs = logits.log_softmax(-1)
    probs = logs.exp()
    energy = csp.expected(torch.where(chosen, probs, current))  # [K,I]
    sizes = torch.tensor(csp.sizes)
    if settings.kind == "expected":
        return (energy / sizes).mean()
    entropy = -(probs * logs).sum(-1) * subset  # [K,n]
    entropy = torch.zeros_like(energy).index_add(1, csp.instance, entropy)
    return ((energy / temperature - entropy) / sizes).mean()


def _relax(logits: Tensor, settings: LossSettings, generator: torch.Generator) -> Tensor:
    if settings.relaxation == "gumbel":
        logits = with_gumbel_noise(logits, generator)
    return (logits / settings.tau).softmax(-1)


def _penalty(csp: CSP, probs: Tensor, settings: LossSettings) -> Tensor:
    total = probs.new_zeros(len(probs), len(csp.instances))
    for constraint in csp.constraints:
        penalty = constraint.penalty(probs, csp.domain) ** settings.power * constraint.weight.to(probs.dtype)
        total = total.index_add(1, csp.instance[constraint.anchor], penalty * settings.weights.get(constraint.kind, 1.0))
    return total

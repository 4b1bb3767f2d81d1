"""The paper's network: a Transformer whose tokens are the current values of the variables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from consformer.csp import CSP
from consformer.errors import CheckpointError
from consformer.networks.attention import Layout, Relation
from consformer.networks.base import MASKED, Network, check_choice, check_sizes
from consformer.networks.inputs import HIGHEST_CONFLICT, conflict_inputs


@dataclass(frozen=True)
class TokenConfig:
    """Settings of the paper's network; the defaults are its Sudoku model."""

    values: int = 9
    """domain size it is made for; problems with fewer values fit too"""
    width: int = 128
    layers: int = 7
    heads: int = 3
    head_width: int | None = None
    """width of a head; none means as wide as the embedding, as in the paper"""
    feed_forward: int | None = None
    """width of the feed-forward; none means as wide as the embedding, as in the paper"""
    dropout: float = 0.1
    positions: Literal["none", "flat", "full"] = "full"
    """absolute position encoding: none, of the flat index (1-D), or of every dimension (k-D)"""
    relation: Relation = "mask"
    """how variables that share no constraint are treated: like all others, with a learned penalty, or not looked at"""
    mark_fixed: bool = False
    see_temperature: bool = False
    see_conflicts: bool = False

    def __post_init__(self) -> None:
        check_sizes(self, "values", "width", "heads", "head_width", "feed_forward")
        check_sizes(self, "layers", most=1000)
        check_choice(self, "positions", "none", "flat", "full")
        check_choice(self, "relation", "none", "learned", "mask")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1, not {self.dropout!r}")


class TokenNetwork(Network):
    architecture = "token"
    config_type = TokenConfig
    config: TokenConfig

    def __init__(self, config: TokenConfig) -> None:
        super().__init__(config)
        width = config.width
        self.value = nn.Embedding(config.values, width)
        self.selected = nn.Parameter(torch.randn(width) * 0.02)
        self.mix = nn.Parameter(torch.ones(3))  # alpha, beta, gamma
        self.fixed = nn.Parameter(torch.randn(width) * 0.02) if config.mark_fixed else None
        self.warmth = nn.Linear(2, width) if config.see_temperature else None
        self.conflicts = nn.Linear(2 * config.values, width) if config.see_conflicts else None
        self.apart = nn.Parameter(torch.zeros(())) if config.relation == "learned" else None
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList([Block(config) for _ in range(config.layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, config.values)

    def forward(self, csp: CSP, values: Tensor, subset: Tensor, temperature: Tensor, *, drafts: bool = False) -> Tensor:
        warmth = temperature[:, csp.instance]  # [K,n]
        h = self._embed(csp, values, subset, warmth)  # [n,K,c]
        layout = Layout.of(csp.graph, self.config.relation)
        penalty = None if self.apart is None else -F.softplus(self.apart)
        h = layout.enter(self.dropout(h))
        for block in self.blocks:
            h = block(h, layout, penalty)
        logits = layout.leave(self.head(self.norm(h)))[..., : csp.m].transpose(0, 1)  # [K,n,m]
        return (logits / warmth[..., None]).masked_fill(~csp.domain, MASKED)

    def _embed(self, csp: CSP, values: Tensor, subset: Tensor, warmth: Tensor) -> Tensor:
        alpha, beta, gamma = self.mix
        h: Tensor = alpha * self.value(values) + gamma * self.selected * subset[..., None]  # [K,n,c]
        if self.config.positions != "none":
            h = h + beta * self._positions(csp)
        if self.fixed is not None:
            h = h + self.fixed * ~csp.free[:, None]
        if self.warmth is not None:
            h = h + self.warmth(torch.stack([warmth.log(), 0.25 / warmth], -1))
        if self.conflicts is not None:
            outside, inside, _ = conflict_inputs(csp, csp.one_hot(values), subset)
            bounded = [x.clamp(-HIGHEST_CONFLICT, HIGHEST_CONFLICT).masked_fill(~csp.domain, 0.0) for x in (outside, inside)]
            h = h + self.conflicts(torch.cat([F.pad(x, (0, self.config.values - csp.m)) for x in bounded], -1))
        return h.transpose(0, 1)

    def _positions(self, csp: CSP) -> Tensor:
        width = self.config.width
        if self.config.positions == "flat":
            return encode_positions(torch.cat([torch.arange(size) for size in csp.sizes])[:, None], width)
        if len({part.positions.shape[1] for part in csp.instances}) == 1:
            return encode_positions(csp.positions, width)
        return torch.cat([encode_positions(part.positions, width) for part in csp.instances])  # a union pads, which is no dimension

    def check_fit(self, csp: CSP) -> None:
        if csp.m > self.config.values:
            raise CheckpointError(
                f"this network was made for at most {self.config.values} values, the problem has {csp.m}; "
                "use a network of the equivariant architecture, which fits any number"
            )


class Block(nn.Module):
    """Pre-norm Transformer block."""

    def __init__(self, config: TokenConfig) -> None:
        super().__init__()
        width = config.width
        self.heads, self.head_width = config.heads, config.head_width or width
        hidden = config.feed_forward or width
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key, self.value = (nn.Linear(width, self.heads * self.head_width) for _ in range(3))
        self.out = nn.Linear(self.heads * self.head_width, width)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, h: Tensor, layout: Layout, penalty: Tensor | None) -> Tensor:
        rows, pool, _ = h.shape
        x = self.norm1(h)
        q, k, v = (f(x).view(rows, pool * self.heads, self.head_width) for f in (self.query, self.key, self.value))
        mixed = layout.attend(q, k, v, penalty).view(rows, pool, -1)
        h = h + self.dropout(self.out(mixed))
        moved: Tensor = self.dropout(self.down(F.gelu(self.up(self.norm2(h)))))
        return h + moved


def encode_positions(positions: Tensor, width: int) -> Tensor:
    """Sinusoidal encodings of every dimension, side by side: [n,k] -> [n,width]. The width need not divide evenly.

    >>> encode_positions(torch.tensor([[0, 7, 2]]), 128).shape
    torch.Size([1, 128])
    """
    dims = positions.shape[1]
    shares = [width // dims + (d < width % dims) for d in range(dims)]
    return torch.cat([_sinusoid(positions[:, d], share) for d, share in enumerate(shares)], -1)


def _sinusoid(position: Tensor, width: int) -> Tensor:
    half = (width + 1) // 2
    frequency = torch.exp(torch.arange(half) * (-math.log(10_000.0) / max(half, 1)))
    angle = position[:, None] * frequency  # [n,half]
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)[:, :width]

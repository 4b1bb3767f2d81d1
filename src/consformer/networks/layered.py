"""What the any-CSP networks have in common: one small state per (variable, value) pair, the same weights for every value.

They know no value names, no number of values, no variable indices and no problem family: constraints reach them through the constraint
graph (who attends to whom) and through `CSP.conflicts` (what each value would cost). Permuting the values permutes the answer. Which pairs
have states, and what they are told, is the business of `equivariant` (all pairs) and `open` (those that are not settled yet).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, Self

import torch
from torch import Tensor, nn

from consformer import compiled
from consformer.networks.base import Network, check_sizes

if TYPE_CHECKING:
    from consformer.compiled.layers import Layers

WIDEST_COMPILED = 64  # wider states do not fit the registers, and large matrix products are what torch is good at
_COMPILED: set[tuple[str, tuple[int, int, int]]] = set()  # architectures and sizes of networks whose compiled code is loaded


@dataclass(frozen=True)
class LayeredConfig:
    """Settings of an any-CSP network."""

    width: int = 32
    layers: int = 7
    repeat: int = 1
    """how often the layers are gone through, with the inputs added anew each time"""
    heads: int = 2
    expand: int = 2

    def __post_init__(self) -> None:
        check_sizes(self, "width", "heads", "expand")
        check_sizes(self, "layers", "repeat", most=1000)
        if self.width % self.heads:
            raise ValueError(f"width {self.width} cannot be shared among {self.heads} heads")


class LayeredNetwork(Network, registered=False):
    config: LayeredConfig

    def __init__(self, config: LayeredConfig, features: int) -> None:
        super().__init__(config)
        self.inputs = nn.Linear(features, config.width)
        self.blocks = nn.ModuleList([Block(config.width, config.heads, config.expand) for _ in range(config.layers)])
        self.norm = nn.LayerNorm(config.width, bias=False)
        self.head = nn.Linear(config.width, 1, bias=False)
        nn.init.zeros_(self.head.weight)  # untrained, the network is parallel Gibbs sampling
        self.skip = nn.Parameter(torch.tensor([1.0, 0.3]))
        self._compiled: Layers | None = None

    def with_depth(self, depth: int | None) -> Self:
        if depth is None:
            return self
        other = copy(self)  # has the same weights, not copies of them
        other.config = replace(self.config, repeat=depth)
        return other

    def compiled(self) -> Self:
        if self._compiled is not None or self.config.width > WIDEST_COMPILED or not compiled.available():
            return self
        from consformer.compiled.layers import Layers  # only now: it loads the compiler

        other = copy(self)
        other._compiled = Layers(self)
        _COMPILED.add((self.architecture, self.sizes))
        return other

    def compiled_at_hand(self) -> bool:
        return (self.architecture, self.sizes) in _COMPILED

    @property
    def sizes(self) -> tuple[int, int, int]:
        """What compiled code depends on: how wide states are, how many heads there are, how wide the inside of the feed-forward is."""
        return self.config.width, self.config.heads, self.config.expand * self.config.width

    @property
    def seconds_per_pair(self) -> float:
        return 1e-10 * self.config.repeat * sum(weights.numel() for weights in self.parameters())

    def turns(self, told: Tensor, pairs: Pairs, every: bool, leave: Callable[[Tensor], Tensor] = lambda x: x) -> list[Tensor]:
        """What the head says after every turn, or only after the last: `told` [..., c], added anew in each turn -> [...] each."""
        h, found = torch.zeros_like(told), []
        for turn in range(1, self.config.repeat + 1):
            h = h + told
            for block in self.blocks:
                h = block(h, pairs)
            if every or turn == self.config.repeat:
                found.append(leave(self.head(self.norm(h)))[..., 0])
        return found


class Block(nn.Module):
    """Attention over the variables, for each value by itself; then a feed-forward that also sees the other values of the variable."""

    def __init__(self, width: int, heads: int, expand: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        hidden = expand * width
        # The norms have shifts of their own, and a bias costs a pass over memory: no bias here. For the same reason ReLU, not GELU.
        self.query, self.key, self.value, self.out = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.up, self.down = nn.Linear(width, hidden, bias=False), nn.Linear(hidden, width, bias=False)
        self.others = nn.Linear(2 * width, hidden, bias=False)

    def forward(self, h: Tensor, pairs: Pairs) -> Tensor:
        """States [rows, ..., c] of (variable, value) pairs -> the same after this layer."""
        x = self.norm1(h)
        q, k, v = (f(x).view(len(h), -1, h.shape[-1] // self.heads) for f in (self.query, self.key, self.value))
        h = h + self.out(pairs.attend(q, k, v).view_as(h))
        x = self.norm2(h)
        moved: Tensor = self.down(torch.relu(self.up(x) + pairs.spread(self.others(pairs.over_values(x)))))
        return h + moved


class Pairs(Protocol):
    """Which pairs of variables and values have states, and how they hang together."""

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Attention of [rows,R,d] over the variables, for each value by itself."""

    def over_values(self, x: Tensor) -> Tensor:
        """States -> mean and maximum over the values of each variable, side by side in the last axis."""

    def spread(self, x: Tensor) -> Tensor:
        """What is known of each variable, for all its values."""

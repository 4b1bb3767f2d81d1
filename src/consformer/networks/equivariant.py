"""The any-CSP network: one small state per (variable, value), the same weights for every value.

It knows no value names, no number of values, no variable indices and no problem family: constraints reach it through the
constraint graph (who attends to whom) and through `CSP.conflicts` (what each value would cost). Permuting the values permutes the answer.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from consformer import compiled
from consformer.csp import CSP
from consformer.networks.attention import Layout
from consformer.networks.base import MASKED, Network, check_sizes
from consformer.networks.inputs import HIGHEST_CONFLICT, conflict_inputs

if TYPE_CHECKING:
    from consformer.compiled.layers import Layers

FEATURES = 11
WIDEST_COMPILED = 64  # wider states do not fit the registers, and large matrix products are what torch is good at
_COMPILED: set[tuple[int, int, int]] = set()  # sizes of networks (width, heads, expand) whose compiled code is loaded
HIGHEST_OF_NONE = -40.0  # what stands for the highest of no values: far below what a norm gives


@dataclass(frozen=True)
class EquivariantConfig:
    """Settings of the any-CSP network."""

    width: int = 32
    layers: int = 7
    repeat: int = 1
    """how often the layers are gone through, with the inputs added anew each time"""
    heads: int = 2
    expand: int = 2
    tell_fixed: bool = True
    """whether fixed variables look different from others that are not updated in this step"""

    def __post_init__(self) -> None:
        check_sizes(self, "width", "heads", "expand")
        check_sizes(self, "layers", "repeat", most=1000)
        if self.width % self.heads:
            raise ValueError(f"width {self.width} cannot be shared among {self.heads} heads")


class EquivariantNetwork(Network):
    architecture = "equivariant"
    universal = True
    config_type = EquivariantConfig
    config: EquivariantConfig

    def __init__(self, config: EquivariantConfig) -> None:
        super().__init__(config)
        self.inputs = nn.Linear(FEATURES, config.width)
        self.blocks = nn.ModuleList([Block(config) for _ in range(config.layers)])
        self.norm = nn.LayerNorm(config.width, bias=False)
        self.head = nn.Linear(config.width, 1, bias=False)
        nn.init.zeros_(self.head.weight)  # untrained, the network is parallel Gibbs sampling
        self.skip = nn.Parameter(torch.tensor([1.0, 0.3]))
        self._compiled: Layers | None = None

    def with_depth(self, depth: int | None) -> EquivariantNetwork:
        if depth is None:
            return self
        other = copy(self)  # has the same weights, not copies of them
        other.config = replace(self.config, repeat=depth)
        return other

    def compiled(self) -> EquivariantNetwork:
        if self._compiled is not None or self.config.width > WIDEST_COMPILED or not compiled.available():
            return self
        from consformer.compiled.layers import Layers  # only now: it loads the compiler

        other = copy(self)
        other._compiled = Layers(self)
        _COMPILED.add((self.config.width, self.config.heads, self.config.expand))
        return other

    def compiled_at_hand(self) -> bool:
        config = self.config
        return (config.width, config.heads, config.expand) in _COMPILED

    def forward(self, csp: CSP, values: Tensor, subset: Tensor, temperature: Tensor, *, drafts: bool = False) -> Tensor:
        current = csp.one_hot(values)  # [K,n,m]
        outside, inside, floor = conflict_inputs(csp, current, subset)
        warmth = temperature[:, csp.instance]  # [K,n]
        settled = ~csp.free.expand_as(subset) if self.config.tell_fixed else ~subset  # [K,n]
        features = _features(csp, current, subset, settled, outside, inside, floor, warmth)  # [n,K,m,F]
        told = self.inputs(features)  # [n,K,m,c]
        if self._compiled is None or drafts or torch.is_grad_enabled():
            found = self._drafts(csp, told, drafts)
        else:
            found = [self._compiled(told, self.config.repeat, csp.domain, csp.graph)]
        plain = self.skip[0] * outside + self.skip[1] * inside
        logits = torch.cat([(x.transpose(0, 1) - plain) / warmth[..., None] for x in found])
        return logits.masked_fill(~csp.domain, MASKED)

    def _drafts(self, csp: CSP, told: Tensor, every: bool) -> list[Tensor]:
        """What the head says after every turn, or only after the last: [n,K,m,c] -> [n,K,m] each."""
        layout = Layout.of(csp.graph)
        allowed = layout.enter(csp.domain)[:, None, :, None]  # [rows,1,m,1]
        closed = None if bool(allowed.all()) else ~allowed
        told = layout.enter(told)  # [rows,K,m,c]
        h, found = torch.zeros_like(told), []
        for turn in range(1, self.config.repeat + 1):
            h = h + told
            for block in self.blocks:
                h = block(h, closed, layout)
            if every or turn == self.config.repeat:
                found.append(layout.leave(self.head(self.norm(h)))[..., 0])
        return found


class Block(nn.Module):
    """Attention over the variables, for each value by itself; then a feed-forward that also sees the other values of the variable."""

    def __init__(self, config: EquivariantConfig) -> None:
        super().__init__()
        width = config.width
        self.heads = config.heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        hidden = config.expand * width
        # The norms have shifts of their own, and a bias costs a pass over memory: no bias here. For the same reason ReLU, not GELU.
        self.query, self.key, self.value, self.out = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.up, self.down = nn.Linear(width, hidden, bias=False), nn.Linear(hidden, width, bias=False)
        self.others = nn.Linear(2 * width, hidden, bias=False)

    def forward(self, h: Tensor, closed: Tensor | None, layout: Layout) -> Tensor:
        rows, pool, m, width = h.shape
        x = self.norm1(h)
        q, k, v = (f(x).view(rows, pool * m * self.heads, width // self.heads) for f in (self.query, self.key, self.value))
        h = h + self.out(layout.attend(q, k, v).view(rows, pool, m, width))
        x = self.norm2(h)
        others = self.others(_over_values(x, closed))[:, :, None]  # [rows,K,1,e*c]
        moved: Tensor = self.down(torch.relu(self.up(x) + others))
        return h + moved


def _over_values(x: Tensor, closed: Tensor | None) -> Tensor:
    """Mean and maximum over the values a variable may take (none: over all): [rows,K,m,c] -> [rows,K,2c]."""
    if closed is None:
        return torch.cat([x.mean(2), x.amax(2)], -1)
    count = (~closed).sum(2).clamp(min=1)  # padding has none
    highest = x.masked_fill(closed, MASKED).amax(2)
    return torch.cat([x.masked_fill(closed, 0.0).sum(2) / count, highest.clamp(min=HIGHEST_OF_NONE)], -1)


def _features(
    csp: CSP, current: Tensor, subset: Tensor, settled: Tensor, outside: Tensor, inside: Tensor, floor: Tensor, warmth: Tensor
) -> Tensor:
    """[n,K,m,F]: everything the network is told about a variable and a value."""
    open_values = csp.domain & (~settled[..., None] | (current > 0))  # a settled variable has one value left
    per_variable = [
        subset,
        settled,
        floor[..., 0].clamp(max=HIGHEST_CONFLICT),
        torch.log1p(csp.graph.degree.float()).expand_as(warmth) / 3,
        warmth.log(),
        0.25 / warmth,
    ]
    per_value = [
        current,
        open_values,
        outside.clamp(-HIGHEST_CONFLICT, HIGHEST_CONFLICT),
        inside.clamp(-HIGHEST_CONFLICT, HIGHEST_CONFLICT),
        outside < 0.5,
    ]
    columns = [x[..., None].expand_as(current) for x in per_variable] + per_value
    return torch.stack([x.transpose(0, 1).to(current.dtype) for x in columns], -1)

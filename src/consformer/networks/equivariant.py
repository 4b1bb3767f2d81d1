"""The any-CSP network with a state for every (variable, value) pair, whether the variable is free or not (see `layered`)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from consformer.csp import CSP
from consformer.networks.attention import Layout
from consformer.networks.base import MASKED
from consformer.networks.inputs import HIGHEST_CONFLICT, conflict_inputs
from consformer.networks.layered import LayeredConfig, LayeredNetwork

FEATURES = 11
HIGHEST_OF_NONE = -40.0  # what stands for the highest of no values: far below what a norm gives


@dataclass(frozen=True)
class EquivariantConfig(LayeredConfig):
    """Settings of the any-CSP network."""

    tell_fixed: bool = True
    """whether fixed variables look different from others that are not updated in this step"""


class EquivariantNetwork(LayeredNetwork):
    architecture = "equivariant"
    universal = True
    config_type = EquivariantConfig
    config: EquivariantConfig

    def __init__(self, config: EquivariantConfig) -> None:
        super().__init__(config, FEATURES)

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
            found = [self._quickly(csp, told)]
        plain = self.skip[0] * outside + self.skip[1] * inside
        logits = torch.cat([(x.transpose(0, 1) - plain) / warmth[..., None] for x in found])
        return logits.masked_fill(~csp.domain, MASKED)

    def _quickly(self, csp: CSP, told: Tensor) -> Tensor:
        """[n,K,m,c] -> [n,K,m], by compiled code."""
        from consformer.compiled.layers import Groups

        assert self._compiled is not None
        n, pool, m, width = told.shape
        groups = Groups.of_every_pair(csp.domain, pool)
        return self._compiled(told.reshape(n, pool * m, width), self.config.repeat, csp.graph, groups).view(n, pool, m)

    def _drafts(self, csp: CSP, told: Tensor, every: bool) -> list[Tensor]:
        """What the head says after every turn, or only after the last: [n,K,m,c] -> [n,K,m] each."""
        layout = Layout.of(csp.graph)
        allowed = layout.enter(csp.domain)[:, None, :, None]  # [rows,1,m,1]
        pairs = EveryPair(layout, None if bool(allowed.all()) else ~allowed)
        return self.turns(layout.enter(told), pairs, every, layout.leave)


@dataclass(frozen=True, eq=False)
class EveryPair:
    """All variables with all values [rows,K,m,c]; those that are closed to a variable are not among its values."""

    layout: Layout
    closed: Tensor | None  # [rows,1,m,1]; none: all are open

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return self.layout.attend(q, k, v)

    def over_values(self, x: Tensor) -> Tensor:
        """[rows,K,m,c] -> [rows,K,2c]; over all values where a variable has none."""
        if self.closed is None:
            return torch.cat([x.mean(2), x.amax(2)], -1)
        count = (~self.closed).sum(2).clamp(min=1)  # padding has none
        highest = x.masked_fill(self.closed, MASKED).amax(2)
        return torch.cat([x.masked_fill(self.closed, 0.0).sum(2) / count, highest.clamp(min=HIGHEST_OF_NONE)], -1)

    def spread(self, x: Tensor) -> Tensor:
        return x[:, :, None]


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

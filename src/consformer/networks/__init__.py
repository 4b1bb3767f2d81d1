"""Networks: `token` is the paper's, `equivariant` the one that fits any CSP."""

from consformer.networks.base import MASKED, Network
from consformer.networks.equivariant import EquivariantConfig, EquivariantNetwork
from consformer.networks.token import TokenConfig, TokenNetwork

__all__ = ["MASKED", "EquivariantConfig", "EquivariantNetwork", "Network", "TokenConfig", "TokenNetwork"]

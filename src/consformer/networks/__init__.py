"""Networks: one architecture a file, found by importing this package's modules. `token` is the paper's, `equivariant` and
`open` fit any CSP."""

from __future__ import annotations

import importlib
import pkgutil

from consformer.networks.base import MASKED, Network
from consformer.networks.equivariant import EquivariantConfig, EquivariantNetwork
from consformer.networks.layered import LayeredConfig
from consformer.networks.open import OpenNetwork
from consformer.networks.token import TokenConfig, TokenNetwork

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["MASKED", "EquivariantConfig", "EquivariantNetwork", "LayeredConfig", "Network", "OpenNetwork", "TokenConfig", "TokenNetwork"]

from __future__ import annotations

from typing import Any

import pytest

from consformer.errors import CheckpointError, UnknownNameError
from consformer.networks import EquivariantNetwork, Network, TokenNetwork


def test_builds_by_name() -> None:
    assert isinstance(Network.build("equivariant", {"width": 4, "layers": 1}), EquivariantNetwork)
    assert isinstance(Network.build("token", {"width": 4, "layers": 1}), TokenNetwork)


def test_settings_survive() -> None:
    network = Network.build("token", {"width": 4, "layers": 1, "relation": "learned"})
    twin = Network.build("token", network.config_dict())
    assert twin.config == network.config
    assert {name: tensor.shape for name, tensor in twin.state_dict().items()} == {
        name: tensor.shape for name, tensor in network.state_dict().items()
    }


def test_unknown_architecture() -> None:
    with pytest.raises(UnknownNameError, match="network architecture 'equivarient': did you mean 'equivariant'"):
        Network.build("equivarient", {})


def test_unknown_setting() -> None:
    with pytest.raises(UnknownNameError, match="setting of the equivariant network 'widht': did you mean 'width'"):
        Network.build("equivariant", {"widht": 8})


@pytest.mark.parametrize(
    ("architecture", "config", "named"),
    [
        ("equivariant", {"width": 0}, "width"),
        ("equivariant", {"width": "32"}, "width"),
        ("equivariant", {"width": 32.0}, "width"),
        ("equivariant", {"width": True}, "width"),
        ("equivariant", {"width": None}, "width"),
        ("equivariant", {"width": 10**12}, "width"),
        ("equivariant", {"width": 9, "heads": 2}, "2 heads"),
        ("equivariant", {"layers": -1}, "layers"),
        ("equivariant", {"layers": 10**9}, "layers"),
        ("token", {"values": 0}, "values"),
        ("token", {"head_width": 0}, "head_width"),
        ("token", {"dropout": 1.5}, "dropout"),
        ("token", {"dropout": "some"}, "no token network"),
        ("token", {"positions": "2d"}, "none, flat, full"),
        ("token", {"relation": ["mask"]}, "none, learned, mask"),
    ],
)
def test_impossible_settings(architecture: str, config: dict[str, Any], named: str) -> None:
    with pytest.raises(CheckpointError, match=named):
        Network.build(architecture, config)

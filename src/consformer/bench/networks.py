"""What a record says of the network that was measured."""

from __future__ import annotations

from typing import Any

from consformer.evaluation.run import fingerprint
from consformer.training.checkpoint import load_network


def identified(name_or_path: str) -> dict[str, Any]:
    """Name and fingerprint, so that a record does not go on with other weights under the same name.

    >>> identified("any")["network"]
    'any'
    """
    network, card = load_network(name_or_path)
    return {"network": card.name, "weights": fingerprint(network, card)}

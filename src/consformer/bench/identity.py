"""What a record says of the problems and networks that were measured, so that it does not go on with others under the same names."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Any

from torch import Tensor

from consformer.constraints import Constraint
from consformer.csp import CSP
from consformer.evaluation.run import fingerprint
from consformer.solving import choose
from consformer.training.checkpoint import load_network


def identified(name_or_path: str) -> dict[str, Any]:
    """Name and fingerprint of a network.

    >>> identified("any")["network"]
    'any'
    """
    network, card = load_network(name_or_path)
    return {"network": card.name, "weights": fingerprint(network, card)}


@cache
def weights(name_or_path: str) -> str:
    """The fingerprint of a network that does not change while this process lives."""
    return str(identified(name_or_path)["weights"])


def problem(csp: CSP) -> str:
    """The fingerprint of a problem: changes with its domains, fixed values and constraints."""
    digest = hashlib.sha256()
    parts: list[CSP | Constraint] = [csp, *csp.constraints]
    for part in parts:
        for each in fields(part):
            value = getattr(part, each.name)
            if isinstance(value, Tensor) and each.name != "positions":
                digest.update(f"{each.name}{list(value.shape)}".encode() + value.contiguous().numpy().tobytes())
    return digest.hexdigest()[:12]


def entries(csp: CSP, network: str | None = None) -> dict[str, Any]:
    """What a row says of its problem, and of the network that was asked, by its name ("auto": whichever is chosen)."""
    found = {"problem": problem(csp)}
    if network is not None:
        found["weights"] = weights(choose([csp]) if network == "auto" else network)
    return found


def differing(row: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """What a row was measured with that is otherwise now; rows from before they told it are believed."""
    told = {"problem": "another problem", "weights": "other weights", "best": "another best known objective"}
    for name, words in told.items():
        if name in row and name in now and row[name] != now[name]:
            return f"{words} under the same name"
    return None

"""The state of a training run on disk: what it takes to go on exactly where it stopped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from consformer.training.checkpoint import read_tensors, write_tensors

FORMAT, VERSION = "consformer-training-state", 1
PARTS = ("weights", "average", "optimiser", "best")

Parts = dict[str, dict[str, Tensor]]  # tensors by part and name


def write_state(path: Path, parts: Mapping[str, Mapping[str, Tensor]], document: Mapping[str, Any]) -> None:
    """All or nothing."""
    tensors = {f"{part}.{name}": tensor.detach() for part, own in parts.items() for name, tensor in own.items()}
    write_tensors(path, tensors, {"format": FORMAT, "version": VERSION, **document})


def read_state(path: Path) -> tuple[Parts, dict[str, Any]]:
    """The tensors of all parts, of which some may have none, and the document."""
    tensors, document = read_tensors(path, FORMAT, VERSION)
    parts: Parts = {part: {} for part in PARTS}
    for name, tensor in tensors.items():
        part, _, own = name.partition(".")
        parts.setdefault(part, {})[own] = tensor
    return parts, document


def differing(mine: Any, theirs: Any) -> list[str]:
    """What keeps a run of one recipe from going on with another: all that decides the weights but its length, so that a run can be
    prolonged or cut short.
    """
    own, other = _comparable(mine), _comparable(theirs)
    return [key for key in own if own[key] != other.get(key)]


def _comparable(recipe: Any) -> dict[str, Any]:
    plain = _without_none(json.loads(json.dumps(recipe))) if isinstance(recipe, dict) else {}
    optimiser = {key: value for key, value in plain.get("optimiser", {}).items() if key not in ("steps", "warmup")}
    return {key: plain.get(key) for key in ("seed", "task", "network", "loss", "state")} | {"optimiser": optimiser}


def _without_none(plain: Any) -> Any:
    """Settings that are not given are not there, so that a run can go on after a new one was thought of."""
    if isinstance(plain, dict):
        return {key: _without_none(value) for key, value in plain.items() if value is not None}
    return [_without_none(value) for value in plain] if isinstance(plain, list) else plain

"""Network files: safetensors with a JSON description. Nothing in them is ever executed."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib import resources
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor

from consformer.errors import CheckpointError, UnknownNameError
from consformer.files import replace_atomically
from consformer.networks import Network

FORMAT = "consformer-network"
VERSION = 1


@dataclass(frozen=True)
class Card:
    """What a network file says about itself."""

    name: str
    architecture: str
    config: Mapping[str, Any]
    families: tuple[str, ...] = ()
    """families it was trained on"""
    constraints: tuple[str, ...] = ()
    """constraint kinds it was trained on"""
    recipe: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    """steps, samples, core-minutes, machine, date, commit"""
    results: Mapping[str, Any] = field(default_factory=dict)
    """what was measured, by which command"""
    search: Mapping[str, Any] = field(default_factory=dict)
    """defaults of `solve` with this network"""
    soft_search: Mapping[str, Any] = field(default_factory=dict)
    """the same for problems with soft constraints, where it differs"""
    tight_search: Mapping[str, Any] = field(default_factory=dict)
    """the same for problems with constraints that leave no value unused, where it differs"""
    parameters: int = 0


# Ends the name of a validation set of optimisation problems: not the share of problems that were solved, but the share of the weight of
# soft constraints that holds.
WEIGHT = " weight"


def told(name: str, share: float) -> str:
    """What a validation set brought, in words.

    >>> told("sudoku/0", 0.875), told("maxcut/1 weight", 0.9)
    ('sudoku/0: 87.5 % solved', 'maxcut/1: 90.0 % of the weight')
    """
    what = "of the weight" if name.endswith(WEIGHT) else "solved"
    return f"{name.removesuffix(WEIGHT)}: {100 * share:.1f} % {what}"


def save_network(path: Path, network: Network, card: Card) -> None:
    """Write a network file atomically: a crash or a full disk leaves the file that was there."""
    tensors = {name: tensor.detach().contiguous() for name, tensor in network.state_dict().items()}
    document = {"format": FORMAT, "version": VERSION, **card.__dict__, "parameters": sum(t.numel() for t in tensors.values())}
    write_tensors(path, tensors, document)


def load_network(name_or_path: str | Path) -> tuple[Network, Card]:
    """A shipped network by name, or one from a file.

    >>> network, card = load_network("any")
    >>> card.architecture
    'equivariant'
    """
    path = locate(name_or_path)
    tensors, document = read_tensors(path, FORMAT, VERSION)
    card = _card(document, path)
    with torch.device("meta"):  # nothing is allocated before the file turns out to hold what its settings ask for
        network = Network.build(card.architecture, dict(card.config))
    expected = network.state_dict()
    for name in expected.keys() | tensors.keys():
        if (
            name not in tensors
            or name not in expected
            or tensors[name].shape != expected[name].shape
            or not tensors[name].is_floating_point()
        ):
            raise CheckpointError(f"{path}: tensor {name!r} is not what its settings of the {card.architecture} network ask for")
        if not bool(tensors[name].isfinite().all()):
            raise CheckpointError(f"{path}: tensor {name!r} holds numbers that are not finite; train or download the network again")
    network.load_state_dict({name: tensor.float() for name, tensor in tensors.items()}, assign=True)
    return network.eval(), card


def network_names() -> list[str]:
    """Names of the networks that ship with the package."""
    return sorted(entry.name.removesuffix(".safetensors") for entry in _shipped().iterdir() if entry.name.endswith(".safetensors"))


def read_card(name_or_path: str | Path) -> Card:
    """Only the description of a network."""
    path = locate(name_or_path)
    return _card(_read_document(path, FORMAT, VERSION), path)


# --- tensors and a JSON document in one file ----------------------------------------------------------------------


def write_tensors(path: Path, tensors: Mapping[str, Tensor], document: Mapping[str, Any]) -> None:
    """Write the file, all or nothing."""
    data = to_bytes(dict(tensors), metadata={"consformer": json.dumps(document)})
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_atomically(path, data)
    except OSError as error:
        kept = "; the file that was there before is untouched" if path.exists() else ""
        raise CheckpointError(f"{path}: cannot be written: {error.strerror or error}{kept}") from error


def read_tensors(path: Path, format_name: str, version: int) -> tuple[dict[str, Tensor], dict[str, Any]]:
    document = _read_document(path, format_name, version)
    try:
        with safe_open(str(path), framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, document  # noqa: SIM118
    except (SafetensorError, OSError, RuntimeError, ValueError) as error:
        raise CheckpointError(f"{path}: is damaged or cut short ({error}); get or train it again") from error


def _read_document(path: Path, format_name: str, version: int) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            head = file.read(8)
            size = struct.unpack("<Q", head)[0] if len(head) == 8 else 0
            if not 2 <= size <= 100_000_000:
                raise CheckpointError(f"{path}: is not a safetensors file")
            header = json.loads(file.read(size))
        document = json.loads(header["__metadata__"]["consformer"])
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise CheckpointError(f"{path}: is not a file of this package, or it is damaged") from error
    if not isinstance(document, dict) or document.get("format") != format_name:
        raise CheckpointError(f"{path}: is not a {format_name} file")
    if document.get("version") != version:
        raise CheckpointError(f"{path}: has format version {document.get('version')!r}; this release of consformer reads version {version}")
    return document


def _card(document: Mapping[str, Any], path: Path) -> Card:
    given: dict[str, Any] = {item.name: document[item.name] for item in fields(Card) if item.name in document}
    for name, value in given.items():
        if not isinstance(value, _CARD_TYPES[name]):
            raise CheckpointError(f"{path}: its description is damaged: {name!r} has the wrong type")
    given |= {name: tuple(str(entry) for entry in given[name]) for name in _LISTS if name in given}
    try:
        return Card(**given)
    except TypeError as error:
        raise CheckpointError(f"{path}: its description is incomplete: {error}") from error


_LISTS = ("families", "constraints")
_CARD_TYPES: Mapping[str, type] = {
    **dict.fromkeys(("name", "architecture"), str),
    **dict.fromkeys(_LISTS, list),
    **dict.fromkeys(("config", "recipe", "training", "results", "search", "soft_search", "tight_search"), dict),
    "parameters": int,
}


def _shipped() -> Any:
    return resources.files("consformer") / "weights"


def locate(name_or_path: str | Path) -> Path:
    """The file of a shipped network, or a path as it is."""
    if isinstance(name_or_path, str) and name_or_path in network_names():
        return Path(str(_shipped() / f"{name_or_path}.safetensors"))
    path = Path(name_or_path)
    if path.suffix != ".safetensors" and not path.exists():
        raise UnknownNameError("network", str(name_or_path), network_names())
    return path

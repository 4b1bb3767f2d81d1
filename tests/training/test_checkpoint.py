from __future__ import annotations

import errno
import io
import json
import os
import pickle
import struct
from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch
from torch import Tensor

from consformer.errors import CheckpointError, UnknownNameError
from consformer.networks import EquivariantConfig, EquivariantNetwork, Network, TokenConfig, TokenNetwork
from consformer.training.checkpoint import FORMAT, VERSION, Card, load_network, read_card, save_network, write_tensors
from tests.helpers import cycle, random_inputs, randomised, small_equivariant


def card_of(network: Network, **more: Any) -> Card:
    return Card(**{"name": "mine", "architecture": network.architecture, "config": network.config_dict()} | more)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "mine.safetensors"
    network = small_equivariant()
    save_network(path, network, card_of(network))
    return path


def rewritten(path: Path, tensors: dict[str, Tensor] | None = None, **changes: Any) -> Path:
    """The file with other tensors or another description; a change to None leaves the entry out."""
    network, card = load_network(path)
    document = {"format": FORMAT, "version": VERSION, **card.__dict__} | changes
    document = {key: value for key, value in document.items() if value is not None}
    write_tensors(path, network.state_dict() if tensors is None else tensors, document)
    return path


def with_header(path: Path, header: bytes, length: int | None = None) -> Path:
    path.write_bytes(struct.pack("<Q", len(header) if length is None else length) + header)
    return path


# --- there and back -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "network",
    [
        EquivariantNetwork(EquivariantConfig(width=6, layers=1, heads=3, expand=1)),
        TokenNetwork(TokenConfig(values=3, width=8, layers=1, heads=1)),
        TokenNetwork(
            TokenConfig(values=3, width=9, layers=2, heads=2, relation="learned", mark_fixed=True, see_temperature=True, see_conflicts=True)
        ),
    ],
)
def test_round_trip(network: Network, tmp_path: Path) -> None:
    randomised(network)
    path = tmp_path / "new" / "folder" / "mine.safetensors"
    card = card_of(
        network,
        families=("sudoku", "coloring"),
        constraints=("all_different",),
        recipe={"seed": 1, "state": {"p": [0.1, 1.0]}},
        training={"steps": 5},
        results={"validation": {"sudoku/0": 0.5}},
        search={"p": "0.8", "restart": None},
    )
    save_network(path, network, card)
    twin, found = load_network(path)
    assert {**found.__dict__, "parameters": 0} == card.__dict__
    assert found.parameters == sum(parameter.numel() for parameter in network.parameters())
    assert read_card(path) == found
    assert not twin.training
    assert twin.state_dict().keys() == network.state_dict().keys()
    for name, tensor in network.state_dict().items():
        assert torch.equal(twin.state_dict()[name], tensor)
    csp = cycle(5, 3)
    inputs = random_inputs(csp)
    assert torch.equal(twin(csp, *inputs), network(csp, *inputs))
    twin(csp, *inputs).sum().backward()  # it can be trained on
    assert all(parameter.grad is not None for parameter in twin.parameters())


def test_half_precision_is_read_as_single(saved: Path) -> None:
    network, _ = load_network(saved)
    rewritten(saved, {name: tensor.half() for name, tensor in network.state_dict().items()})
    twin, _ = load_network(saved)
    assert all(parameter.dtype == torch.float32 for parameter in twin.parameters())


def test_file_is_readable_by_others(saved: Path) -> None:
    others = saved.with_name("other")
    others.touch()
    assert saved.stat().st_mode == others.stat().st_mode


def test_unknown_name() -> None:
    with pytest.raises(UnknownNameError, match="unknown network 'anny'"):
        load_network("anny")


# --- what cannot be read ------------------------------------------------------------------------------------------


def refused(path: Path, message: str) -> None:
    """Neither the network nor its description can be had; the error names the file and is none of Python's."""
    with pytest.raises(CheckpointError, match=message) as caught:
        load_network(path)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 500


def test_missing_file(tmp_path: Path) -> None:
    refused(tmp_path / "none.safetensors", "cannot be read: No such file")


def test_folder(tmp_path: Path) -> None:
    (tmp_path / "x.safetensors").mkdir()
    refused(tmp_path / "x.safetensors", "cannot be read: Is a directory")


@pytest.mark.parametrize("version", [0, 2, "1.0", None])
def test_another_version(saved: Path, version: Any) -> None:
    rewritten(saved, version=version)
    refused(saved, f"has format version {version!r}; this release of consformer reads version 1")


@pytest.mark.parametrize("name", ["another-network", None, 7])
def test_another_format(saved: Path, name: Any) -> None:
    rewritten(saved, format=name)
    refused(saved, "is not a consformer-network file")


@pytest.mark.parametrize("size", [0, 4, 8, 20, 300, -1])
def test_cut_short(saved: Path, size: int) -> None:
    saved.write_bytes(saved.read_bytes()[:size])
    refused(saved, "damaged|not a safetensors file|not a file of this package")


def test_too_long(saved: Path) -> None:
    saved.write_bytes(saved.read_bytes() + b"more")
    refused(saved, "damaged")


@pytest.mark.parametrize("length", [2**63, 2**64 - 1, 100_000_001, 10**8, 1, 0])
def test_absurd_header_length(saved: Path, length: int) -> None:
    with_header(saved, b'{"__metadata__": {}}', length)
    refused(saved, "is not a safetensors file|not a file of this package")


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b"{}",
        b'{"__metadata__": 3}',
        b'{"__metadata__": {}}',
        b'{"__metadata__": {"consformer": 3}}',
        b'{"__metadata__": {"consformer": "no json"}}',
        b'{"__metadata__": {"consformer": "[1, 2]"}}',
        b"\xff\xfe\xfa" * 20,
        b"[" * 100_000,
        b"9" * 10_000,
    ],
)
def test_garbage_for_a_header(saved: Path, header: bytes) -> None:
    with_header(saved, header)
    refused(saved, "is not a")


class Trap:
    """Unpickling this writes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.path,))


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    sprung = tmp_path / "sprung"
    for number, content in enumerate((pickle.dumps(Trap(sprung)), _torch_bytes(Trap(sprung)))):
        path = tmp_path / f"{number}.safetensors"
        path.write_bytes(content)
        refused(path, "is not a")
    assert not sprung.exists()
    pickle.loads(pickle.dumps(Trap(sprung)))  # the trap does work
    assert sprung.exists()


def _torch_bytes(content: object) -> bytes:
    buffer = io.BytesIO()
    torch.save(content, buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "changes",
    [
        {"name": None},
        {"name": 3},
        {"architecture": None},
        {"architecture": ["equivariant"]},
        {"config": None},
        {"config": [8]},
        {"families": "sudoku"},
        {"constraints": {"all_different": 1}},
        {"search": "0.8"},
        {"recipe": 5},
        {"results": []},
        {"training": "long"},
        {"parameters": "many"},
    ],
)
def test_garbage_for_a_description(saved: Path, changes: dict[str, Any]) -> None:
    rewritten(saved, **changes)
    refused(saved, "its description is (damaged|incomplete)")
    with pytest.raises(CheckpointError, match="its description is"):
        read_card(saved)


def test_unknown_architecture_or_setting(saved: Path) -> None:
    rewritten(saved, architecture="equivariant2")
    with pytest.raises(UnknownNameError, match="did you mean 'equivariant'"):
        load_network(saved)


@pytest.mark.parametrize("config", [{"width": 16}, {"layers": 3}, {"expand": 1}, {"width": 100_000, "layers": 20}])
def test_settings_that_are_not_those_of_the_tensors(saved: Path, config: dict[str, Any]) -> None:
    """Also when they ask for more memory than there is: nothing is allocated for a claim."""
    network, _ = load_network(saved)
    rewritten(saved, config=network.config_dict() | config)
    refused(saved, "is not what its settings of the equivariant network ask for")


@pytest.mark.parametrize("config", [{"width": 10**15}, {"layers": 10**9}, {"width": -8}, {"heads": 0}, {"heads": 3}])
def test_impossible_settings(saved: Path, config: dict[str, Any]) -> None:
    network, _ = load_network(saved)
    rewritten(saved, config=network.config_dict() | config)
    with pytest.raises(CheckpointError, match="these settings make no equivariant network"):
        load_network(saved)


@pytest.mark.parametrize(
    "wrong",
    [
        torch.zeros(3, 3),
        torch.zeros(8),
        torch.zeros(1, 8, dtype=torch.int64),
        torch.zeros(1, 8, dtype=torch.bool),
        None,
    ],
)
def test_wrong_tensors(saved: Path, wrong: Tensor | None) -> None:
    network, _ = load_network(saved)
    tensors = {name: tensor for name, tensor in network.state_dict().items() if name != "head.weight"}
    assert network.state_dict()["head.weight"].shape == (1, 8)
    rewritten(saved, tensors if wrong is None else tensors | {"head.weight": wrong})
    refused(saved, "tensor 'head.weight' is not what")


def test_one_tensor_too_many(saved: Path) -> None:
    network, _ = load_network(saved)
    rewritten(saved, network.state_dict() | {"extra": torch.zeros(2)})
    refused(saved, "tensor 'extra' is not what")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite(saved: Path, value: float) -> None:
    network, _ = load_network(saved)
    rewritten(saved, network.state_dict() | {"skip": torch.tensor([value, 1.0])})
    refused(saved, "tensor 'skip' holds numbers that are not finite; train or download the network again")


def test_overlapping_tensors(saved: Path) -> None:
    data = saved.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    names = [name for name in header if name != "__metadata__"]
    for name in names:
        header[name]["data_offsets"] = [0, 10**15]
    text = json.dumps(header).encode()
    saved.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size :])
    refused(saved, "damaged")


# --- a disk that is full ------------------------------------------------------------------------------------------


def no_space(*_: object) -> NoReturn:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("fails", ["os.fsync", "pathlib.Path.open", "pathlib.Path.replace"])
def test_a_full_disk_leaves_the_old_file(saved: Path, monkeypatch: pytest.MonkeyPatch, fails: str) -> None:
    before = saved.read_bytes()
    network = small_equivariant(seed=5)
    with monkeypatch.context() as patch:
        patch.setattr(fails, no_space)
        with pytest.raises(
            CheckpointError, match="cannot be written: No space left on device; the file that was there before is untouched"
        ):
            save_network(saved, network, card_of(network))
    assert saved.read_bytes() == before
    assert [entry.name for entry in saved.parent.iterdir()] == ["mine.safetensors"]
    save_network(saved, network, card_of(network))
    assert saved.read_bytes() != before


def test_a_full_disk_without_an_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = small_equivariant()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", no_space)
        with pytest.raises(CheckpointError, match=r"No space left on device$"):
            save_network(tmp_path / "new.safetensors", network, card_of(network))
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    network = small_equivariant()
    with pytest.raises(CheckpointError, match="cannot be written"):
        save_network(tmp_path / "file" / "mine.safetensors", network, card_of(network))


def test_an_interrupt_leaves_the_old_file(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: int) -> NoReturn:
        raise KeyboardInterrupt

    before = saved.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            save_network(saved, small_equivariant(seed=5), card_of(small_equivariant()))
    assert saved.read_bytes() == before
    assert [entry.name for entry in saved.parent.iterdir()] == ["mine.safetensors"]

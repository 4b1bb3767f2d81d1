"""What tests of the command line share."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from consformer.cli import main
from consformer.cli.app import err
from consformer.training.checkpoint import Card, save_network
from tests.cli.running import Cli, Ran, clique, not_yet
from tests.helpers import gibbs


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Cli:
    """The `consformer` command within this process."""
    monkeypatch.setattr("consformer.compiled.SLOW", 600.0)  # whether code is compiled yet does not matter to what is told

    def run(*arguments: object, input: str | bytes | None = None) -> Ran:
        given = input.encode() if isinstance(input, str) else input or b""
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        monkeypatch.setattr(sys, "argv", ["consformer", *map(str, arguments)])
        capfdbinary.readouterr()
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capfdbinary.readouterr()
        assert isinstance(stop.value.code, int)
        return Ran(stop.value.code, out.decode(), err.decode())

    return run


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard error is taken for a terminal."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(err, "is_interactive", True)


@pytest.fixture(scope="session")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network file: untrained, which solves small problems."""
    path = tmp_path_factory.mktemp("networks") / "gibbs.safetensors"
    search = {"p": "0.8", "temperature": "0.25", "decode": "sample"}
    save_network(path, gibbs(), Card("gibbs", "equivariant", gibbs().config_dict(), search=search))
    return path


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """A file with a 4×4 board."""
    path = tmp_path / "board.txt"
    path.write_text("1030020000004003\n")
    return path


@pytest.fixture
def boards(tmp_path: Path) -> Path:
    """A file with three 4×4 boards."""
    path = tmp_path / "boards.txt"
    path.write_text("1030020000004003\n1...............\n................\n")
    return path


@pytest.fixture
def unsolvable(tmp_path: Path) -> Path:
    """A file with a graph of five vertices that four colours are not enough for."""
    return clique(tmp_path / "k5.col", 5)


@pytest.fixture
def never_solving(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solve fails the test."""
    monkeypatch.setattr("consformer.solving.refine", not_yet)

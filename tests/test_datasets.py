from __future__ import annotations

from pathlib import Path

import pytest
import torch

from consformer import datasets, families
from consformer.csp import CSP
from consformer.families.sudoku import Sudoku, SudokuParams


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CONSFORMER_CACHE", str(tmp_path))
    return tmp_path


def givens(csps: list[CSP]) -> list[list[int]]:
    return [csp.given.tolist() for csp in csps]


def files(cache: Path) -> list[Path]:
    return sorted(cache.rglob("*.gz"))


@pytest.fixture
def never_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> list[CSP]:
        raise AssertionError("drawn instead of read from the cache")

    for family in families.Family.registry.values():
        monkeypatch.setattr(family, "_draw", refuse)


@pytest.mark.parametrize("name", families.names())
def test_the_second_time_it_comes_from_the_cache(name: str, request: pytest.FixtureRequest) -> None:
    first = datasets.load(name, 3, seed=5)
    request.getfixturevalue("never_drawn")
    second = datasets.load(name, 3, seed=5)
    assert givens(first) == givens(second)
    assert all(torch.equal(one.graph.edges, two.graph.edges) for one, two in zip(first, second, strict=True))


def test_any_other_argument_is_another_data_set(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets.load("sudoku", 2, 0, {"box": 2})
    datasets.load("sudoku", 3, 0, {"box": 2})
    datasets.load("sudoku", 2, 1, {"box": 2})
    datasets.load("sudoku", 2, 0, {"box": 2, "givens": 5})
    monkeypatch.setattr(Sudoku, "version", 99)
    datasets.load("sudoku", 2, 0, {"box": 2})
    assert len(files(cache)) == 5


def test_the_same_parameters_in_other_words_are_the_same_data_set(cache: Path) -> None:
    datasets.load("sudoku", 2, 0, {"box": 2, "givens": 5})
    datasets.load("sudoku", 2, 0, {"givens": [5, 5], "box": 2})
    datasets.load("sudoku", 2, 0, SudokuParams(box=2, givens=(5, 5)))
    assert len(files(cache)) == 1


@pytest.mark.parametrize("damage", [b"", b"nonsense", None])
def test_a_damaged_file_is_made_again(cache: Path, damage: bytes | None) -> None:
    first = datasets.load("sudoku", 5, 0, {"box": 2})
    (file,) = files(cache)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    assert givens(datasets.load("sudoku", 5, 0, {"box": 2})) == givens(first)
    assert file.read_bytes() == whole


def test_a_file_of_other_content_is_made_again(cache: Path) -> None:
    datasets.load("sudoku", 2, 0, {"box": 2})
    datasets.load("sudoku", 2, 1, {"box": 2})
    one, two = files(cache)
    one.write_bytes(two.read_bytes())
    assert givens(datasets.load("sudoku", 2, 0, {"box": 2})) != givens(datasets.load("sudoku", 2, 1, {"box": 2}))


def test_no_other_files_are_left_behind(cache: Path) -> None:
    datasets.load("nurse", 1, 0)
    assert [path for path in cache.rglob("*") if path.is_file()] == files(cache)


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    monkeypatch.setenv("CONSFORMER_CACHE", str(blocked))
    assert len(datasets.load("sudoku", 2, 0, {"box": 2})) == 2

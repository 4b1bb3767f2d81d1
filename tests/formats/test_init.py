from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from consformer import formats
from consformer.errors import ConsformerError, InputError, ModelError, UnknownNameError

BOARD = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
GRAPH = "p edge 3 2\ne 1 2\ne 2 3\n"


def test_reads_a_path_a_text_path_bytes_and_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "board.txt"
    path.write_text(BOARD)

    class Stdin:
        buffer = io.BytesIO(BOARD.encode())

    monkeypatch.setattr(sys, "stdin", Stdin)
    for source in (path, str(path), BOARD.encode(), "-"):
        (csp,) = formats.read_problems(source)
        assert int(csp.given[0]) == 4


def test_format_is_found_from_the_content_not_the_name(tmp_path: Path) -> None:
    path = tmp_path / "graph.csv"
    path.write_text(GRAPH)
    (csp,) = formats.read_problems(path, colors=2)
    assert csp.family == "coloring"


def test_family_can_be_chosen() -> None:
    assert formats.read_problems(GRAPH.encode(), family="maxcut")[0].family == "maxcut"
    assert formats.read_problems(b"2 1\n1 2 5\n", family="coloring", colors=2)[0].family == "coloring"


def test_family_must_be_able_to_take_the_file() -> None:
    with pytest.raises(InputError, match="does not hold a sudoku problem but a graph"):
        formats.read_problems(GRAPH.encode(), family="sudoku")
    sample = formats.get("csp_json").sample()
    with pytest.raises(InputError, match="family 'csp' in full, it cannot be read as 'sudoku'"):
        formats.read_problems(sample, family="sudoku")
    with pytest.raises(InputError, match="options do not apply: colors"):
        formats.read_problems(sample, colors=3)


def test_options_must_be_the_familys() -> None:
    with pytest.raises(ModelError, match="sudoku has no option 'colors'"):
        formats.read_problems(BOARD.encode(), colors=3)


def test_wrong_names_are_told_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'dimacs_col'"):
        formats.read_problems(GRAPH.encode(), format="dimacs")
    with pytest.raises(UnknownNameError, match="did you mean 'coloring'"):
        formats.read_problems(GRAPH.encode(), family="colouring")


def refused(source: str | Path | bytes) -> str:
    with pytest.raises(ConsformerError) as caught:
        formats.read_problems(source)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_files_that_are_none_are_told_by_name(tmp_path: Path) -> None:
    missing, empty, binary = tmp_path / "missing.txt", tmp_path / "empty.txt", tmp_path / "binary.bin"
    empty.write_text("\n")
    binary.write_bytes(bytes(range(256)))
    assert refused(missing) == f"{missing}: there is no such file; check the path"
    assert refused(tmp_path) == f"{tmp_path}: this is a directory; give a file in it"
    assert refused(empty).startswith(f"{empty}: the file is empty")
    assert refused(binary).startswith(f"{binary}: this is not a text file")
    assert "binary file" in refused(b"abc\0def")
    assert "in no format known here; if it is one of csp_json, dimacs_col" in refused(b"Dear Sudoku,\n")
    assert "there is no problem in it" in refused(b"# nothing but comments\n") or "no format" in refused(b"# nothing\n")
    assert "cannot be read" in refused("a\0b")


def test_a_file_without_permission_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret.txt"
    path.write_text(BOARD)
    path.chmod(0)
    if os.access(path, os.R_OK):  # the superuser may read everything

        def deny(self: Path) -> bytes:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "read_bytes", deny)
    assert refused(path) == f"{path}: the file cannot be opened: no permission to read it; change its permissions (chmod +r)"


def test_a_file_with_one_wrong_problem_is_refused_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "boards.txt"
    path.write_text(f"{BOARD}\n{BOARD[:-1]}\n")
    assert refused(path) == f"{path}:2: a board has 81 cells (or 16, 256 or 625), here are 80"

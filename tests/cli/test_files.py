from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from consformer.cli.files import check_writable, read_problems, write_text
from consformer.errors import InputError
from tests.cli.running import clique, no_space


def refused(path: Path, message: str) -> None:
    with pytest.raises(InputError, match=message) as found:
        check_writable(path)
    assert str(found.value).startswith(f"{path}: ")


def test_options_of_the_family(tmp_path: Path) -> None:
    path = str(clique(tmp_path / "graph.col", 3))
    assert read_problems(path, None, None, 7)[0].m == 7
    assert read_problems(path, None, None, None)[0].m == 3
    assert read_problems(path, "maxcut", "dimacs_col", None)[0].family == "maxcut"


def test_what_can_be_written(tmp_path: Path) -> None:
    check_writable(tmp_path / "new.txt")
    (tmp_path / "old.txt").write_text("old")
    check_writable(tmp_path / "old.txt")
    check_writable(Path(os.devnull))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old.txt"]
    assert (tmp_path / "old.txt").read_text() == "old"


def test_what_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused(tmp_path, "is a directory; name a file")
    refused(tmp_path / "nowhere" / "a.txt", "there is no folder .*nowhere; make it")
    (tmp_path / "old.txt").write_text("old")
    refused(tmp_path / "old.txt" / "a.txt", "there is no folder")
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda path, mode: False)
        refused(tmp_path / "old.txt", "no permission")
    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "TemporaryFile", no_space)
        refused(tmp_path / "new.txt", "No space left on device; name another file")


def test_writing(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "é\n")
    assert path.read_bytes() == "é\n".encode()
    write_text(path, "new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()
    assert [found.name for found in tmp_path.iterdir()] == ["a.txt"]


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_writing_through_a_link_and_to_a_device(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"
    write_text(Path(os.devnull), "gone")
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize("fails", ["open", "replace"])
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with monkeypatch.context() as patch:
        patch.setattr(Path, fails, no_space)
        with pytest.raises(InputError, match=r"a\.txt: cannot be written: No space left on device"):
            write_text(path, "new")
    assert path.read_text() == "old"
    assert [found.name for found in tmp_path.iterdir()] == ["a.txt"]

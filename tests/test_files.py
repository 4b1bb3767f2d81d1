from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from consformer.files import is_plain, replace_atomically


def no_space(*_: object, **__: object) -> NoReturn:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def interrupt(*_: object, **__: object) -> NoReturn:
    raise KeyboardInterrupt


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """All that is in a folder, hidden files too."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_new_file_and_another_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    for data in (b"\x00\r\n\xff", b"", b"new"):
        replace_atomically(path, data)
        assert contents(tmp_path) == {"a.bin": data}


def test_who_reads_the_old_file_goes_on_reading_it(old: Path) -> None:
    with old.open("rb") as file:
        replace_atomically(old, b"new and longer")
        assert file.read() == b"old"
    assert old.read_bytes() == b"new and longer"


def test_the_longest_name_there_can_be(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 127)
    replace_atomically(path, b"new")
    assert path.read_bytes() == b"new"


@pytest.fixture(params=[0o022, 0o077, 0o002])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_permissions_are_those_of_a_new_file(tmp_path: Path, umask: int) -> None:
    for _ in range(2):
        replace_atomically(tmp_path / "a.bin", b"data")
        assert (tmp_path / "a.bin").stat().st_mode & 0o777 == 0o666 & ~umask


# --- links, devices, pipes ----------------------------------------------------------------------------------------


def test_a_link_stays_a_link(old: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    link, second = tmp_path / "folder" / "link", tmp_path / "folder" / "second"
    link.symlink_to("../a.bin")
    second.symlink_to("link")
    replace_atomically(second, b"new")
    assert link.is_symlink()
    assert second.is_symlink()
    assert old.read_bytes() == b"new"
    assert sorted(path.name for path in (tmp_path / "folder").iterdir()) == ["link", "second"]


def test_a_link_to_what_is_not_there_yet(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("a.bin")
    replace_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert contents(tmp_path) == {"a.bin": b"new", "link": b"new"}


def test_a_device_is_written_to() -> None:
    replace_atomically(Path(os.devnull), b"gone")
    assert Path(os.devnull).is_char_device()


def test_a_full_device() -> None:
    with pytest.raises(OSError, match="No space left on device"):
        replace_atomically(Path("/dev/full"), b"data")
    assert Path("/dev/full").is_char_device()


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    path, found = tmp_path / "pipe", list[bytes]()
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: found.append(path.read_bytes()))
    reader.start()
    replace_atomically(path, b"through")
    reader.join(timeout=10)
    assert found == [b"through"]
    assert path.is_fifo()


def test_an_open_pipe_by_its_descriptor() -> None:
    """As in `--output /dev/stdout | less`."""
    reading, writing = os.pipe()
    replace_atomically(Path(f"/dev/fd/{writing}"), b"through")
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        assert file.read() == b"through"


def test_what_is_plain(old: Path, tmp_path: Path) -> None:
    assert is_plain(old)
    assert is_plain(tmp_path / "new")
    assert not is_plain(tmp_path)
    assert not is_plain(Path(os.devnull))


# --- failures -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fails", ["os.fsync", "pathlib.Path.open", "pathlib.Path.replace"])
@pytest.mark.parametrize(("how", "error"), [(no_space, OSError), (interrupt, KeyboardInterrupt)])
def test_a_failure_leaves_the_old_file_and_nothing_else(
    old: Path, monkeypatch: pytest.MonkeyPatch, fails: str, how: Any, error: type[BaseException]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(fails, how)
        with pytest.raises(error):
            replace_atomically(old, b"new")
        with pytest.raises(error):
            replace_atomically(old.parent / "another", b"new")
    assert contents(old.parent) == {"a.bin": b"old"}
    replace_atomically(old, b"new")
    assert contents(old.parent) == {"a.bin": b"new"}


class Full:
    """A file that takes some bytes, then no more."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Full:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def write(self, data: bytes) -> int:
        os.close(os.open(self.path, os.O_CREAT | os.O_EXCL))
        no_space()


def test_a_disk_that_fills_while_writing(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", lambda path, mode: Full(path))
        with pytest.raises(OSError, match="No space left"):
            replace_atomically(old, b"new")
    assert contents(old.parent) == {"a.bin": b"old"}


def test_where_nothing_can_be_written(old: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        replace_atomically(tmp_path / "nowhere" / "a.bin", b"new")
    with pytest.raises(NotADirectoryError):
        replace_atomically(old / "a.bin", b"new")
    with pytest.raises(IsADirectoryError):
        replace_atomically(tmp_path, b"new")
    assert contents(tmp_path) == {"a.bin": b"old"}

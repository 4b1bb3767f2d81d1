from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from consformer.bench.record import Record, read_record
from consformer.errors import InputError


def test_goes_on_with_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "deep/record.jsonl"
    first = Record(path, {"set": "a", "seconds": 1.5}, ("index", "variant"))
    first.add([{"index": 0, "variant": "x", "status": "solved"}])
    again = Record(path, {"set": "a", "seconds": 1.5}, ("index", "variant"))
    assert again.done == {(0, "x")}
    again.add([{"index": 1, "variant": "x", "status": "unsolved"}])
    content = read_record(path)
    header, rows = content.header, content.rows
    assert (header["set"], [row["index"] for row in rows]) == ("a", [0, 1])
    assert header["machine"]
    assert header["versions"]["torch"]


def test_a_line_that_was_cut_short_is_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    Record(path, {"set": "a"}, ("index",)).add([{"index": 0}, {"index": 1}])
    path.write_bytes(path.read_bytes()[:-4])
    again = Record(path, {"set": "a"}, ("index",))
    assert again.done == {(0,)}
    again.add([{"index": 1}])
    assert read_record(path).rows == [{"index": 0}, {"index": 1}]


def test_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    Record(path, {"set": "a"}, ("index",))
    with pytest.raises(InputError, match=r"record\.jsonl: holds results with another set \('a', not 'b'\)"):
        Record(path, {"set": "b"}, ("index",))
    path.write_text('{"format": 0}\n')
    with pytest.raises(InputError, match="is of form 0, this version reads 2"):
        Record(path, {"set": "a"}, ("index",))
    path.write_text("{\n{}\n")
    with pytest.raises(InputError, match="is no record of a benchmark"):
        Record(path, {"set": "a"}, ("index",))


def test_without_a_file() -> None:
    record = Record(None, {}, ("index",))
    record.add([{"index": 3}])
    assert record.done == {(3,)}


def test_another_version_is_refused_and_other_circumstances_are_told(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    Record(path, {"set": "a"}, ("index",))
    header = json.loads(path.read_text())
    path.write_text(json.dumps(header | {"machine": "an abacus"}) + "\n")
    Record(path, {"set": "a"}, ("index",)).add([{"index": 0}])
    content = read_record(path)
    assert [(each.circumstances["machine"], len(each.rows)) for each in content.sittings] == [("an abacus", 0), (header["machine"], 1)]
    assert content.rows == [{"index": 0}]
    path.write_text(json.dumps(header | {"versions": {"consformer": "0.0.1"}}) + "\n")
    with pytest.raises(InputError, match=r"holds results of consformer 0\.0\.1, this is"):
        Record(path, {"set": "a"}, ("index",))


def test_a_row_that_would_be_measured_otherwise_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    Record(path, {"set": "a"}, ("index",)).add([{"index": 0, "problem": "x"}])
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"holds results of another problem \(0\); name another folder"):
        Record(path, {"set": "a"}, ("index",), lambda row: "another problem" if row["problem"] != "y" else None)
    assert path.read_bytes() == before
    assert Record(path, {"set": "a"}, ("index",), lambda row: None).done == {(0,)}


def test_rows_of_a_unit_are_all_there_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "record.jsonl"
    record = Record(path, {"set": "a"}, ("index",))
    before = path.read_bytes()
    usual = Path.open

    class Full:
        """A disk with room for ten bytes."""

        def __init__(self, file: Any) -> None:
            self.file = file

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *error: object) -> None:
            self.file.close()

        def __getattr__(self, name: str) -> Any:
            return getattr(self.file, name)

        def write(self, text: bytes) -> int:
            return int(self.file.write(text[:10]))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", lambda self, *given, **options: Full(usual(self, *given, **options)))
        with pytest.raises(OSError, match="No space left"):
            record.add([{"index": 0}, {"index": 1}])
    assert path.read_bytes() == before

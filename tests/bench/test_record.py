from __future__ import annotations

from pathlib import Path

import pytest

from consformer.bench.record import Record, read_record
from consformer.errors import InputError


def test_goes_on_with_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "deep/record.jsonl"
    first = Record(path, {"set": "a", "seconds": 1.5}, ("index", "variant"))
    first.add({"index": 0, "variant": "x", "status": "solved"})
    again = Record(path, {"set": "a", "seconds": 1.5}, ("index", "variant"))
    assert again.done == {(0, "x")}
    again.add({"index": 1, "variant": "x", "status": "unsolved"})
    header, rows = read_record(path)
    assert (header["set"], [row["index"] for row in rows]) == ("a", [0, 1])
    assert header["machine"]
    assert header["versions"]["torch"]


def test_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    Record(path, {"set": "a"}, ("index",))
    with pytest.raises(InputError, match=r"record\.jsonl: holds results with another set \('a', not 'b'\)"):
        Record(path, {"set": "b"}, ("index",))
    path.write_text('{"format": 0}\n')
    with pytest.raises(InputError, match="is of form 0, this version reads 1"):
        Record(path, {"set": "a"}, ("index",))
    path.write_text("{\n")
    with pytest.raises(InputError, match="is no record of a benchmark"):
        Record(path, {"set": "a"}, ("index",))


def test_without_a_file() -> None:
    record = Record(None, {}, ("index",))
    record.add({"index": 3})
    assert record.done == {(3,)}

from __future__ import annotations

import json
from pathlib import Path

import pytest

from consformer.bench import benchmarks
from consformer.bench.nurse import NurseBench
from consformer.bench.record import read_record
from consformer.bench.report import report
from consformer.bench.run import BenchRun
from consformer.bench.search import SearchBench
from consformer.errors import ConsformerError, InputError
from consformer.evaluation import load_set

pytest.importorskip("matplotlib")


@pytest.fixture
def records(tmp_path: Path) -> Path:
    run = BenchRun(NurseBench([load_set("nurse-10", count=2)], ("hybrid",), 2.0), tmp_path / "records")
    assert len(list(run)) == 2
    return tmp_path / "records"


def test_sections_from_records_alone(records: Path, tmp_path: Path) -> None:
    remarks = tmp_path / "remarks.toml"
    remarks.write_text('nurse = "All are easy."\nsudoku = "Never shown before it was measured."\n')
    text = report(records, tmp_path / "results", remarks)
    assert [line for line in text.splitlines() if line.startswith("## ")] == [f"## {benchmark.heading}" for benchmark in benchmarks()]
    assert "All are easy.\n\n**Rosters**" in text
    assert "| ours: hybrid | 100.0 [34.2–100.0] |" in text
    assert "Not measured yet. The command: `consformer bench sudoku" in text
    assert "Never shown" not in text
    assert "](results/nurse.png)" in text
    assert (tmp_path / "results/nurse.png").stat().st_size > 5000
    header = read_record(records / "nurse.jsonl").header
    assert header["machine"] in text
    assert f"ortools {header['versions']['ortools']}" in text
    assert report(records, tmp_path / "results", remarks) == text


def test_a_record_that_has_only_begun(records: Path, tmp_path: Path) -> None:
    header = (records / "nurse.jsonl").read_text().partition("\n")[0] + "\n"
    begun = tmp_path / "begun"
    begun.mkdir()
    (begun / "nurse.jsonl").write_text(header)
    assert "Not measured yet. The command: `consformer bench nurse" in report(begun, tmp_path / "results")
    (records / "later").mkdir()
    (records / "later/nurse.jsonl").write_text(header)
    assert report(records, tmp_path / "results").count("**Rosters**") == 1


def test_records_below_the_folder(tmp_path: Path) -> None:
    """Two time limits, two records, one section."""
    for seconds in (1.0, 2.0):
        run = BenchRun(SearchBench([load_set("nurse-10", count=2)], ("hybrid",), seconds), tmp_path / f"records/{seconds:g}s")
        assert len(list(run)) == 2
    text = report(tmp_path / "records", tmp_path / "results")
    assert text.count(SearchBench.heading) == 1
    for seconds in (1, 2):
        assert f"**nurse-10, {seconds} s each**" in text
        assert f"`consformer bench search nurse-10 --count 2 --time-limit {seconds} --variant hybrid`" in text


def test_bad_input(records: Path, tmp_path: Path) -> None:
    remarks = tmp_path / "remarks.toml"
    for words, complaint in (("nurs = 'a'", "did you mean 'nurse'"), ("nurse = 1", "must be a text"), ("nurse = ", "is no TOML file")):
        remarks.write_text(words)
        with pytest.raises(ConsformerError, match=complaint):
            report(records, tmp_path / "results", remarks)
    path = records / "nurse.jsonl"
    header, *rest = path.read_text().splitlines()
    path.write_text("\n".join([json.dumps(json.loads(header) | {"bench_version": 0}), *rest]) + "\n")
    with pytest.raises(InputError, match="another version of this benchmark"):
        report(records, tmp_path / "results")

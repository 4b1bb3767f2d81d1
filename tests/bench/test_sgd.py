from __future__ import annotations

from pathlib import Path

import pytest

from consformer.bench import BenchRun
from consformer.bench.base import Unit
from consformer.bench.sgd import METHODS, MISSING, Sgd


def test_all_methods_on_the_same_boards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consformer.bench.sgd.PORTION", 2)
    benchmark = Sgd(count=2, steps=30)
    assert len(benchmark.units()) == len(MISSING) * len(METHODS)
    monkeypatch.setattr(benchmark, "units", lambda: [Unit((19, method, 0), 1.0) for method in METHODS])
    run = BenchRun(benchmark, tmp_path)
    assert len(list(run)) == 3
    assert len(run.record.rows) == 6
    held, solved = run.tables
    assert held.columns == ("missing cells", "gradient descent", "Adam", "network `any`", "published: gradient descent")
    ((missing, *_, network, published),) = held.text()
    assert (missing, network, published) == ("19", "27.0 ± 0.0", "26.8")
    assert solved.text()[0][3].startswith("100.0")
    assert "30 steps" in held.caption
    assert [plot.name for plot in run.plots] == ["sgd"]


def test_nothing_measured_nothing_told() -> None:
    assert Sgd.tables(Sgd().about, []) == []
    assert Sgd.plots(Sgd().about, []) == []

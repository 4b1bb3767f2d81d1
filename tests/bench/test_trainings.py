from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from consformer.bench import BenchRun
from consformer.bench.gumbel import RELAXATIONS, TAUS, Gumbel
from consformer.bench.positions import PAPER, Positions, variant_name
from consformer.bench.trainings import CUTS, GRAPHS, TRAINING, Problems, Trainings, Variant
from consformer.plots import new_figure


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONSFORMER_CACHE", str(tmp_path))


class Few(Positions, registered=False):
    """Two of the variants, so that a test takes seconds."""

    @classmethod
    def made(cls, quick: bool) -> Sequence[Variant]:
        return super().made(quick)[:2]


def small(benchmark: type[Trainings]) -> Trainings:
    return benchmark(core_minutes=0.001, count=3, iterations=2, quick=True)


def test_trains_measures_and_tells(tmp_path: Path) -> None:
    run = BenchRun(small(Few), tmp_path, quick=True)
    units = list(run)
    assert [unit.key for unit in units] == [("sudoku-4x4", "rpe-none-ape-none"), ("sudoku-4x4", "rpe-none-ape-flat")]
    trained = [row for row in run.record.rows if row["set"] == TRAINING]
    assert all(row["steps"] >= 1 for row in trained)
    assert sum(row["set"] == "sudoku-4x4" for row in run.record.rows) == 2 * 3
    (table,) = run.tables
    assert table.columns == ("RPE", "APE none", "APE 1-D")
    assert "0.001 minutes on one core" in table.caption
    assert "budget is ours" in table.caption
    assert [plot.name for plot in run.plots] == ["positions"]
    again = small(Few)
    assert all(unit.seconds < 0.1 for unit in again.units())  # nothing is left to be trained
    assert list(BenchRun(again, tmp_path, quick=True)) == []


def test_variants_differ_in_what_is_compared_only() -> None:
    for made, count in ((Positions.made(False), 15), (Gumbel.made(False), 12)):
        assert len({(variant.task, variant.name) for variant in made}) == len({variant.recipe.name for variant in made}) == count
    for task in ("sudoku", "coloring-5", "maxcut"):
        recipes = [variant.recipe for variant in Gumbel.made(False) if variant.task == task]
        assert len({str({**r.to_dict(), "name": "", "loss": ""}) for r in recipes}) == 1
        assert {(r.loss.kind, r.loss.relaxation, r.loss.tau, r.loss.power) for r in recipes} == {
            ("penalty", relaxation, tau, 2) for relaxation in RELAXATIONS for tau in TAUS
        }
    for task in ("sudoku", "coloring-5"):
        recipes = [variant.recipe for variant in Positions.made(False) if variant.task == task]
        assert len({str({**r.to_dict(), "name": "", "network": ""}) for r in recipes}) == 1
        assert not any(r.network.config["see_conflicts"] for r in recipes)


def test_published_figures_have_columns_of_their_own() -> None:
    rows = [
        {
            "task": "sudoku",
            "variant": variant_name("mask", "full"),
            "set": "sudoku",
            "way": "",
            "index": i,
            "solved": i < 3,
            "iterations": 5,
        }
        for i in range(4)
    ]
    about = {"core_minutes": 10.0, "iterations": 1000, "count": 4}
    (table,) = Positions.tables(about, rows)
    assert table.columns == ("RPE", "APE 2-D", "published, APE 2-D")
    masked = table.text()[2]
    assert masked[0] == "mask"
    assert masked[1].startswith("75.0 [")
    assert masked[2] == f"{PAPER['sudoku']['mask', 'full']:.2f}"
    assert table.text()[0][1] == "–"  # not measured


def test_both_decoders_are_told() -> None:
    rows = [
        {"task": "sudoku", "variant": "gumbel-0.1", "set": "sudoku", "way": way, "index": 0, "solved": way == "greedy", "iterations": 5}
        for way in ("greedy", "sample")
    ]
    table, hard, rest = Gumbel.tables({"core_minutes": 10.0, "iterations": 1000, "count": 1}, rows)
    assert table.columns == ("relaxation", "τ", "values most likely", "values drawn", "published")
    assert [cell[:5] for cell in table.text()[0]] == ["Gumbe", "0.1", "100.0", "0.0 [", "100.0"]
    assert "RRN" in hard.columns[-1]
    assert rest.text()[1] == ["colouring-10, 200 vertices, % solved", "11.92", "12.75", "12.92", "12.75"]
    assert [plot.name for plot in Gumbel.plots({"core_minutes": 1.0, "iterations": 9}, rows)] == ["gumbel"]


def test_cuts_are_told_by_their_gap_to_the_best() -> None:
    rows = [
        {
            "task": "maxcut",
            "variant": variant,
            "set": CUTS.name,
            "way": "greedy",
            "index": index,
            "solved": True,
            "iterations": 9,
            "objective": cut,
        }
        for variant, cuts in (("gumbel-0.1", (100, 90)), ("softmax-1", (96, 92)))
        for index, cut in enumerate(cuts)
    ]
    about = {"core_minutes": 10.0, "iterations": 9, "count": 100}
    table, _ = Gumbel.tables(about, rows)
    assert [line[2][:3] for line in table.text()] == ["1.0", "–", "–", "2.0"]
    assert "10 problems" in table.caption
    (plot,) = Gumbel.plots(about, rows)
    figure = new_figure(plot.size)
    plot.draw(figure)
    assert len(figure.axes) == 1


@pytest.mark.parametrize("test", [GRAPHS, CUTS], ids=lambda test: test.name)
def test_sets_are_of_the_size_asked_for(test: Problems) -> None:
    assert len(test.load(2)) == 2
    assert test.count(10**5) <= 10**5


def test_gaps_of_cuts_are_to_what_local_search_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consformer.bench.gumbel.REFERENCE_SECONDS", 0.3)
    bench = Gumbel(count=2)
    unit = bench.units()[-1]
    rows = [{"task": unit.key[0], "variant": unit.key[1], **row} for row in bench.measure(unit)]
    assert [row["index"] for row in rows] == [0, 1]
    best = [row["objective"] for row in rows]
    edges = [len(csp.constraints[0]) for csp in CUTS.load(2)]
    assert all(cut > count / 2 for cut, count in zip(best, edges, strict=True))
    rows += [
        {"task": "maxcut", "variant": "gumbel-0.1", "set": CUTS.name, "way": "greedy", "index": index, "objective": cut - 10}
        for index, cut in enumerate(best)
    ]
    rows.append({"task": "maxcut", "variant": "gumbel-0.1", "set": "training", "steps": 1, "samples": 1, "core_minutes": 1.0})
    table, _ = Gumbel.tables({"core_minutes": 1.0, "iterations": 9, "count": 2}, rows)
    assert table.text()[0][2].startswith("10.0")

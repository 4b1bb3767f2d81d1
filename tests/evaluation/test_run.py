from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from consformer import families
from consformer.errors import ConsformerError, InputError
from consformer.evaluation import Evaluation, Limits, ProblemSet, Rival, Summary, run
from consformer.training.checkpoint import Card, save_network
from tests.helpers import cycle, gibbs


@pytest.fixture
def network(tmp_path: Path) -> str:
    path = tmp_path / "gibbs.safetensors"
    save_network(path, gibbs(), Card("gibbs", "equivariant", gibbs().config_dict()))
    return str(path)


def cycles(*sizes: int) -> ProblemSet:
    """Cycles to be coloured with two colours: odd ones cannot be."""
    return ProblemSet("cycles", tuple(cycle(size, 2) for size in sizes), tuple(f"c{size}" for size in sizes))


def test_rows(network: str) -> None:
    evaluation = Evaluation(cycles(4, 5), network, Limits(iterations=200), rival=Rival(5))
    one, two = sorted(evaluation, key=lambda row: row.index)
    assert (one.label, one.solved, one.violations, one.variables) == ("c4", True, 0, 4)
    assert (two.label, two.solved, two.violations, two.iterations) == ("c5", False, None, 0)  # proved to have none: not tried
    assert one.cpsat is not None
    assert two.cpsat is not None
    assert (one.cpsat["status"], two.cpsat["status"]) == ("solved", "infeasible")
    assert sorted(evaluation.rows, key=lambda row: row.index) == [one, two]


def test_an_unsolvable_problem_that_nobody_proves(network: str) -> None:
    (row,) = Evaluation(cycles(5), network, Limits(iterations=20))
    assert (row.solved, row.violations, row.iterations, row.cpsat) == (False, 1, 20, None)


def test_nobody_helps_the_network(network: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consformer.solving.HybridRun", None)
    for limits in (Limits(iterations=50), Limits(seconds=0.2)):
        (row,) = Evaluation(cycles(6), network, limits)
        assert row.iterations > 0


def test_several_at_a_time(network: str) -> None:
    rows = list(Evaluation(cycles(4, 6, 3), network, Limits(iterations=50, seconds=30), jobs=2))
    assert {row.label: row.solved for row in rows} == {"c4": True, "c6": True, "c3": False}
    alone = list(Evaluation(cycles(4, 6, 3), network, Limits(iterations=50, seconds=30)))
    assert {row.label: row.iterations for row in rows} == {row.label: row.iterations for row in alone}


def test_workers_race_on_one_problem(network: str) -> None:
    limits = Limits(iterations=50, seconds=30)
    rows = list(Evaluation(cycles(4, 3), network, limits, workers=2))
    assert [(row.label, row.solved) for row in rows] == [("c4", True), ("c3", False)]
    seeds = [Evaluation(cycles(3), network, replace(limits, seed=seed)) for seed in (0, 1)]
    assert rows[1].violations == min(row.violations or 0 for evaluation in seeds for row in evaluation)
    with pytest.raises(ConsformerError, match="needs a time limit"):
        Evaluation(cycles(4), network, Limits(iterations=5), workers=2)


def test_workers_keep_the_larger_cut(network: str) -> None:
    (csp,) = families.get("maxcut").generate(np.random.default_rng(0), 1, {"vertices": [60, 60]})
    cuts = ProblemSet("cut", (csp,), ("one",))
    limits = Limits(iterations=3, seconds=60)
    (raced,) = Evaluation(cuts, network, limits, workers=2)
    alone = [row.objective or 0.0 for seed in (0, 1) for row in Evaluation(cuts, network, replace(limits, seed=seed))]
    assert raced.objective == max(alone) > min(alone)


def test_cpsat_is_measured_once_for_several_networks(network: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = tmp_path / "record.jsonl"
    first = list(Evaluation(cycles(4, 5), network, Limits(iterations=50), record, Rival(5)))
    monkeypatch.setattr(run, "solve_cpsat", None)
    again = list(Evaluation(cycles(4, 5), network, Limits(iterations=60), rival=Rival(5, record)))
    assert {row.label: row.cpsat for row in again} == {row.label: row.cpsat for row in first}
    with pytest.raises(InputError, match=r"record\.jsonl: cannot be taken over: it has another cpsat \(5, not 6\)"):
        Evaluation(cycles(4, 5), network, Limits(), rival=Rival(6, record))
    with pytest.raises(InputError, match=r"none\.jsonl: cannot be read"):
        Evaluation(cycles(4, 5), network, Limits(), rival=Rival(5, tmp_path / "none.jsonl"))


def test_problems_are_solved_one_by_one_when_seconds_count(network: str) -> None:
    rows = list(Evaluation(cycles(3, 4, 6), network, Limits(seconds=0.2)))
    assert [row.solved for row in rows] == [False, True, True]
    assert all(row.seconds < 5 for row in rows)


def test_goes_on_where_it_stopped(network: str, tmp_path: Path) -> None:
    record = tmp_path / "results/record.jsonl"
    whole = list(Evaluation(cycles(4, 5, 6), network, Limits(iterations=50, seconds=60)))
    first = Evaluation(cycles(4, 5, 6), network, Limits(iterations=50, seconds=60), record)
    next(iter(first))
    again = Evaluation(cycles(4, 5, 6), network, Limits(iterations=50, seconds=60), record)
    assert [row.label for row in again.rows] == ["c4"]
    assert [row.label for row in again] == ["c5", "c6"]
    assert [row.solved for row in again.rows] == [row.solved for row in whole]
    assert list(Evaluation(cycles(4, 5, 6), network, Limits(iterations=50, seconds=60), record)) == []
    header, *rows = [json.loads(line) for line in record.read_text().splitlines()]
    assert (header["network"], header["set"], header["count"], len(rows)) == ("gibbs", "cycles", 3, 3)
    assert header["machine"]


def test_another_evaluation_is_not_mixed_in(network: str, tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    list(Evaluation(cycles(4), network, Limits(iterations=5), record))
    header, *rows = record.read_text().splitlines()
    older = json.loads(header)
    del older["limits"]["patience"]  # there was no such setting yet
    record.write_text("\n".join([json.dumps(older), *rows]) + "\n")
    assert list(Evaluation(cycles(4), network, Limits(iterations=5), record)) == []
    for other in (Limits(iterations=6), Limits(iterations=5, patience="luby")):
        with pytest.raises(InputError, match=r"record\.jsonl: holds an evaluation with another limits"):
            Evaluation(cycles(4), network, other, record)
    with pytest.raises(InputError, match="another set"):
        Evaluation(ProblemSet("others", (cycle(4, 2),), ("c4",)), network, Limits(iterations=5), record)
    record.write_text("{not json\n")
    with pytest.raises(InputError, match="is no record of an evaluation"):
        Evaluation(cycles(4), network, Limits(iterations=5), record)


def test_gap_to_the_best_known(network: str) -> None:
    (csp,) = families.get("maxcut").generate(np.random.default_rng(0), 1, {"vertices": [10, 10]})
    (row,) = Evaluation(ProblemSet("cut", (csp,), ("one",), best=(1000.0,)), network, Limits(iterations=5))
    assert (row.best, row.signed) == (1000.0, False)
    assert row.objective is not None
    ((_, _, gap),) = Summary([row], timed=False).gaps()
    assert gap == pytest.approx(100 - row.objective / 10)

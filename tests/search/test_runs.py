"""Searches whose iterations are compiled as a whole."""

from __future__ import annotations

import time
from copy import copy

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from consformer import checker, compiled, families
from consformer.csp import CSP
from consformer.networks import LayeredConfig, OpenNetwork
from consformer.search import refine as refine_module
from consformer.search import runs
from consformer.search.pool import Batch
from consformer.search.refine import Refinement, SearchSettings
from consformer.search.restart import ORIGINS, PACES
from consformer.search.runs import LONGEST, Runs
from consformer.search.schedule import Fixed, Moment, parse_schedule
from tests.helpers import cycle, impossible, problem, random_csp
from tests.search.refining import run, values_of

pytestmark = pytest.mark.skipif(not compiled.available(), reason="there is no compiler")


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled code from the first iteration on."""
    monkeypatch.setattr(refine_module, "PAIRS_FOR_COMPILER", 0)


def gibbs() -> OpenNetwork:
    """Untrained: parallel Gibbs sampling."""
    torch.manual_seed(0)
    return OpenNetwork(LayeredConfig(width=8, heads=2, expand=2, layers=1)).eval()


def boards(count: int) -> list[CSP]:
    return families.get("sudoku").generate(np.random.default_rng(0), count, {"box": 2, "givens": [6, 8]})


def test_boards_are_solved() -> None:
    problems = [*boards(6), cycle(8, 3), problem([], n=2, m=2)]
    refinement, events = run(problems, gibbs(), iterations=400, p=Fixed(0.5), select="conflicts", restart=20)
    assert events[-1].solved == events[-1].finished == len(problems)
    for csp, found in zip(problems, refinement.incumbents, strict=True):
        assert found is not None
        assert found.finished
        assert checker.check(csp, found.values).violations == 0
    assert len(events) < refinement.iteration  # an event tells of a whole run


@given(seed=st.integers(0, 1000), pool=st.integers(1, 3), limit=st.integers(1, 70), count=st.integers(1, 3))
@settings(max_examples=25)
def test_incumbents_are_what_they_are_said_to_be(seed: int, pool: int, limit: int, count: int) -> None:
    problems = [random_csp(seed + i, kinds=("all_different", "not_equal"), soft=False) for i in range(count)]
    refinement, _ = run(problems, gibbs(), iterations=limit, pool=pool, seed=seed, restart=5)
    for csp, found in zip(problems, refinement.incumbents, strict=True):
        assert found is not None
        assert found.iterations <= limit
        assert checker.check(csp, found.values).violations == found.violations
        assert [violations for _, violations, _ in found.history] == sorted(
            {violations for _, violations, _ in found.history}, reverse=True
        )
        if found.violations and bool(csp.free.any()):
            assert found.iterations == limit


@pytest.mark.parametrize("origin", sorted(ORIGINS))
@pytest.mark.parametrize("patience", PACES)
def test_the_same_seed_gives_the_same_answer(origin: str, patience: str) -> None:
    problems = [impossible(8, 4), cycle(9, 2), *boards(2)]
    one, two = (run(problems, gibbs(), iterations=90, pool=3, seed=4, restart=4, restarts=origin, patience=patience)[0] for _ in range(2))
    assert values_of(one) == values_of(two)
    other = run(problems, gibbs(), iterations=90, pool=3, seed=5, restart=4, restarts=origin, patience=patience)[0]
    assert values_of(other) != values_of(one)


def test_threads_change_nothing() -> None:
    """Each candidate has random numbers of its own, whoever works on it."""
    usual = torch.get_num_threads()
    found = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        try:
            found.append(values_of(run([impossible(30, 20), impossible(40, 30)], gibbs(), iterations=50, pool=4)[0]))
        finally:
            torch.set_num_threads(usual)
    assert found[0] == found[1]


def test_the_best_on_the_way_is_kept() -> None:
    """Warmer and warmer iterations leave good assignments again: what was best in the middle of a run is not lost."""
    csp, warmer = impossible(40, 20), parse_schedule(f"0.1->9/{LONGEST}")
    refinement = Refinement([csp], gibbs(), SearchSettings(p=Fixed(0.5), temperature=warmer))
    steps = iter(refinement)
    next(steps)
    assert next(steps).iteration == LONGEST
    (found,) = refinement.incumbents
    assert found is not None
    assert refinement._batch is not None
    assert found.violations < int(csp.violations(refinement._batch.values)[0, 0])


def test_candidates_are_restarted() -> None:
    refinement = Refinement([impossible(6, 3)], gibbs(), SearchSettings(pool=2, restart=10))
    for event in refinement:
        if event.iteration > 200:
            break
    assert refinement._batch is not None
    assert int(refinement._batch.round.min()) > 5


def test_candidates_are_judged_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known of them after a compiled iteration is what `Batch.judge` finds."""
    monkeypatch.setattr(runs, "WORK", 1)  # one iteration at a time
    network, generator, settings = gibbs().compiled(), torch.Generator().manual_seed(0), SearchSettings(pool=3)
    batch = Batch.start([impossible(9, 4), cycle(7, 2), *boards(1)], [0, 1, 2], 3, generator)
    compiled_runs = Runs(network, settings)
    iterations = compiled_runs.of(batch.csp.instances)
    assert iterations is not None
    for _ in range(40):
        free = torch.ones(3, dtype=torch.int64)
        twin = copy(batch)
        ran = compiled_runs.run(batch, iterations, Moment(batch.age, torch.zeros(3), batch.round, batch.spent, free, generator))
        assert ran == 1
        moved = batch.spent > twin.spent  # solutions stay
        twin.values, twin.spent = batch.values, batch.spent
        twin.judge()
        for name in ("violations", "candidate_key", "stale"):
            assert torch.equal(getattr(batch, name)[moved], getattr(twin, name)[moved]), name
        assert torch.equal(batch.drought, twin.drought)
        assert torch.equal(batch.peak, twin.peak)
    assert int(batch.drought.max()) > 0


def test_nobody_waits_for_others_to_be_restarted() -> None:
    """In a pool, a run ends when the first candidate may be given up."""
    refinement = Refinement([impossible(6, 3)], gibbs(), SearchSettings(pool=3, restart=5))
    for event in refinement:
        assert refinement._batch is not None
        assert int(refinement._batch.stale.max()) <= 5
        if event.iteration > 100:
            break
    assert refinement._batch is not None
    assert int(refinement._batch.round.sum()) > 15


def test_a_time_limit_is_kept() -> None:
    csp = impossible(60, 40)
    run([csp], gibbs(), iterations=1)  # loads what there is to load
    start = time.perf_counter()
    refinement, _ = run([csp], gibbs(), time_limit=0.3)
    assert refinement.iteration > LONGEST
    assert time.perf_counter() - start < 2


def test_compiling_is_off_the_clock_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    network = gibbs().compiled()
    monkeypatch.setattr(compiled, "SLOW", 0.05)

    def slowly(self: OpenNetwork) -> OpenNetwork:
        time.sleep(0.4)
        return network

    monkeypatch.setattr(OpenNetwork, "compiled", slowly)
    told: list[str] = []
    refinement = Refinement([impossible(6, 3)], gibbs(), SearchSettings(time_limit=0.2))
    refinement.tell = told.append
    for _event in refinement:
        pass
    assert told == ["compiling the network: once per installation, and off the clock"]
    assert refinement.iteration > 0
    assert refinement.seconds < 0.4


def test_other_ways_to_select_go_the_usual_way() -> None:
    network, csp = gibbs().compiled(), cycle(6, 3)
    assert Runs(network, SearchSettings(select="worst")).of([csp]) is None
    assert Runs(network, SearchSettings(select="conflicts")).of([csp]) is not None
    assert (
        Runs(network, SearchSettings()).of([csp, problem([{"kind": "cardinality", "scope": [0], "value": 0, "count": 1}], n=1, m=2)])
        is None
    )


def test_long_iterations_come_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "WORK", 1)
    refinement, events = run([impossible(5, 3)], gibbs(), iterations=20)
    assert len(events) == 21
    assert refinement.iteration == 20


@pytest.mark.parametrize("text", ["0.3", "0.3^0.9/7", "0.9->0.2/5", "0.9->0.2", "0.5@2", "0.2|0.7"])
def test_schedules_of_a_run_are_those_of_its_iterations(text: str) -> None:
    schedule = parse_schedule(text, high=1.0, what="p")
    generator = torch.Generator().manual_seed(0)
    age, spent, turn = torch.tensor([3, 10]), torch.tensor([[3, 1], [2, 10]]), torch.tensor([[0, 1], [1, 2]])
    progress, free = torch.tensor([0.2, 0.5]), torch.tensor([9, 4])
    found = runs.over(schedule, Moment(age, progress, turn, spent, free, generator), 8, limit=16)
    assert found.shape == (2, 2, 8)
    for step in range(8):
        later = torch.maximum(progress, ((age + step) / 16).clamp(max=1.0))  # by iterations, or by time, whichever is further
        expected = schedule(Moment(age + step, later, turn, spent + step, free, generator))
        torch.testing.assert_close(found[..., step], expected.float())

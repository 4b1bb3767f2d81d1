"""When a refinement ends, and that it can be repeated."""

from __future__ import annotations

import time
from typing import Any

import pytest
import torch
from torch import Tensor

from consformer.csp import CSP
from consformer.search import refine as refine_module
from consformer.search.refine import Refinement, SearchSettings
from consformer.search.schedule import Annealed, Reheated, Sawtooth
from tests.helpers import ScriptedNetwork, cycle, impossible, random_csp, small_equivariant
from tests.search.refining import run, values_of


@pytest.mark.parametrize("limit", [0, 1, 7])
def test_iteration_limit(limit: int) -> None:
    network = ScriptedNetwork()
    refinement, events = run([impossible()], network, iterations=limit)
    assert len(network.calls) == limit
    assert [event.iteration for event in events] == list(range(limit + 1))
    (found,) = refinement.incumbents
    assert found is not None
    assert found.iterations == limit


class Clock:
    """A clock that only moves when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(time, "perf_counter", lambda: self.now)

    def slow(self, seconds: float) -> ScriptedNetwork:
        """A network that takes so long."""

        def answer(csp: CSP, values: Tensor, subset: Tensor, temperature: Tensor) -> Tensor:
            self.now += seconds
            return torch.zeros(*values.shape, csp.m)

        return ScriptedNetwork(answer)


def test_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """No iteration starts that would end after the limit, as far as the last one tells."""
    network = Clock(monkeypatch).slow(0.3)
    refinement, events = run([impossible()], network, time_limit=1.0)
    assert len(network.calls) == 3
    assert [round(event.seconds, 1) for event in events] == [0.0, 0.3, 0.6, 0.9]
    assert refinement.incumbents[0] is not None


def test_the_earlier_limit_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    for iterations, seconds, calls in ((2, 1.0, 2), (10, 1.0, 3)):
        network = clock.slow(0.3)
        run([impossible()], network, iterations=iterations, time_limit=seconds)
        assert len(network.calls) == calls


def test_annealing_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Clock(monkeypatch).slow(0.25)
    run([impossible()], network, time_limit=1.0, temperature=Annealed(1.0, 0.01))
    assert [float(temperature[0, 0]) for *_, temperature in network.calls] == pytest.approx([1.0, 0.01**0.25, 0.1, 0.01**0.75])


def test_the_clock_starts_with_the_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    network = clock.slow(0.3)
    refinement = Refinement([impossible()], network, SearchSettings(time_limit=1.0))
    clock.now += 100
    assert len(list(refinement)) == 4


def test_time_limit_zero() -> None:
    network = ScriptedNetwork()
    refinement, events = run([impossible(), cycle(3, 3)], network, time_limit=0.0)
    assert not network.calls
    assert len(events) == 1
    assert len(values_of(refinement)) == 2


def test_out_of_time_before_the_turn_of_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refine_module, "PAIRS_AT_ONCE", 1)
    refinement, events = run([impossible()] * 3, ScriptedNetwork(), time_limit=0.0)
    assert [found is not None for found in refinement.incumbents] == [True, False, False]
    assert events[-1].total == 3


def test_no_limit_ends_with_the_solution() -> None:
    _, events = run([cycle(5, 3)])
    assert events[-1].solved == 1


@pytest.mark.parametrize(
    "chosen",
    [{"decode": "sample"}, {"decode": "greedy"}, {"select": "bandit", "restarts": "mixed", "patience": "adaptive"}],
    ids=lambda chosen: "-".join(chosen.values()),
)
def test_the_same_seed_gives_the_same_run(chosen: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refine_module, "PAIRS_AT_ONCE", 150)
    problems = [random_csp(seed) for seed in range(6)]

    def outcome(seed: int) -> list[Any]:
        torch.manual_seed(int(time.perf_counter_ns()) % 1000)  # the global generator must not matter
        settings: dict[str, Any] = {"iterations": 8, "pool": 2, "restart": 3, "temperature": Annealed(1.0, 0.2), **chosen}
        refinement, events = run(problems, small_equivariant(), seed=seed, **settings)
        return [values_of(refinement), [(event.violations, event.cost, event.finished) for event in events]]

    assert outcome(1) == outcome(1)
    assert outcome(1) != outcome(2)


def test_a_long_search_goes_on_with_compiled_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decided by how much went through the network, so that runs repeat to the bit."""
    monkeypatch.setattr(refine_module, "PAIRS_FOR_COMPILER", 3 * 9)
    network = small_equivariant()
    histories = []
    for _ in range(2):
        refinement = Refinement([impossible(3, 3), impossible(4, 2)], network, SearchSettings(iterations=12, seed=4))
        used = []
        for _event in refinement:
            used.append(refinement.network is not network)
        histories.append([(found.values, [step[1:] for step in found.history]) for found in refinement.incumbents if found is not None])
        assert used == sorted(used)  # there is no way back
        assert not used[1]
        assert used[-1]
    assert histories[0] == histories[1]


def test_compiled_code_that_is_at_hand_is_used_at_once_if_time_is_limited() -> None:
    network = small_equivariant()
    network.compiled()
    for settings, expected in ((SearchSettings(time_limit=60), True), (SearchSettings(iterations=2), False)):
        refinement = Refinement([impossible(3, 3)], network, settings)
        steps = iter(refinement)
        next(steps)
        next(steps)
        assert (refinement.network is not network) == expected


def test_schedules_follow_the_age_of_each_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    """A problem that comes in late starts its schedule from the beginning."""
    monkeypatch.setattr(refine_module, "PAIRS_AT_ONCE", 6)
    network = ScriptedNetwork()
    run([impossible(), impossible()], network, iterations=4, temperature=Reheated(0.25, 1.0, 3))
    assert [float(temperature[0, 0]) for *_, temperature in network.calls] == [0.25, 0.25, 1.0, 0.25] * 2


def test_a_sawtooth_follows_the_starts_of_a_candidate() -> None:
    network = ScriptedNetwork(lambda csp, values, subset, temperature: 100.0 * csp.one_hot(values))
    run([impossible(n=30, m=5)], network, iterations=8, restart=4, temperature=Sawtooth(1.0, 0.25, 3))
    found = [float(temperature[0, 0]) for *_, temperature in network.calls]
    assert found == pytest.approx([1, 0.5, 0.25, 1, 1, 0.5, 0.25, 1])  # the fifth is the first after a restart


def test_annealing_ends_with_the_run() -> None:
    network = ScriptedNetwork()
    run([impossible()], network, iterations=5, temperature=Annealed(1.0, 0.01))
    found = [float(temperature[0, 0]) for *_, temperature in network.calls]
    assert found[0] == 1.0
    assert found == sorted(found, reverse=True)
    assert found[-1] == pytest.approx(0.01**0.8)

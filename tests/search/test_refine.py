from __future__ import annotations

import time
from typing import Any

import pytest
import torch
from torch import Tensor

from consformer import checker
from consformer.csp import CSP
from consformer.networks import Network
from consformer.search import refine as refine_module
from consformer.search.refine import Event, Refinement, SearchSettings
from consformer.search.restart import ORIGINS, PACES
from consformer.search.schedule import Annealed, Fixed, Reheated, Sawtooth
from consformer.search.select import ARMS, SELECTORS
from tests.helpers import ScriptedNetwork, cycle, gibbs, impossible, problem, random_csp, small_equivariant


def run(problems: list[CSP], network: Network | None = None, **settings: Any) -> tuple[Refinement, list[Event]]:
    refinement = Refinement(problems, network or gibbs(), SearchSettings(**settings))
    return refinement, list(refinement)


def values_of(refinement: Refinement) -> list[list[int]]:
    return [found.values for found in refinement.incumbents if found is not None]


def cut(n: int = 12) -> CSP:
    """MAXCUT of a graph with odd cycles: no assignment is free of cost."""
    edges = [(i, (i + d) % n) for i in range(n) for d in (1, 2)]
    return problem([{"kind": "not_equal", "scope": list(edge), "soft": True, "weight": 1.0} for edge in edges], n=n, m=2)


# --- it solves ----------------------------------------------------------------------------------------------------


def test_solves_what_is_easy() -> None:
    refinement, events = run([cycle(8, 3)], iterations=200)
    (found,) = refinement.incumbents
    assert found is not None
    assert found.violations == 0
    assert found.finished
    assert checker.check(cycle(8, 3), found.values).solved
    assert events[-1].solved == 1
    assert events[-1].iteration == found.iterations < 200


def test_many_problems_of_all_sizes() -> None:
    problems = [cycle(3 + i % 6, 3 + i % 3) for i in range(20)]
    refinement, events = run(problems, iterations=300)
    for csp, values in zip(problems, values_of(refinement), strict=True):
        assert checker.check(csp, values).solved
    assert events[-1].total == events[-1].finished == events[-1].solved == 20


@pytest.mark.parametrize("seed", range(4))
def test_what_it_reports_is_what_the_checker_finds(seed: int) -> None:
    problems = [random_csp(10 * seed + i) for i in range(10)]
    refinement, _ = run(problems, small_equivariant(), iterations=5, pool=3)
    for csp, found in zip(problems, refinement.incumbents, strict=True):
        assert found is not None
        verdict = checker.check(csp, found.values)
        assert verdict.violations == found.violations
        assert (verdict.objective or 0.0) == pytest.approx(found.cost)


def test_fixed_variables_never_change() -> None:
    csp = problem([{"kind": "all_different", "scope": [0, 1, 2, 3]}], n=4, m=4, given={0: 2, 3: 1})
    network = ScriptedNetwork()
    run([csp], network, iterations=20, pool=3, p=Fixed(1.0), restart=1)
    for _, values, subset, _ in network.calls:
        assert bool((values[:, [0, 3]] == torch.tensor([2, 1])).all())
        assert not bool(subset[:, [0, 3]].any())


def test_only_the_subset_changes() -> None:
    csp = impossible(n=30, m=3)
    network = ScriptedNetwork()
    run([csp], network, iterations=15, pool=2, p=Fixed(0.2))
    for (_, before, subset, _), (_, after, _, _) in zip(network.calls, network.calls[1:], strict=False):
        assert torch.equal(after[~subset], before[~subset])
        assert not torch.equal(after, before)


# --- pools, queues, restarts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("pairs", [1, 60, 60_000])
def test_the_queue_is_worked_off(monkeypatch: pytest.MonkeyPatch, pairs: int) -> None:
    """Finished problems leave, waiting ones come in, and each has its own clock: at most so many iterations."""
    monkeypatch.setattr(refine_module, "PAIRS_AT_ONCE", pairs)
    problems = [cycle(3 + i % 5, 3) for i in range(7)] + [impossible()] + [cycle(4 + i % 4, 4) for i in range(7)]
    network = ScriptedNetwork()
    refinement, events = run(problems, network, iterations=60)
    widths = [csp.domain.numel() for csp, *_ in network.calls]
    if pairs == 60:
        assert max(widths) <= 60
    assert events[-1].finished == 15
    for csp, found in zip(problems, refinement.incumbents, strict=True):
        assert found is not None
        assert found.finished
        assert found.iterations <= 60
        assert checker.check(csp, found.values).violations == found.violations
    stubborn = refinement.incumbents[7]
    assert stubborn is not None
    assert stubborn.violations >= 1
    assert stubborn.iterations == 60


def test_the_solved_leave() -> None:
    problems = [problem([], n=2, m=2) for _ in range(6)] + [cycle(3, 3), impossible()]
    network = ScriptedNetwork()
    run(problems, network, iterations=30)
    assert len(network.calls[1][0].instances) <= 2
    assert len(network.calls[-1][0].instances) == 1


def test_one_problem_with_many_values_does_not_swell_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a union every variable has as many values as the one with the most: that is what has to fit."""
    monkeypatch.setattr(refine_module, "PAIRS_AT_ONCE", 300)
    network = ScriptedNetwork()
    run([impossible(n=10, m=3)] * 5 + [impossible(n=101, m=100)] + [impossible(n=10, m=3)] * 5, network, iterations=1)
    assert sorted(csp.domain.numel() for csp, *_ in network.calls) == [150, 150, 10_100]


def test_thousands_that_are_finished_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refine_module, "PAIRS_AT_ONCE", 1)
    refinement, events = run([impossible()] * 1500, ScriptedNetwork(), iterations=0)
    assert len(events) == 1
    assert events[0].finished == 1500
    assert all(found is not None and found.iterations == 0 for found in refinement.incumbents)


def test_a_pool_is_as_good_as_its_best() -> None:
    """Three of four candidates are made to be wrong for ever; the fourth finds it."""

    def answer(csp: CSP, values: Tensor, subset: Tensor, temperature: Tensor) -> Tensor:
        wanted = torch.zeros_like(values)
        wanted[2] = torch.arange(csp.n) % 2
        return 100.0 * csp.one_hot(wanted)

    refinement, _ = run([cycle(6, 2)], ScriptedNetwork(answer), iterations=10, pool=4, p=Fixed(1.0))
    (found,) = refinement.incumbents
    assert found is not None
    assert found.values == [0, 1, 0, 1, 0, 1]


def test_pool_candidates_start_apart() -> None:
    network = ScriptedNetwork()
    run([impossible(n=40, m=3)], network, iterations=1, pool=5)
    values = network.calls[0][1]
    assert values.shape == (5, 40)
    assert len(torch.unique(values, dim=0)) == 5


def test_stale_candidates_restart() -> None:
    def stay(csp: CSP, values: Tensor, subset: Tensor, temperature: Tensor) -> Tensor:
        return 100.0 * csp.one_hot(values)

    network = ScriptedNetwork(stay)
    run([impossible(n=30, m=5)], network, iterations=10, restart=4)
    seen = [values for _, values, _, _ in network.calls]
    changes = [i for i in range(1, 10) if not torch.equal(seen[i], seen[i - 1])]
    assert changes == [4, 9]  # 4 iterations without progress; the new one's first look counts as progress

    network = ScriptedNetwork(stay)
    run([impossible(n=30, m=5)], network, iterations=10)
    assert all(torch.equal(values, network.calls[0][1]) for _, values, _, _ in network.calls)


@pytest.mark.parametrize("patience", PACES)
@pytest.mark.parametrize("restarts", ORIGINS)
def test_a_restart_does_not_lose_the_best(restarts: str, patience: str) -> None:
    csp = impossible(n=12, m=4)
    refinement, _ = run([csp], gibbs(), iterations=40, restart=2, pool=2, restarts=restarts, patience=patience)
    (found,) = refinement.incumbents
    assert found is not None
    assert checker.check(csp, found.values).violations == found.violations == min(v for _, v, _ in found.history)


def test_candidates_begin_anew_from_elites() -> None:
    """The network spoils everything but its first answer; what restarts is then like that answer, not random."""
    wanted = torch.arange(60) % 2

    def answer(csp: CSP, values: Tensor, subset: Tensor, temperature: Tensor) -> Tensor:
        right = wanted.clone()
        right[0] = 1  # one pair of neighbours, or two, remain the same
        return 100.0 * csp.one_hot((right if len(network.calls) == 1 else torch.zeros(60, dtype=torch.int64)).expand(values.shape))

    network = ScriptedNetwork(answer)
    run([cycle(60, 2)], network, iterations=8, restart=4, p=Fixed(1.0), restarts="elite")
    alike = [float((values[0] == wanted).float().mean()) for _, values, _, _ in network.calls]
    assert max(alike[2:6]) <= 0.5
    assert alike[6] > 0.6


# --- strategies -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("select", SELECTORS)
def test_every_strategy_solves_what_is_easy(select: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refine_module, "PAIRS_AT_ONCE", 150)
    problems = [cycle(3 + i % 6, 3 + i % 3) for i in range(12)]
    refinement, _ = run(problems, iterations=300, pool=2, select=select, restart=20)
    for csp, values in zip(problems, values_of(refinement), strict=True):
        assert checker.check(csp, values).solved


def test_the_unsure_are_asked_again() -> None:
    """The network is sure of all but the last three variables."""

    def answer(csp: CSP, values: Tensor, subset: Tensor, temperature: Tensor) -> Tensor:
        sure = torch.where(torch.arange(csp.n) < csp.n - 3, 20.0, 0.1)
        return csp.one_hot(values) * sure[:, None]

    network = ScriptedNetwork(answer)
    run([impossible(n=12, m=3)], network, iterations=8, select="unsure-top", p=Fixed(0.25))
    subsets = [torch.nonzero(subset[0])[:, 0].tolist() for _, _, subset, _ in network.calls]
    assert sorted(i for subset in subsets[:4] for i in subset if i < 9) == list(range(9))  # everybody is asked once
    assert subsets[4:] == [[9, 10, 11]] * 4


def test_the_bandit_tells_what_it_did() -> None:
    problems = [impossible(n=12, m=4), cycle(5, 4)]
    refinement, _ = run(problems, gibbs(), iterations=30, pool=2, select="bandit", restart=5)
    assert refinement.bandit is not None
    counts = refinement.bandit.account(0)
    assert list(counts) == list(ARMS)
    used, paid = (sum(count[what] for count in counts.values()) for what in ("used", "paid"))
    assert 0 < paid < used < 60  # two candidates, and the first iteration after each start does not count
    again, _ = run(problems, gibbs(), iterations=30, pool=2, select="bandit", restart=5)
    assert again.bandit is not None
    assert again.bandit.account(0) == counts
    assert run(problems, iterations=3)[0].bandit is None


# --- optimisation -------------------------------------------------------------------------------------------------


def test_keeps_the_best_seen() -> None:
    refinement, events = run([cut()], gibbs(), iterations=60, temperature=Fixed(1.0))
    costs = [event.cost for event in events]
    assert len(events) == 61  # never finished before the limit
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < costs[0]
    (found,) = refinement.incumbents
    assert found is not None
    assert checker.check(cut(), found.values).objective == found.cost == costs[-1] == found.history[-1][2]
    assert found.iterations == 60


def test_hard_constraints_come_first() -> None:
    """A candidate with one violation less is better, whatever its soft constraints cost."""
    differ = {"kind": "not_equal", "scope": [0, 1], "soft": True, "weight": 1000.0}
    csp = problem([differ, {"kind": "not_equal", "scope": [0, 1], "weight": -1.0}], n=2, m=2, given={0: 0})  # hard: the same

    def answer(csp: CSP, values: Tensor, subset: Tensor, temperature: Tensor) -> Tensor:
        return 100.0 * csp.one_hot(torch.tensor([[0, 1], [0, 0]]))

    refinement, _ = run([csp], ScriptedNetwork(answer), iterations=3, pool=2, p=Fixed(1.0))
    (found,) = refinement.incumbents
    assert found is not None
    assert (found.values, found.violations, found.cost) == ([0, 0], 0, 1000.0)


def test_stops_where_nothing_is_left_to_gain() -> None:
    csp = problem([{"kind": "not_equal", "scope": [0, 1], "soft": True, "weight": 2.0}], n=2, m=4)
    refinement, events = run([csp], iterations=500)
    (found,) = refinement.incumbents
    assert found is not None
    assert found.cost == 0
    assert events[-1].finished == 1
    assert events[-1].iteration < 100


def test_improvements_are_in_the_history() -> None:
    refinement, _ = run([impossible(n=20, m=5)], gibbs(), iterations=30)
    (found,) = refinement.incumbents
    assert found is not None
    seconds, violations, _ = zip(*found.history, strict=True)
    assert list(seconds) == sorted(seconds)
    assert list(violations) == sorted(set(violations), reverse=True)


# --- limits and determinism ---------------------------------------------------------------------------------------


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
    """No iteration starts after the limit, so it is passed by less than one."""
    network = Clock(monkeypatch).slow(0.3)
    refinement, events = run([impossible()], network, time_limit=1.0)
    assert len(network.calls) == 4
    assert [round(event.seconds, 1) for event in events] == [0.0, 0.3, 0.6, 0.9, 1.2]
    assert refinement.incumbents[0] is not None


def test_the_earlier_limit_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    for iterations, seconds, calls in ((2, 1.0, 2), (10, 1.0, 4)):
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
    assert len(list(refinement)) == 5


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


# --- corner cases -------------------------------------------------------------------------------------------------


def test_nothing_to_solve() -> None:
    refinement, events = run([], iterations=5)
    assert refinement.incumbents == []
    assert [(event.total, event.finished) for event in events] == [(0, 0)]


def test_without_constraints() -> None:
    refinement, events = run([problem([], n=3, m=2)], iterations=5)
    assert events[-1].solved == 1
    assert events[-1].iteration == 0
    assert len(values_of(refinement)[0]) == 3


def test_everything_fixed() -> None:
    right = problem([{"kind": "not_equal", "scope": [0, 1]}], n=2, m=2, given={0: 0, 1: 1})
    wrong = problem([{"kind": "not_equal", "scope": [0, 1]}], n=2, m=2, given={0: 1, 1: 1})
    refinement, events = run([right, wrong], time_limit=5.0)
    assert values_of(refinement) == [[0, 1], [1, 1]]
    assert [(event.finished, event.solved) for event in events] == [(2, 1)]


def test_a_domain_of_one_value() -> None:
    csp = problem([{"kind": "all_different", "scope": [0, 1, 2]}], n=3, m=3, forbidden=[(1, 0), (1, 1)])
    refinement, _ = run([csp], iterations=100)
    assert values_of(refinement)[0][1] == 2
    assert sorted(values_of(refinement)[0]) == [0, 1, 2]


def test_a_network_that_says_nothing_useful() -> None:
    """Equal logits everywhere: it is then random search, within the domains."""
    csp = problem([{"kind": "all_different", "scope": [0, 1]}], n=2, m=9, forbidden=[(0, v) for v in range(1, 9)])
    network = ScriptedNetwork()
    run([csp], network, iterations=30)
    assert all(bool((values[:, 0] == 0).all()) for _, values, _, _ in network.calls)


def test_events_count() -> None:
    problems = [problem([], n=2, m=2), impossible(), cycle(4, 3)]
    _, events = run(problems, iterations=25)
    assert all(event.total == 3 for event in events)
    for name in ("iteration", "seconds", "finished", "solved"):
        counts = [getattr(event, name) for event in events]
        assert counts == sorted(counts)
    assert (events[-1].finished, events[-1].solved) == (3, 2)
    assert events[-1].violations == 1  # three variables, two values: one pair is the same at best


@pytest.mark.parametrize("redraw", [False, True])
def test_redrawing_hides_the_present_values_of_what_is_updated(redraw: bool) -> None:
    """The network then sees what it saw in training: random values where it is to decide, the present ones elsewhere."""
    csp = impossible(n=60, m=3)
    network = ScriptedNetwork(lambda csp, values, subset, _: 50 * csp.one_hot(torch.zeros_like(values)))  # always says 0
    run([csp], network, iterations=6, p=Fixed(1.0), redraw=Fixed(float(redraw)))
    for _, seen, _, _ in network.calls[1:]:
        assert bool((seen == 0).all()) != redraw
    network.calls.clear()
    run([csp], network, iterations=1, p=Fixed(0.5), redraw=Fixed(float(redraw)), seed=3)
    (_, seen, subset, _) = network.calls[0]
    start = csp.random_values(1, torch.Generator().manual_seed(3))
    assert torch.equal(seen[~subset], start[~subset])
    assert torch.equal(seen[subset], start[subset]) != redraw


def test_how_sure_the_network_was_is_remembered_when_asked_for() -> None:
    def answer(csp: CSP, values: Tensor, subset: Tensor, temperature: Tensor) -> Tensor:
        return torch.arange(csp.n).float()[None, :, None] * torch.tensor([0.0, 1.0])

    for remember, expected in ((True, [0.0, 1.0, 2.0]), (False, None)):
        search = Refinement([cycle(3, 2)], ScriptedNetwork(answer), SearchSettings(iterations=5, p=Fixed(1.0), remember=remember))
        assert search.sureness() is None
        next(event for event in search if event.iteration == 1)
        found = search.sureness()
        assert (None if found is None else found.tolist()) == expected

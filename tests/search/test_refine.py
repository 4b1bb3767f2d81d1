from __future__ import annotations

import pytest
import torch
from torch import Tensor

from consformer import checker
from consformer.csp import CSP
from consformer.search import refine as refine_module
from consformer.search.refine import Refinement, SearchSettings
from consformer.search.schedule import Fixed
from consformer.search.select import ARMS, SELECTORS
from tests.helpers import ScriptedNetwork, cycle, gibbs, impossible, problem, random_csp, small_equivariant
from tests.search.refining import cut, run, values_of

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

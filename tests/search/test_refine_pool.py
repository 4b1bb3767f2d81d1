"""Refining many problems and candidates together."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from consformer import checker
from consformer.csp import CSP
from consformer.search import refine as refine_module
from consformer.search.restart import ORIGINS, PACES
from consformer.search.schedule import Fixed
from tests.helpers import ScriptedNetwork, cycle, gibbs, impossible, problem
from tests.search.refining import run


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

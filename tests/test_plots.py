from __future__ import annotations

from pathlib import Path

import pytest

from consformer.account import Account, Step
from consformer.csp import CSP
from consformer.plots import plot_way, way
from consformer.result import Effort, Result
from tests.helpers import cycle, problem


def result(csp: CSP, values: list[int], steps: list[tuple[float, str, int, float]], told: bool = True) -> Result:
    history = tuple((seconds, violations, cost) for seconds, _, violations, cost in steps)
    account = Account((), tuple(Step(*step) for step in steps)) if told else None
    return Result.judged(csp, values, Effort(3, 2.0, "any", 0, history, account=account))


def test_violations_over_time() -> None:
    found = result(cycle(4, 2), [0, 1, 0, 1], [(0.1, "local search", 2, 0.0), (0.5, "network", 0, 0.0)])
    assert way(found) == ("violations of the best", [(0.1, 2, "local search"), (0.5, 0, "network")])


def test_the_objective_once_nothing_is_violated() -> None:
    csp = problem([{"kind": "not_equal", "scope": [0, 1], "soft": True, "weight": 3.0}], n=2, m=2, maximise=True, offset=10.0)
    steps = [(0.1, "network", 1, 3.0), (0.2, "network", 0, 3.0), (0.3, "network", 0, 0.0)]
    assert way(result(csp, [0, 1], steps, told=False)) == ("objective of the best", [(0.2, 7.0, "network"), (0.3, 10.0, "network")])


@pytest.mark.parametrize("steps", [[], [(0.0, "propagation", 0, 0.0)], [(0.1, "a", 2, 0.0), (1.5, "b", 1, 0.0)]])
def test_drawn(steps: list[tuple[float, str, int, float]], tmp_path: Path) -> None:
    plot_way(result(cycle(4, 2), [0, 1, 0, 1], steps), "a title", tmp_path / "way.svg")
    drawn = (tmp_path / "way.svg").read_text()
    assert "violations of the best" in drawn
    for _, who, _, _ in steps:
        assert f"{who} (1)" in drawn

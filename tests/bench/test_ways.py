from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import active_children

import pytest

from consformer.baselines.base import Answer, Rival
from consformer.bench import ways
from consformer.bench.search import SearchBench
from consformer.bench.ways import CPSAT_WAY, NETWORK, Asked, Way
from consformer.csp import CSP
from tests.helpers import cycle


@dataclass(frozen=True)
class Odd(Rival):
    """A rival that goes wrong in the way of its name."""

    name: str = "odd"
    title: str = "odd"
    package: str = "odd"
    module: str = "math"

    def solve(self, csp: CSP, seconds: float, seed: int) -> Answer:
        if self.name == "slow":
            time.sleep(60)
        if self.name == "crash":
            os.abort()
        if self.name == "raise":
            raise ValueError("no idea")
        if self.name == "who":
            time.sleep(1.0)
            raise ValueError(str(os.getpid()))
        return Answer([0] * csp.n, "optimal")  # wrong, and claims to be the best

    def declines(self, csp: CSP) -> str | None:
        return "not run: too large" if self.name == "large" else None


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", SearchBench.ways)
def test_every_way_answers(name: str) -> None:
    rival = SearchBench.ways[name].rival
    if rival is not None and rival.missing:
        pytest.skip(rival.missing)
    asked = Asked()
    found = asked.row(SearchBench.ways[name], cycle(4, 2), 5.0, 0)
    asked.close()
    assert (found["status"], found["violations"]) == ("solved", 0)
    assert found["by"] is not None


def test_rivals_that_go_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "GRACE", 30.0)
    asked = Asked()

    def row(**settings: str) -> dict[str, object]:
        return asked.row(Way("odd", rival=Odd(**settings)), cycle(4, 2), 0.2, 0)

    assert row(name="wrong")["status"] == "unsolved"  # by the checker
    assert row(name="raise")["reason"] == "ValueError: no idea"
    crash = row(name="crash")
    assert (crash["status"], crash["reason"]) == ("crashed", "ended by SIGABRT")
    monkeypatch.setattr(ways, "GRACE", 0.2)
    slow = row(name="slow")
    assert (slow["status"], slow["reason"]) == ("overran", "killed after 0.4 s")
    assert (row(name="large")["status"], row(name="large")["reason"]) == ("declined", "not run: too large")
    missing = row(module="no_such_module")
    assert (missing["status"], missing["reason"]) == ("missing", "not installed: pip install odd")
    asked.close()


def test_compiled_code_is_there_before_anything_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what the first problem does not need."""
    loaded: list[str] = []
    monkeypatch.setattr("consformer.compiled.failure", lambda module: loaded.append(module))
    Asked().prepare([NETWORK], cycle(4, 2))
    assert {"backtrack", "differences", "layers"} <= set(loaded)
    loaded.clear()
    Asked().prepare([CPSAT_WAY], cycle(4, 2))
    assert loaded == []


def test_two_that_are_asked_at_the_same_time_have_processes_of_their_own() -> None:
    asked = Asked()
    with ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(lambda _: asked.row(Way("odd", rival=Odd(name="who")), cycle(4, 2), 10.0, 0), range(2)))
    assert len({row["reason"] for row in rows}) == 2
    later = asked.row(Way("odd", rival=Odd(name="who")), cycle(4, 2), 10.0, 0)
    assert later["reason"] in {row["reason"] for row in rows}  # none is started anew
    asked.close()
    assert active_children() == []

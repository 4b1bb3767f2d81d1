from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest
import torch
from hypothesis import given, settings

from consformer import families
from consformer.csp import CSP
from consformer.errors import ModelError
from consformer.partners import clauses, process
from consformer.partners.sat import SatSearch
from tests.helpers import coloring, cycle, impossible, problem
from tests.partners.beside import finished, gone, is_gone_after, pid_of
from tests.partners.test_clauses import differences, solutions


def hard_graph(n: int = 150, m: int = 9) -> CSP:
    """Nobody colours it or proves anything of it soon."""
    rng = np.random.default_rng(0)
    return coloring([(i, j) for i in range(n) for j in range(i) if rng.random() < 0.3], n=n, m=m)


@settings(max_examples=15, deadline=None)
@given(csp=differences())
def test_right_about_every_small_problem(csp: CSP) -> None:
    with SatSearch(csp) as search:
        finished(search)
    assert search.status == ("solved" if solutions(csp) else "infeasible")
    if search.best is not None:
        assert int(csp.violations(torch.tensor([search.best.values])).sum()) == 0


def test_a_large_square() -> None:
    (csp,) = families.get("latin").generate(np.random.default_rng(0), 1, {"order": [30, 30], "holes": [0.42, 0.42]})
    assert finished(SatSearch(csp)).status == "solved"


def test_an_empty_domain_is_a_proof() -> None:
    assert finished(SatSearch(impossible())).status == "infeasible"
    csp = problem([{"kind": "not_equal", "scope": [0, 1]}], n=2, m=1)
    assert finished(SatSearch(csp)).status == "infeasible"


@pytest.mark.parametrize("wait", [0.0, 0.5])
def test_is_closed_at_once_and_leaves_nothing(wait: float) -> None:
    taken = []
    for _ in range(3):  # the machine may be busy with something else once
        search = SatSearch(hard_graph())
        time.sleep(wait)
        start = time.perf_counter()
        search.close()
        taken.append(time.perf_counter() - start)
        assert gone(pid_of(search))
        assert (search.status, search.poll()) == ("unknown", [])
    assert min(taken) < 0.1


def test_ends_with_its_time() -> None:
    search = finished(SatSearch(hard_graph(), seconds=0.5))
    assert search.status == "unknown"
    assert gone(pid_of(search))


def test_only_differences() -> None:
    with pytest.raises(ModelError, match="differences only"):
        SatSearch(problem([{"kind": "cardinality", "scope": [0, 1], "value": 0, "count": 1}], n=2, m=2))


def test_without_its_package_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert not process.available(process.SAT)
    search = finished(SatSearch(cycle(4, 2)))
    assert (search.status, "pip install python-sat" in search.reason) == ("failed", True)


def test_a_wrong_statement_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = clauses.state
    monkeypatch.setattr(clauses, "state", lambda csp: usual(coloring([], n=csp.n, m=csp.m)))
    search = finished(SatSearch(coloring([(0, 1)], n=2, m=1)))
    assert (search.status, "violates a constraint" in search.reason) == ("failed", True)


def test_errors_while_stating_leave_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[process.SolverProcess] = []
    usual = process.SolverProcess.__init__

    def start(self: process.SolverProcess, program: process.Program) -> None:
        usual(self, program)
        started.append(self)

    def fail(error: BaseException) -> None:
        def state(csp: CSP) -> clauses.Clauses:
            raise error

        monkeypatch.setattr(clauses, "state", state)

    monkeypatch.setattr(process.SolverProcess, "__init__", start)
    fail(MemoryError())
    assert "memory" in SatSearch(cycle(4, 2)).reason
    fail(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        SatSearch(cycle(4, 2))
    assert [each.pid is not None and gone(each.pid) for each in started] == [True, True]


def test_a_process_that_is_killed_is_a_failure_with_a_reason() -> None:
    search = SatSearch(hard_graph())
    os.kill(pid_of(search), signal.SIGKILL)
    assert finished(search).status == "failed"
    assert "signal 9" in search.reason


def test_does_not_outlive_who_started_it() -> None:
    start = "from tests.partners.test_sat import SatSearch, hard_graph; partner = SatSearch(hard_graph())"
    assert is_gone_after(start, "os.kill(os.getpid(), signal.SIGKILL)", seconds=60)  # after a portion of its work

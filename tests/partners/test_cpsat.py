from __future__ import annotations

import gc
import os
import signal
import sys
import time
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from consformer.baselines import solve_cpsat
from consformer.constraints.not_equal import NotEqual
from consformer.csp import CSP
from consformer.errors import ModelError
from consformer.partners import process
from consformer.partners.cpsat import Prover
from tests.helpers import coloring, cycle, impossible, problem, random_csp
from tests.partners.beside import SOON, finished, gone, is_gone_after, pid_of


def hard_cut(n: int = 200) -> CSP:
    """A problem that keeps CP-SAT busy for hours."""
    edges = [[i, j] for i in range(n) for j in range(i) if (i * i + 7 * j * j) % 11 < 4]
    return problem([{"kind": "not_equal", "scope": edge, "soft": True} for edge in edges], n=n, m=2)


@settings(max_examples=12)
@given(seed=st.integers(0, 10**6))
def test_agrees_with_cp_sat_in_this_process(seed: int) -> None:
    csp = random_csp(seed)
    known = solve_cpsat(csp, workers=1)
    with Prover(csp, seconds=SOON) as prover:
        finished(prover)
    assert prover.status == known.status
    if known.values is not None:
        assert prover.best is not None
        assert prover.best.cost == pytest.approx(float(csp.cost(torch.tensor([known.values]))))
    if known.status == "optimal":
        assert prover.bound == pytest.approx(known.objective)


def test_solutions_come_one_better_than_the_other() -> None:
    csp, costs = hard_cut(60), []
    with Prover(csp, seconds=1.5) as prover:
        while prover.status == "running":
            costs += [found.cost for found in prover.poll()]
            time.sleep(0.001)
    assert prover.status in ("feasible", "optimal")
    assert costs
    assert costs == sorted(set(costs), reverse=True)
    assert prover.bound is not None
    assert prover.bound <= costs[-1]


def test_proves_that_there_is_no_solution() -> None:
    assert finished(Prover(impossible())).status == "infeasible"


@pytest.mark.parametrize("wait", [0.0, 0.1, 1.0])
def test_is_closed_at_once_and_leaves_nothing(wait: float) -> None:
    taken = []
    for _ in range(3):  # the machine may be busy with something else once
        prover = Prover(hard_cut())
        time.sleep(wait)
        prover.poll()
        start = time.perf_counter()
        prover.close()
        taken.append(time.perf_counter() - start)
        assert gone(pid_of(prover))
        assert prover.status in ("unknown", "feasible")
        assert prover.poll() == []
        prover.close()
    assert min(taken) < 0.1


def test_ends_with_its_time() -> None:
    csp, taken = hard_cut(), []
    for _ in range(3):
        start = time.perf_counter()
        prover = finished(Prover(csp, seconds=0.5))
        taken.append(time.perf_counter() - start)
        assert prover.status in ("unknown", "feasible")
    assert min(taken) < 0.6
    assert gone(pid_of(prover))
    assert Prover(csp, seconds=0.0).status == "unknown"


def test_starts_again_from_a_hint() -> None:
    csp = cycle(5, 3)
    with Prover(csp) as prover:
        before = pid_of(prover)
        prover.hint([0, 1, 0, 1, 2])
        assert gone(before)
        assert finished(prover).status == "solved"
        prover.hint([0, 1, 0, 1, 2])
        assert prover.status == "solved"


def test_wrong_arguments_raise_and_leave_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError, match="5 values"):
        Prover(cycle(5, 3), hint=[0])
    with pytest.raises(ModelError, match="one by one"):
        Prover(CSP.union([cycle(5, 3), cycle(4, 3)]))


def test_a_process_that_is_killed_is_a_failure_with_a_reason() -> None:
    prover = Prover(hard_cut())
    os.kill(pid_of(prover), signal.SIGKILL)
    assert finished(prover).status == "failed"
    assert "signal 9" in prover.reason
    assert gone(pid_of(prover))


def test_a_wrong_statement_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(NotEqual, "post", lambda self, cp: None)
        prover = finished(Prover(coloring([(0, 1)], n=2, m=1)))
    assert (prover.status, "violates a constraint" in prover.reason) == ("failed", True)
    for wrong, said in (("table{", "cannot read"), ("all_diff{exprs{vars:77 coeffs:1}}", "cannot take")):
        with monkeypatch.context() as patch:
            patch.setattr(NotEqual, "post", lambda self, cp, wrong=wrong: cp.add(wrong))
            prover = finished(Prover(cycle(4, 2)))
        assert (prover.status, said in prover.reason) == ("failed", True), prover.reason


def test_without_ortools_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert not process.available()
    prover = finished(Prover(cycle(4, 2)))
    assert (prover.status, prover.reason) == ("failed", process.CPSAT.missing)


def test_ortools_that_cannot_be_imported_is_a_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "worker.py"
    broken.write_text(process.WORKER.read_text().replace("from ortools.sat.python import", "from ortools.nowhere import"))
    monkeypatch.setattr(process, "WORKER", broken)
    prover = finished(Prover(cycle(4, 2)))
    assert (prover.status, "needs the package ortools" in prover.reason) == ("failed", True)


def test_a_process_that_cannot_start_is_a_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    prover = finished(Prover(cycle(4, 2)))
    assert (prover.status, "cannot be started" in prover.reason) == ("failed", True)


def test_goes_when_forgotten() -> None:
    prover = Prover(hard_cut())
    pid = pid_of(prover)
    del prover
    gc.collect()
    assert gone(pid)


def test_an_exception_ends_it() -> None:
    with pytest.raises(KeyboardInterrupt), Prover(hard_cut()) as prover:
        raise KeyboardInterrupt
    assert gone(pid_of(prover))


@pytest.mark.parametrize("end", ["", "raise KeyboardInterrupt", "os._exit(1)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_does_not_outlive_who_started_it(end: str) -> None:
    start = "from tests.partners.test_cpsat import Prover, hard_cut; partner = Prover(hard_cut())"
    assert is_gone_after(start, end, seconds=5)


def test_ctrl_c_in_the_terminal_does_not_reach_it() -> None:
    with Prover(hard_cut()) as prover:
        assert os.getsid(pid_of(prover)) != os.getsid(0)

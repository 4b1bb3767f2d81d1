from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from consformer.csp import CSP
from consformer.errors import ModelError
from consformer.partners.repair import Repair, Repairer
from tests.helpers import coloring, cycle, random_csp


@pytest.fixture(scope="module")
def repairer() -> Iterator[Repairer]:
    with Repairer(seconds=20) as one:
        yield one


def repaired(repairer: Repairer, csp: CSP, values: list[int], free: Tensor) -> Repair:
    repairer.submit(csp, values, free)
    repairs: list[Repair] = []
    while repairer.waiting:
        repairs += repairer.poll()
        time.sleep(0.001)
    (repair,) = repairs
    return repair


def brute(csp: CSP, values: list[int], free: Tensor) -> tuple[int, float]:
    """The best that can be had by changing free variables."""
    choices = [torch.nonzero(csp.domain[i])[:, 0].tolist() if free[i] & csp.free[i] else [values[i]] for i in range(csp.n)]
    every = torch.tensor(list(itertools.product(*choices)))
    return min(zip(csp.violations(every)[:, 0].tolist(), csp.cost(every)[:, 0].tolist(), strict=True))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6))
def test_a_repair_is_the_best_there_is_and_the_rest_stays(seed: int, repairer: Repairer) -> None:
    csp, rng = random_csp(seed, n=6, m=3), np.random.default_rng(seed)
    values = csp.random_values(1, torch.Generator().manual_seed(seed))[0].tolist()
    free = torch.tensor(rng.random(csp.n) < 0.6)
    repair = repaired(repairer, csp, values, free)
    candidate = torch.tensor([repair.values])
    best = brute(csp, values, free)
    assert repair.violations == best[0] == int(csp.violations(candidate))
    assert repair.cost == pytest.approx(best[1]) == float(csp.cost(candidate))
    assert all(new == old for new, old, f in zip(repair.values, values, (free & csp.free).tolist(), strict=True) if not f)


def test_repairs_come_in_the_order_of_submission(repairer: Repairer) -> None:
    csp = cycle(6, 3)
    for i in range(4):
        repairer.submit(csp, [i % 3] * 6, torch.arange(6) != i)
    found: list[Repair] = []
    while repairer.waiting:
        found += repairer.poll()
    assert [repair.values[i] for i, repair in enumerate(found)] == [0, 1, 2, 0]
    assert [repair.violations for repair in found] == [0] * 4


def test_never_worse_when_time_runs_out() -> None:
    rng = np.random.default_rng(0)
    edges = [(i, j) for i, j in itertools.combinations(range(150), 2) if rng.random() < 0.4]
    csp = coloring(edges, n=150, m=5)
    values = csp.random_values(1, torch.Generator().manual_seed(0))[0].tolist()
    with Repairer(seconds=0.05) as repairer:
        repair = repaired(repairer, csp, values, torch.ones(150, dtype=torch.bool))
    assert repair.violations <= int(csp.violations(torch.tensor([values])))


def test_a_process_that_is_killed_is_a_failure_with_a_reason() -> None:
    csp, free = cycle(6, 3), torch.ones(6, dtype=torch.bool)
    with Repairer() as repairer:
        pid = repairer._process.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        repairer.submit(csp, [0] * 6, free)
        start = time.perf_counter()
        while repairer.waiting and time.perf_counter() - start < 10:
            assert repairer.poll() == []
        assert repairer.status == "failed"
        assert "signal 9" in repairer.reason
        repairer.submit(csp, [0] * 6, free)
        assert (repairer.waiting, repairer.poll()) == (0, [])


def test_is_closed_at_once() -> None:
    repairer = Repairer()
    repairer.submit(cycle(6, 3), [0] * 6, torch.ones(6, dtype=torch.bool))
    start = time.perf_counter()
    repairer.close()
    assert time.perf_counter() - start < 0.1
    assert (repairer.status, repairer.waiting, repairer.poll()) == ("closed", 0, [])
    assert repairer._process.pid is not None
    with pytest.raises(ProcessLookupError):
        os.kill(repairer._process.pid, 0)


def test_wrong_sizes_are_refused(repairer: Repairer) -> None:
    with pytest.raises(ModelError, match="needs 6 values"):
        repairer.submit(cycle(6, 3), [0] * 5, torch.ones(6, dtype=torch.bool))
    with pytest.raises(ModelError, match="needs 6 values"):
        repairer.submit(cycle(6, 3), [0] * 6, torch.ones(5, dtype=torch.bool))

from __future__ import annotations

import threading
import time
from typing import Any, NoReturn

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from consformer import compiled, families, solve
from consformer.account import Proof
from consformer.baselines import solve_cpsat
from consformer.checker import check
from consformer.constraints.not_equal import NotEqual
from consformer.csp import CSP
from consformer.errors import ConsformerError, UnknownNameError
from consformer.hybrid import PARTS, HybridRun
from consformer.hybrid import parts as parts_module
from consformer.hybrid.board import Board
from consformer.hybrid.parts import ProverPart, SatPart
from consformer.networks.layered import LayeredNetwork
from consformer.partners.cpsat import Prover
from consformer.result import Effort, Result
from consformer.solving import Settings, start
from tests.helpers import cycle, gibbs, hard_graph, impossible, problem, random_csp


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_right_about_every_small_problem(seed: int) -> None:
    csp = random_csp(seed)
    exact = solve_cpsat(csp, time_limit=20, workers=1)
    result = solve(csp, network=gibbs(), time_limit=20)
    assert result.status in ("solved", "infeasible", "optimal")
    assert (result.status == "infeasible") == (exact.status == "infeasible")
    if result.status != "infeasible" and result.objective is not None:
        assert result.objective == pytest.approx(exact.objective)


@pytest.mark.parametrize("name", PARTS)
def test_each_part_can_be_left_out_and_the_rest_solves_it(name: str) -> None:
    (csp,) = families.get("sudoku").generate(np.random.default_rng(0), 1, {"box": 2, "givens": [5, 6], "unique": True})
    result = solve(csp, network=gibbs(), time_limit=20, without=[name])
    assert result.solved
    assert result.effort.account is not None
    assert PARTS[name] not in [part.name for part in result.effort.account.parts]


@pytest.mark.parametrize("alone", PARTS)
def test_each_part_alone(alone: str) -> None:
    csp = problem([{"kind": "all_different", "scope": [0, 1, 2]}], n=3, m=3, given={0: 0, 1: 1})
    result = solve(csp, network=gibbs(), time_limit=5, without=[name for name in PARTS if name != alone])
    assert result.effort.account is not None
    assert result.solved
    assert result.effort.account.winner is not None


@pytest.mark.parametrize("method", ["local", "cpsat", "network", "hybrid"])
def test_methods(method: str) -> None:
    assert solve(cycle(6, 2), network=gibbs(), method=method, time_limit=20).solved


def test_optimal_is_proved() -> None:
    records = [{"kind": "not_equal", "scope": [i, j], "soft": True} for i in range(5) for j in range(i)]
    result = solve(problem(records, n=5, m=2, maximise=True, offset=10.0), network=gibbs(), time_limit=30)
    assert (result.status, result.objective) == ("optimal", 6.0)
    assert result.proof is not None
    assert result.proof.by == "CP-SAT"


def test_many_problems_share_the_time() -> None:
    problems = [cycle(4, 2), hard_graph(), cycle(5, 2), hard_graph(seed=1)]
    results = solve(problems, network=gibbs(), time_limit=2)
    assert [result.status for result in results] == ["solved", "unsolved", "infeasible", "unsolved"]
    assert all(result.effort.history for result in results if result.status == "unsolved")  # each had its turn
    assert solve([], network=gibbs()) == []


@pytest.mark.parametrize(
    "csp",
    [problem([], n=3, m=2), problem([], n=1, m=1), cycle(3, 3), problem([], n=1, m=1, given={0: 0})],
    ids=["free", "one", "three", "given"],
)
def test_small_cases(csp: CSP) -> None:
    assert solve(csp, network=gibbs(), time_limit=10).status == "solved"


def test_operations_are_not_shared_out_to_a_core_that_a_prover_keeps_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consformer.hybrid.run.SECOND_WIND", 60.0)
    usual, used = parts_module.NetworkPart.work, []

    def work(self: parts_module.NetworkPart, seconds: float) -> None:
        used.append(torch.get_num_threads())
        usual(self, seconds)

    monkeypatch.setattr(parts_module.NetworkPart, "work", work)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        solve(hard_graph(), network=gibbs(), time_limit=1.5)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(threads)
    assert used[-1] == 2


def test_a_million_variables_get_an_answer() -> None:
    n = 10**6
    scopes = torch.stack([torch.arange(n - 1), torch.arange(1, n)], 1)
    chain = CSP(
        domain=torch.ones(n, 3, dtype=torch.bool),
        given=torch.full((n,), -1),
        positions=torch.arange(n)[:, None],
        constraints=(NotEqual.of(scopes),),
        value_labels=("a", "b", "c"),
    )
    assert solve(chain, time_limit=30).status == "solved"


def test_a_proof_that_the_checker_contradicts_is_no_result() -> None:
    with pytest.raises(RuntimeError, match="says infeasible, the checker counts 0"):
        Result.judged(cycle(4, 2), [0, 1, 0, 1], Effort(0, 0.0, "none", 0), proof=Proof("infeasible", "a part"))


def test_without_ortools_or_a_compiler_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts_module, "available", lambda program: False)
    monkeypatch.setattr("consformer.compiled.available", lambda: False)
    easy, hard = (solve(csp, network=gibbs(), time_limit=1) for csp in (cycle(8, 2), hard_graph()))
    assert easy.solved
    assert easy.effort.account is not None
    assert easy.effort.account.winner == "network"
    assert hard.effort.account is not None
    notes = {part.name: part.note for part in hard.effort.account.parts}
    assert notes["local search"] == "needs a compiler: pip install numba"
    assert notes["repair"] == notes["CP-SAT"] == "is off: pip install ortools"
    assert notes["SAT solver"] == "is off: pip install python-sat"


def test_cp_sat_steps_in_where_the_sat_solver_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def state(csp: CSP) -> NoReturn:
        raise MemoryError

    monkeypatch.setattr("consformer.partners.clauses.state", state)
    account = solve(hard_graph(), network=gibbs(), time_limit=1.5).effort.account
    assert account is not None
    spent = {part.name: part.seconds for part in account.parts}
    assert spent["CP-SAT"] > 0
    assert [part.name for part in account.parts].count("CP-SAT") == 1
    assert {part.name: part.note for part in account.parts}["SAT solver"] == "its clauses do not fit into memory"


def test_a_core_that_cp_sat_has_left_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consformer.hybrid.run.LEAST_PATIENCE", 0.1)
    (csp,) = families.get("maxcut").generate(np.random.default_rng(0), 1, {"vertices": [300, 300]})
    result = solve(csp, network=gibbs(), time_limit=3)
    assert result.effort.account is not None
    assert "second local search" in [part.name for part in result.effort.account.parts]


@pytest.mark.parametrize("without", [["sat", "cpsat"], ["sat"], []])
def test_no_core_is_idle(without: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consformer.hybrid.run.SECOND_WIND", 0.2)
    result = solve(hard_graph(), network=gibbs(), time_limit=2, without=without)
    assert result.effort.account is not None
    spent = {part.name: part.seconds for part in result.effort.account.parts}
    assert spent["second local search"] > 0
    assert (spent.get("SAT solver", 0) > 0, spent.get("CP-SAT", 0) > 0) == (not without, without == ["sat"])  # one of them, if any


def test_solvers_that_prove_have_the_cores_where_every_value_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consformer.hybrid.run.SECOND_WIND", 0.0)
    monkeypatch.setattr("consformer.hybrid.run.AT_FIRST", 0.0)
    monkeypatch.setattr("consformer.hybrid.run.cores", lambda: 3)
    workers = []
    usual = ProverPart.__init__

    def begin(part: ProverPart, board: Board, csp: CSP, seed: int, count: int, seconds: float) -> None:
        workers.append(count)
        usual(part, board, csp, seed, count, seconds)

    monkeypatch.setattr(ProverPart, "__init__", begin)
    for cls in (ProverPart, SatPart):
        monkeypatch.setattr(cls, "work", lambda part, seconds: None)  # they find nothing, so that all of the time passes
    (csp,) = families.get("latin").generate(np.random.default_rng(0), 1, {"order": [40, 40], "holes": [0.42, 0.42], "balanced": True})
    result = solve(csp, network=gibbs(), time_limit=4, without=["backtracking", "repair", "network"])
    assert result.effort.account is not None
    spent = {part.name: part.seconds for part in result.effort.account.parts}
    assert workers == [2]  # the third core is the SAT solver's
    assert "second local search" not in spent
    assert 0 < spent["local search"] < spent["SAT solver"] / 2  # it rests in between


def test_a_turn_that_would_keep_others_waiting_waits_itself() -> None:
    csp = hard_graph()

    def iterations(seconds_each: float, seconds: float) -> int:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(LayeredNetwork, "seconds_per_pair", seconds_each / (csp.n * csp.m))
            return solve(csp, network=gibbs(), time_limit=seconds, without=["repair"]).effort.iterations

    assert iterations(0.3, 1.5) == 0  # a tenth of the time is less than that
    assert iterations(0.01, 1.5) > 0


def test_unknown_names() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'hybrid'"):
        start([cycle(3, 3)], method="hybird")
    with pytest.raises(UnknownNameError, match="'cp-sat'"):
        start([cycle(3, 3)], without=["cp-sat"])
    with pytest.raises(ConsformerError, match="nothing is left"):
        start([cycle(3, 3)], method="local", without=["local"])


def test_steps_get_better_and_the_last_is_the_answer() -> None:
    result = solve(hard_graph(), network=gibbs(), time_limit=2)
    assert result.effort.account is not None
    steps = result.effort.account.steps
    keys = [(step.violations, step.cost) for step in steps]
    assert keys == sorted(set(keys), reverse=True)
    assert keys[-1][0] == check(result.csp, result.assignment).violations
    assert sum(part.improvements for part in result.effort.account.parts) == len(steps)


def test_narrowed_domains_give_answers_of_the_problem_itself() -> None:
    csp = problem([{"kind": "all_different", "scope": [0, 1, 2, 3]}], n=4, m=5, given={0: 4}, forbidden=[(1, 0), (1, 1), (1, 2)])
    result = solve(csp, network=gibbs(), time_limit=10)
    assert result.csp is csp
    assert result.solved
    assert result.assignment[:2] == (4, 3)


def test_what_is_impossible_is_told_by_whom() -> None:
    began = time.perf_counter()
    result = solve(impossible(), network=gibbs(), time_limit=60)
    assert time.perf_counter() - began < 30  # it does not wait for the end
    assert (result.status, result.solved) == ("infeasible", False)
    assert result.proof is not None
    assert "the values 0, 1 are left for 3 variables" in result.proof.words
    assert len(result.assignment) == 3


def test_a_glance_of_backtracking_comes_first_once_it_is_loaded() -> None:
    assert compiled.failure("backtrack") is None
    (board,) = families.get("sudoku").generate(np.random.default_rng(0), 1, {"box": 3, "givens": [30, 30], "unique": True})
    easy, wrong = (solve(csp, network=gibbs(), time_limit=20) for csp in (board, impossible()))
    assert easy.effort.account is not None
    assert wrong.effort.account is not None
    assert [part.name for part in easy.effort.account.parts] == ["backtracking"]
    assert {part.name: part.finished for part in wrong.effort.account.parts} == {"propagation": True, "backtracking": False}


def test_parts_that_would_take_too_long_to_begin_are_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LayeredNetwork, "seconds_per_pair", 1.0)
    monkeypatch.setattr(parts_module, "SECONDS_TO_STATE", {"cpsat": 1.0})
    monkeypatch.setattr(parts_module, "MOST_REPAIRED", 10)
    result = solve(hard_graph(), network=gibbs(), time_limit=1)
    assert result.effort.account is not None
    notes = {part.name: part.note for part in result.effort.account.parts}
    assert notes["network"].startswith("is not started: it would take about 1650.0 of the")
    assert notes["CP-SAT"].startswith("is not started")
    assert notes["repair"] == "is not for problems as large as this"
    assert "moves" in notes["local search"]


def test_backtracking_says_why_it_is_not_there() -> None:
    (cut,) = families.get("maxcut").generate(np.random.default_rng(0), 1, {"vertices": [200, 200]})
    account = solve(cut, network=gibbs(), time_limit=0.5).effort.account
    assert account is not None
    assert "takes only problems in which variables must differ" in {part.name: part.note for part in account.parts}["backtracking"]


def test_repair_leaves_the_field_to_local_search() -> None:
    account = solve(hard_graph(), network=gibbs(), time_limit=0.5).effort.account
    assert account is not None
    notes = {part.name: part.note for part in account.parts}
    assert notes["repair"] == "is for when there is no local search"


def test_a_small_network_begins_on_a_large_cut_where_there_is_no_local_search() -> None:
    (cut,) = families.get("maxcut").generate(np.random.default_rng(0), 1, {"vertices": [5000, 5000], "density": [0.001, 0.001]})
    effort = solve(cut, time_limit=2, without=["local", "repair", "cpsat"]).effort
    assert effort.network == "strict-maxcut"
    assert effort.iterations > 0


@pytest.mark.parametrize(
    ("settings", "takes_part"),
    [
        ({}, False),
        ({"seed": 3, "pool": None}, False),
        ({"without": ["local"]}, True),
        ({"network": "auto"}, True),
        ({"p": 0.5}, True),
        ({"network": "any", "without": ["network"]}, False),
    ],
)
def test_the_network_takes_part_where_there_is_no_local_search_or_when_it_is_named(settings: Settings, takes_part: bool) -> None:
    told: Settings = {"time_limit": 0.5, **settings}
    effort = solve(hard_graph(), **told).effort
    assert effort.account is not None
    notes = {part.name: part.note for part in effort.account.parts}
    assert (effort.network == "any") == takes_part == (effort.iterations > 0)
    if not takes_part:
        assert effort.network == "none"
        idle = "is for when there is no local search, or a network or one of its settings is named"
        assert notes.get("network") == (None if "without" in settings else idle)


def test_repairs_are_made_where_the_network_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consformer.hybrid.run.REWARD", 1.0)  # else the network gets nearly all of the time
    result = solve(hard_graph(), network=gibbs(), time_limit=3, without=["local", "backtracking", "cpsat"])
    assert result.effort.account is not None
    notes = {part.name: part.note for part in result.effort.account.parts}
    assert not notes["repair"].endswith(", 0 of them where the network said")


def test_rounded_weights_prove_nothing() -> None:
    records = [{"kind": "not_equal", "scope": [0, 1], "soft": True, "weight": -1e12} for _ in range(1500)]
    records.append({"kind": "not_equal", "scope": [2, 3], "soft": True, "weight": 0.5})
    csp = problem(records, n=4, m=2, given={0: 0, 1: 1})  # costs 1.5e15: half a unit more or less is lost
    result = solve(csp, network=gibbs(), time_limit=2, without=["local", "network", "repair"])
    assert result.status != "optimal"


def test_a_compiler_that_fails_stops_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consformer.compiled.loaded", lambda module: False)
    monkeypatch.setattr("consformer.compiled.failure", lambda module: f"no {module}")
    result = solve(cycle(8, 2), network=gibbs(), time_limit=20, without=["propagation"])
    assert result.solved
    assert result.effort.account is not None
    notes = {part.name: part.note for part in result.effort.account.parts}
    assert (notes["backtracking"], notes["local search"]) == ("no backtrack", "no differences")


def test_a_part_has_one_name_whether_it_takes_part_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def names() -> set[str]:
        account = solve(hard_graph(), network=gibbs(), time_limit=0.5).effort.account
        assert account is not None
        return {part.name for part in account.parts} - {"second local search"}

    running = names()
    monkeypatch.setattr(parts_module, "available", lambda program: False)
    monkeypatch.setattr("consformer.compiled.loaded", lambda module: False)
    monkeypatch.setattr("consformer.compiled.failure", lambda module: f"no {module}")
    assert names() == running == set(PARTS.values())


@pytest.mark.parametrize("alone", ["local", "repair"])
def test_a_domain_of_one_value_is_nothing_to_search(alone: str) -> None:
    csp = problem([{"kind": "not_equal", "scope": [0, 1], "soft": True}], n=2, m=2, given={0: 1}, forbidden=[(1, 0)])
    began = time.perf_counter()
    without = [name for name in PARTS if name != alone]
    assert solve(csp, network=gibbs(), time_limit=300, without=without).objective == 1.0
    assert time.perf_counter() - began < 200


def test_the_clock_of_a_problem_stands_still_while_others_have_their_turn() -> None:
    results = solve([hard_graph(), hard_graph(seed=1), hard_graph(seed=2)], network=gibbs(), time_limit=3)
    seconds = [result.effort.seconds for result in results]
    assert sum(seconds) < 3.3
    assert max(seconds) < 2  # and not the three of the whole call
    for result in results:
        assert result.effort.account is not None
        assert result.effort.account.steps[-1].seconds <= result.effort.seconds


@pytest.mark.parametrize("slow", [0.05, 60.0])
def test_what_takes_long_to_compile_is_told(slow: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consformer.compiled.SLOW", slow)
    monkeypatch.setattr("consformer.compiled.loaded", lambda module: False)
    monkeypatch.setattr("consformer.compiled.failure", lambda module: time.sleep(0.3))
    threads = threading.active_count()
    told: list[str] = []
    run = start([cycle(6, 2)], network=gibbs(), method="local", time_limit=5)
    assert isinstance(run, HybridRun)
    run.tell = told.append
    for _event in run:
        pass
    assert told == (["compiling local search: once per installation, and off the clock"] if slow < 1 else [])
    assert run.results()[0].effort.seconds < 0.3  # off the clock, indeed
    assert threading.active_count() == threads


@pytest.mark.parametrize("without", [["backtracking"], ["local", "backtracking"]])
def test_cpsat_is_told_what_was_found_before_it_starts(without: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """By local search, or by the network where that is left out."""
    usual, hints = Prover.__init__, []

    def begin(self: Prover, csp: CSP, **options: Any) -> None:
        hints.append(options["hint"])
        usual(self, csp, **options)

    monkeypatch.setattr(Prover, "__init__", begin)
    csp = hard_graph()
    solve(csp, network=gibbs(), time_limit=1, without=[*without, "sat"])
    (hint,) = hints
    assert len(hint) == csp.n

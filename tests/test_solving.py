from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from consformer import CSP, ConsformerError, Model, all_different, families, refine, solve
from consformer.errors import CheckpointError, UnknownNameError
from consformer.hybrid import PARTS
from consformer.networks import EquivariantConfig, EquivariantNetwork, Network, TokenConfig, TokenNetwork
from consformer.search import refine as refine_module
from consformer.search.schedule import Annealed, Fixed
from consformer.solving import MOST_MEMORY, RefineSettings, choose
from consformer.training.checkpoint import Card, save_network
from tests.helpers import ScriptedNetwork, cycle, gibbs, impossible, problem, small_equivariant


def latin(size: int = 3) -> tuple[Model, Any]:
    model = Model()
    x = model.variables((size, size), values=list("abcdefg"[:size]), name="x")
    for i in range(size):
        model.add(all_different(x[i, :]), all_different(x[:, i]))
    model.fix(x[0, 0], "b")
    return model, x


def test_a_model_in_the_users_own_terms() -> None:
    model, x = latin()
    result = solve(model, network=gibbs(), iterations=300)
    assert result.status == "solved"
    board = result[x]
    assert board.shape == (3, 3)
    assert board[0, 0] == "b"
    for i in range(3):
        assert sorted(board[i]) == sorted(board[:, i]) == ["a", "b", "c"]


def test_one_in_one_out_many_in_many_out() -> None:
    assert not isinstance(solve(cycle(3, 3), network=gibbs(), iterations=50), list)
    assert len(solve([cycle(3, 3)], network=gibbs(), iterations=50)) == 1
    results = solve([cycle(4, 2), latin()[0], impossible()], network=gibbs(), iterations=200)
    assert [result.status for result in results] == ["solved", "solved", "unsolved"]
    assert [result.csp.n for result in results] == [4, 9, 3]
    assert solve([], network=gibbs()) == []


def test_what_it_took() -> None:
    result = solve(impossible(), network=gibbs(), iterations=6, seed=5)
    assert result.effort.iterations == 6
    assert result.effort.seed == 5
    assert result.effort.network == "EquivariantNetwork"
    assert result.effort.seconds > 0
    assert result.effort.history[-1][1] == result.violations
    assert result.effort.account is not None
    assert [part.finished for part in result.effort.account.parts] == [False]  # it found no final answer


def test_the_same_seed_gives_the_same_answer() -> None:
    def answers(seed: int) -> list[tuple[int, ...]]:
        return [result.assignment for result in solve([impossible(9, 4)] * 3, network=small_equivariant(), iterations=5, seed=seed)]

    assert answers(1) == answers(1)
    assert answers(1) != answers(2)


def test_a_network_in_training_mode_is_deterministic_too() -> None:
    network = TokenNetwork(TokenConfig(values=4, width=8, layers=1, heads=1, dropout=0.5))
    network.train()
    once, again = (solve(impossible(9, 4), network=network, iterations=5).assignment for _ in range(2))
    assert once == again


def test_the_checker_has_the_last_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should the search ever believe it is done when it is not, the result says so."""
    monkeypatch.setattr(CSP, "violations", lambda self, values: torch.zeros(len(values), len(self.instances), dtype=torch.int64))
    result = solve(impossible(), network=gibbs(), iterations=50)
    assert result.effort.iterations == 0
    assert result.status == "unsolved"


def interrupting(call: int) -> ScriptedNetwork:
    def answer(csp: CSP, values: Tensor, subset: Tensor, temperature: Tensor) -> Tensor:
        if len(network.calls) == call:
            raise KeyboardInterrupt
        return torch.zeros(*values.shape, csp.m)

    network = ScriptedNetwork(answer)
    return network


def test_an_interrupt_gives_the_best_so_far() -> None:
    result = solve(impossible(8, 4), network=interrupting(3), iterations=100)
    assert result.effort.iterations == 2
    assert result.violations == min(violations for _, violations, _ in result.effort.history)


def test_an_interrupt_passes_through_refine() -> None:
    run = refine([impossible()], network=interrupting(3), iterations=100)
    seen = 0

    def listen() -> None:
        nonlocal seen
        for _ in run:
            seen += 1

    with pytest.raises(KeyboardInterrupt):
        listen()
    assert seen == 3
    assert run.results()[0].effort.iterations == 2


def test_results_at_any_time() -> None:
    run = refine([cycle(30, 3), impossible()], network=gibbs(), iterations=20)
    assert [len(result.assignment) for result in run.results()] == [30, 3]  # not begun: any assignment, judged
    worst = []
    for _ in run:
        worst.append(run.results()[0].violations)
    assert worst == sorted(worst, reverse=True)


def test_nothing_happens_before_the_iteration() -> None:
    network = ScriptedNetwork()
    run = refine([impossible()], network=network, iterations=3)
    assert not network.calls
    list(run)
    assert len(network.calls) == 3


# --- settings -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pool": 0}, "pool must be a whole number from 1, not 0"),
        ({"pool": 2.5}, "pool must be a whole number"),
        ({"iterations": -1}, "iterations must be a whole number from 0, not -1"),
        ({"iterations": "many"}, "iterations must be a whole number"),
        ({"restart": 0}, "restart must be a whole number from 1"),
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"seed": 2**70}, "seed must be a whole number"),
        ({"time_limit": -0.5}, "time limit must be a number of seconds from 0, not -0.5"),
        ({"time_limit": float("nan")}, "time limit must be"),
        ({"time_limit": "soon"}, "time limit must be"),
        ({"select": "conflict"}, "unknown selection 'conflict': did you mean 'conflicts'"),
        ({"select": "worst_top"}, "unknown selection 'worst_top': did you mean 'worst-top'"),
        ({"restarts": "elites"}, "unknown way to restart 'elites': did you mean 'elite'"),
        ({"patience": "long"}, "unknown patience 'long': there are: adaptive, fixed, luby"),
        ({"decode": "best"}, "unknown decoding 'best': there are: greedy, sample"),
        ({"decode": ""}, "unknown decoding ''"),
        ({"p": 0}, "p 0 is out of range"),
        ({"p": 1.2}, "p 1.2 is out of range"),
        ({"p": "half"}, "p 'half' is not understood"),
        ({"temperature": 0}, "temperature 0 is out of range"),
        ({"temperature": "1e-30"}, "out of range"),
        ({"temperature": "1e999"}, "out of range"),
        ({"temperature": "warm"}, "temperature 'warm' is not understood"),
    ],
)
def test_bad_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConsformerError, match=message):
        solve(cycle(3, 3), network=gibbs(), **settings)


def test_unknown_settings_are_refused() -> None:
    with pytest.raises(ConsformerError, match="unknown setting 'itterations': did you mean 'iterations'"):
        solve(cycle(3, 3), network=gibbs(), itterations=3)  # type: ignore[call-overload]


def test_looking_at_the_results_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refine_module, "PAIRS_AT_ONCE", 12)  # one problem at a time: the others wait
    quiet, watched = (refine([cycle(3, 2), cycle(6, 2), cycle(5, 2)], network=gibbs(), iterations=9, seed=4) for _ in range(2))
    first = [result.assignment for result in watched.results()]
    assert [result.assignment for result in watched.results()] == first
    for _event in quiet:
        pass
    for _event in watched:
        watched.results()
    assert [result.assignment for result in watched.results()] == [result.assignment for result in quiet.results()]


def test_a_run_goes_on_where_it_was_left() -> None:
    whole, halting = (refine([cycle(5, 2), cycle(7, 2)], network=gibbs(), iterations=12, seed=1) for _ in range(2))
    events = [event.iteration for event in whole]
    again: list[int] = []
    while len(again) < len(events):
        for event in halting:
            again.append(event.iteration)
            if len(again) % 3 == 0:
                break
    assert again == events
    assert list(halting) == []
    assert [result.assignment for result in halting.results()] == [result.assignment for result in whole.results()]


def test_a_network_that_knows_no_other_problems(tmp_path: Path) -> None:
    network = TokenNetwork(TokenConfig(values=4, width=8, layers=1, heads=1))
    card = Card("small", "token", network.config_dict(), families=("sudoku",), constraints=("all_different",))
    save_network(tmp_path / "small.safetensors", network, card)
    told = r"network small was trained on sudoku \(all_different\) and knows nothing else; this is a csp problem \(not_equal\)"
    with pytest.raises(CheckpointError, match=told):
        solve(cycle(3, 3), network=tmp_path / "small.safetensors", iterations=1)
    model = Model()
    model.add(all_different(model.variables(4, values=range(4))))
    assert solve(model, network=tmp_path / "small.safetensors", iterations=1).effort.iterations <= 1


@pytest.mark.parametrize("wrong", [7, "board", None])
def test_what_is_no_problem(wrong: Any) -> None:
    with pytest.raises(ConsformerError, match="a problem is a Model or a CSP"):
        solve([wrong], network=gibbs())


def test_a_union_is_solved_as_a_list() -> None:
    union = CSP.union([cycle(3, 3), cycle(4, 2)])
    with pytest.raises(ConsformerError, match="union of 2; solve them as a list"):
        solve(union, network=gibbs())
    assert all(result.solved for result in solve(list(union.parts), network=gibbs(), iterations=200))


def test_ten_seconds_unless_told_otherwise() -> None:
    def limits(**settings: Any) -> tuple[int | None, float | None]:
        chosen = refine([cycle(3, 3)], network=gibbs(), **settings).refinement.settings
        return chosen.iterations, chosen.time_limit

    assert limits() == (None, 10.0)
    assert limits(iterations=5) == (5, None)
    assert limits(time_limit=3) == (None, 3)
    assert limits(iterations=5, time_limit=3) == (5, 3)


def test_a_network_that_does_not_fit() -> None:
    network = TokenNetwork(TokenConfig(values=3, width=8, layers=1, heads=1))
    with pytest.raises(CheckpointError, match="at most 3 values, the problem has 4"):
        solve([cycle(4, 2), cycle(4, 4)], network=network)


# --- networks by name and file ------------------------------------------------------------------------------------


@pytest.fixture
def network_file(tmp_path: Path) -> Callable[..., Path]:
    def save(network: Network, name: str = "mine", **search: Any) -> Path:
        path = tmp_path / f"{name}.safetensors"
        save_network(path, network, Card(name=name, architecture="equivariant", config=network.config_dict(), search=search))
        return path

    return save


def test_a_network_has_settings_for_several_kinds_of_problems(tmp_path: Path) -> None:
    kinds: dict[str, Any] = {
        "search": {"p": "0.5", "pool": 3},
        "soft_search": {"p": "0.2", "depth": 2},
        "tight_search": {"p": "0.8", "redraw": "1"},
    }
    path = tmp_path / "mine.safetensors"
    save_network(path, gibbs(), Card("mine", "equivariant", gibbs().config_dict(), **kinds))
    (cut,) = families.get("maxcut").generate(np.random.default_rng(0), 1, {"vertices": [10, 10]})
    (board,) = families.get("sudoku").generate(np.random.default_rng(0), 1, {"box": 2})
    plain, soft, tight = (refine([csp], network=path).refinement for csp in (cycle(3, 3), cut, board))
    assert (plain.settings.p, soft.settings.p, tight.settings.p) == (Fixed(0.5), Fixed(0.2), Fixed(0.8))
    assert (plain.settings.redraw, tight.settings.redraw) == (Fixed(0.0), Fixed(1.0))
    assert (plain.settings.pool, soft.settings.pool) == (3, 1)
    assert refine([cycle(3, 3)], network=path, pool=2).refinement.settings.pool == 2
    assert (plain.network.config.repeat, soft.network.config.repeat) == (1, 2)
    assert refine([board], network=path, redraw=False).refinement.settings.redraw == Fixed(0.0)
    with pytest.raises(ConsformerError, match=r"redraw 2 is out of range: it must be from 0 to 1"):
        refine([board], network=path, redraw=2)


def test_the_network_is_chosen_by_what_a_problem_is_made_of() -> None:
    (cut,) = families.get("maxcut").generate(np.random.default_rng(0), 1, {"vertices": [10, 10]})
    assert choose([cut]) == choose([cut, replace(cut, family="csp")]) == "strict-maxcut"
    assert choose([cycle(4, 2)]) == choose([cut, cycle(4, 2)]) == choose([]) == "any"
    assert solve(cut, iterations=3).effort.network == "strict-maxcut"
    assert solve(cut, iterations=3, network="any").effort.network == "any"


def test_depth_is_a_choice_at_solving_time() -> None:
    network = EquivariantNetwork(EquivariantConfig(width=4, layers=1, heads=1, repeat=3))
    deeper = refine([cycle(3, 3)], network=network, depth=5).refinement.network
    assert (network.config.repeat, deeper.config.repeat) == (3, 5)
    assert all(a is b for a, b in zip(network.parameters(), deeper.parameters(), strict=True))
    with pytest.raises(CheckpointError, match="depth of the token network cannot be chosen"):
        refine([cycle(3, 3)], network=TokenNetwork(TokenConfig(values=3, width=4, layers=1)), depth=5)


def test_a_network_from_a_file(network_file: Callable[..., Path]) -> None:
    path = network_file(gibbs(), p="0.5", temperature="0.4->0.2", decode="greedy", restart=9, restarts="cross", patience="luby")
    for given in (path, str(path)):
        settings = refine([cycle(3, 3)], network=given).refinement.settings
        assert settings.p == Fixed(0.5)
        assert settings.temperature == Annealed(0.4, 0.2)
        assert (settings.decode, settings.restart, settings.restarts, settings.patience) == ("greedy", 9, "cross", "luby")
    others: RefineSettings = {
        "network": path,
        "p": 0.9,
        "temperature": "1",
        "decode": "sample",
        "restart": 2,
        "restarts": "mixed",
        "patience": "fixed",
    }
    settings = refine([cycle(3, 3)], **others).refinement.settings
    assert (settings.p, settings.temperature) == (Fixed(0.9), Fixed(1.0))
    assert (settings.decode, settings.restart, settings.restarts, settings.patience) == ("sample", 2, "mixed", "fixed")
    assert solve(cycle(3, 3), network=path, iterations=50).effort.network == "mine"


@pytest.mark.parametrize("search", [{"p": [1]}, {"temperature": None}, {"decode": ["greedy"]}, {"restart": "often"}])
def test_a_file_with_garbage_for_defaults(network_file: Callable[..., Path], search: dict[str, Any]) -> None:
    with pytest.raises(ConsformerError, match=next(iter(search)).removesuffix("e")):
        solve(cycle(3, 3), network=network_file(gibbs(), **search))


def test_a_file_that_was_trained_on_is_read_again(network_file: Callable[..., Path]) -> None:
    first = refine([cycle(3, 3)], network=network_file(small_equivariant(1))).refinement.network
    path = network_file(small_equivariant(2))
    second = refine([cycle(3, 3)], network=path).refinement.network
    assert not torch.equal(first.state_dict()["head.weight"], second.state_dict()["head.weight"])
    assert refine([cycle(3, 3)], network=path).refinement.network is second


def test_unknown_network() -> None:
    with pytest.raises(UnknownNameError, match="unknown network 'nay'"):
        solve(cycle(3, 3), network="nay")
    with pytest.raises(CheckpointError, match=r"nowhere\.safetensors: cannot be read"):
        solve(cycle(3, 3), network="nowhere.safetensors")


def test_soft_problems_have_an_objective() -> None:
    edges = [(0, 1), (1, 2), (0, 2)]
    csp = problem([{"kind": "not_equal", "scope": list(e), "soft": True} for e in edges], n=3, m=2, maximise=True, offset=3)
    result = solve(csp, network=gibbs(), iterations=30)
    assert (result.status, result.objective) == ("solved", 2.0)


def test_the_account_of_a_bandit() -> None:
    result = solve(impossible(n=8, m=3), network=gibbs(), iterations=20, select="bandit")
    strategies = result.effort.strategies
    assert sum(counts["used"] for counts in strategies.values()) == 19  # the first iteration does not count
    assert result.to_json()["strategies"] == strategies
    assert "strategies" not in solve(impossible(), network=gibbs(), iterations=2).to_json()


def test_a_pool_too_large_for_memory_shrinks_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    each = 4 * 2 * gibbs().bytes_per_pair
    monkeypatch.setattr("consformer.solving.available_memory", lambda: 5 * each / MOST_MEMORY)
    run = refine([cycle(4, 2)], network=gibbs(), iterations=3, pool=1000)
    assert run.refinement.settings.pool == 5
    (result,) = (list(run), run.results())[1]
    assert result.effort.notes == ("a pool of 1000 does not fit in memory: it is one of 5",)
    assert result.to_json()["notes"] == list(result.effort.notes)


def test_a_problem_too_large_for_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consformer.solving.available_memory", lambda: 1000)
    with pytest.raises(ConsformerError, match="the network needs about"):
        solve(cycle(4, 2), network=gibbs(), iterations=3)
    others = [name for name in PARTS if name != "network"]
    result = solve(cycle(4, 2), network=gibbs(), time_limit=9, without=others)
    assert result.effort.account is not None
    (part,) = result.effort.account.parts
    assert (part.name, part.seconds) == ("network", 0.0)
    assert part.note.startswith("the network needs about")
    assert solve(cycle(4, 2), network=gibbs(), time_limit=9).solved  # by the others


def test_cp_sat_alone_needs_ortools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consformer.solving.available", lambda: False)
    with pytest.raises(ConsformerError, match="pip install ortools"):
        solve(cycle(4, 2), network=gibbs(), method="cpsat")

"""`consformer solve` while it works: Ctrl-C and the progress bar."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from consformer import CSP, families, formats
from consformer.checker import check
from consformer.cli.solve import _done, _note, headline
from consformer.networks import EquivariantNetwork
from consformer.search.refine import Event
from consformer.solving import refine, solve
from tests.cli.running import Cli, process
from tests.helpers import cycle, gibbs

# --- interrupted --------------------------------------------------------------------------------------------------


@pytest.fixture
def press_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Ctrl-C at the given calls of the network."""

    def at(*calls: int) -> None:
        made = 0
        usual = EquivariantNetwork.forward

        def forward(self: EquivariantNetwork, csp: CSP, values: Tensor, subset: Tensor, temperature: Tensor) -> Tensor:
            nonlocal made
            made += 1
            for _ in range(calls.count(made)):
                signal.raise_signal(signal.SIGINT)
            return usual(self, csp, values, subset, temperature)

        monkeypatch.setattr(EquivariantNetwork, "forward", forward)

    return at


def test_ctrl_c_gives_the_best_attempt(
    cli: Cli, unsolvable: Path, network: Path, press_ctrl_c: Callable[..., None], tmp_path: Path
) -> None:
    press_ctrl_c(25)
    arguments = ["solve", unsolvable, "--colors", 4, "--network", network, "--method", "network", "--time-limit", 60, "--json"]
    arguments += ["-o", tmp_path / "a.json"]
    ran = cli(*arguments)
    assert ran.code == 130
    assert ran.err == "interrupted: this is the best that was found until then\n"
    assert (ran.document["status"], ran.document["violations"], ran.document["iterations"]) == ("unsolved", 1, 25)
    assert json.loads((tmp_path / "a.json").read_text()) == ran.document


def test_a_second_ctrl_c_does_not_wait(cli: Cli, unsolvable: Path, network: Path, press_ctrl_c: Callable[..., None]) -> None:
    press_ctrl_c(5, 5)
    ran = cli("solve", unsolvable, "--colors", 4, "--network", network, "--method", "network", "--time-limit", 60, "--json")
    assert (ran.code, ran.out, ran.err) == (130, "", "interrupted\n")


def test_ctrl_c_while_the_answers_are_checked(cli: Cli, board: Path, network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted_check(*arguments: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return check(*arguments)

    monkeypatch.setattr("consformer.checker.check", interrupted_check)
    ran = cli("solve", board, "--network", network, "--iterations", 300, "--json")
    assert ran.code == 130
    assert ran.document["status"] == "solved"


def test_results_tell_which_searches_were_interrupted(press_ctrl_c: Callable[..., None]) -> None:
    easy, hard = cycle(4, 4), families.get("coloring").unpack({"n": 3, "colors": 2, "kind": None, "edges": [0, 1, 0, 2, 1, 2]})
    press_ctrl_c(200)
    results = solve([easy, hard], network=gibbs(), method="network", time_limit=60)
    assert [(result.status, result.effort.interrupted) for result in results] == [("solved", False), ("unsolved", True)]
    assert not solve(hard, network=gibbs(), iterations=5).effort.interrupted


def test_ctrl_c_at_the_keyboard(unsolvable: Path, network: Path) -> None:
    """As a process of its own, in the middle of a long search."""
    command = ["solve", unsolvable, "--colors", 4, "--network", network, "--method", "network", "--time-limit", 60, "--json"]
    running = process(*command, code=TELL_WHEN_SOLVING)
    assert running.stderr is not None
    assert running.stderr.readline() == "solving\n"
    time.sleep(0.3)
    running.send_signal(signal.SIGINT)
    out, told = running.communicate(timeout=30)
    assert running.returncode == 130
    assert told == "interrupted: this is the best that was found until then\n"
    document = json.loads(out)
    assert (document["status"], document["violations"]) == ("unsolved", 1)
    assert document["seconds"] < 30


TELL_WHEN_SOLVING = """
import sys
from consformer.cli import main
from consformer.search.refine import Refinement

usual = Refinement.__iter__

def started(self):
    print("solving", file=sys.stderr, flush=True)
    return usual(self)

Refinement.__iter__ = started
main()
"""


# --- the progress bar ---------------------------------------------------------------------------------------------


def event(**given: Any) -> Event:
    return Event(**{"iteration": 5, "seconds": 1.0, "total": 1, "finished": 0, "solved": 0, "violations": 2, "cost": 0.0, **given})


def test_what_the_progress_bar_says() -> None:
    csp = cycle(4, 2)
    assert _note(event(), [csp]) == "iteration 5, 2 violated"
    assert _note(event(total=7, solved=3), [csp] * 7) == "3/7 solved, iteration 5"
    (cut,) = formats.read_problems(b"3 2\n1 2 2\n2 3 2\n")
    assert _note(event(violations=0, cost=2.0), [cut]) == "iteration 5, objective 2"


def test_how_far_the_progress_bar_is() -> None:
    def done(found: Event, **settings: Any) -> float:
        return _done(found, refine([cycle(4, 2)], network=gibbs(), **settings))

    assert done(event(), iterations=20) == 0.25
    assert done(event(), iterations=20, time_limit=2) == 0.5
    assert done(event(total=4, finished=3), iterations=20) == 0.75
    assert done(event(seconds=3.0), time_limit=2) == 1.0


def test_headline() -> None:
    torch.manual_seed(0)
    result = solve(cycle(4, 2), network=gibbs(), iterations=1)
    assert "1 iteration, " in headline(result) or "0 iterations, " in headline(result)
    assert headline(result).endswith("network EquivariantNetwork, seed 0")

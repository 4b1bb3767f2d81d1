from __future__ import annotations

import json
from pathlib import Path

import pytest

from consformer.account import Account, PartAccount, Step, plot

ACCOUNT = Account(
    (PartAccount("local search", 0.123456, 2, finished=False, note="9 moves"), PartAccount("network", 1.0, 1, finished=True)),
    (Step(0.1, "local search", 3, 0.0), Step(0.2, "local search", 1, 0.0), Step(0.9, "network", 0, 0.0)),
)


def test_winner_and_json() -> None:
    assert ACCOUNT.winner == "network"
    assert Account().winner is None
    document = json.loads(json.dumps(ACCOUNT.to_json()))
    assert document["parts"][0] == {"name": "local search", "seconds": 0.1235, "improvements": 2, "finished": False, "note": "9 moves"}
    assert document["steps"][-1] == {"seconds": 0.9, "part": "network", "violations": 0, "cost": 0.0}


@pytest.mark.parametrize(
    ("history", "account", "label"),
    [
        ([(step.seconds, step.violations, step.cost) for step in ACCOUNT.steps], ACCOUNT, "violations of the best"),
        ([(0.1, 2, 9.0), (0.2, 0, 8.0), (0.3, 0, 7.0)], None, "cost of the best"),
        ([], Account(), "violations of the best"),
    ],
)
def test_plot(history: list[tuple[float, int, float]], account: Account | None, label: str, tmp_path: Path) -> None:
    plot(history, account, "a title", tmp_path / "way.svg")
    assert label in (tmp_path / "way.svg").read_text()

from __future__ import annotations

import json

from consformer.account import Account, PartAccount, Step

ACCOUNT = Account(
    (PartAccount("local search", 0.123456, 2, finished=False, note="9 moves"), PartAccount("network", 1.0, 1, finished=True)),
    (Step(0.1, "local search", 3, 0.0), Step(0.2, "local search", 1, 0.0), Step(0.9, "network", 0, 0.0)),
)


def test_winner_and_json() -> None:
    assert ACCOUNT.winner == "network"
    assert Account().winner is None
    assert Account((), ACCOUNT.steps[:2]).winner == "local search"  # time was over: who found the best
    document = json.loads(json.dumps(ACCOUNT.to_json()))
    assert document["parts"][0] == {"name": "local search", "seconds": 0.1235, "improvements": 2, "finished": False, "note": "9 moves"}
    assert document["steps"][-1] == {"seconds": 0.9, "part": "network", "violations": 0, "cost": 0.0}

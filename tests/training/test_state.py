from __future__ import annotations

from pathlib import Path

import pytest
import torch

from consformer.errors import CheckpointError
from consformer.training.state import differing, read_state, write_state
from tests.training.runs import recipe


def test_parts_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "state.safetensors"
    write_state(path, {"weights": {"a.b": torch.ones(2)}, "optimiser": {"a.b/step": torch.tensor(3.0)}}, {"step": 3})
    parts, document = read_state(path)
    assert document["step"] == 3
    assert parts["weights"]["a.b"].tolist() == [1, 1]
    assert float(parts["optimiser"]["a.b/step"]) == 3
    assert parts["average"] == parts["best"] == {}
    path.write_bytes(b"nonsense")
    with pytest.raises(CheckpointError):
        read_state(path)


def test_what_keeps_a_run_from_going_on() -> None:
    mine = recipe().to_dict()
    assert differing(mine, recipe(steps=77).to_dict()) == []  # a run can be prolonged
    assert differing(mine, {**mine, "seed": 99}) == ["seed"]
    assert differing(mine, {**mine, "state": {**mine["state"], "select": "worst"}}) == ["state"]
    before = {key: value for key, value in mine["state"].items() if key != "select"}  # from before there was such a setting
    assert differing(mine, {**mine, "state": before}) == []
    assert differing(mine, "nonsense") != []

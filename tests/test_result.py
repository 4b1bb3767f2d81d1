from __future__ import annotations

import json

import pytest

from consformer import Model, all_different
from consformer.errors import ModelError
from consformer.result import Effort, Result
from tests.helpers import problem

EFFORT = Effort(iterations=7, seconds=1.23456, network="any", seed=3)


def test_labels_come_back() -> None:
    model = Model()
    x = model.variables((2, 2), values=["a", "b", "c", "d"], name="x")
    y = model.variables(values=[10, 20], name="y")
    model.add(all_different(x))
    result = Result.judged(model.compile(), [3, 0, 1, 2, 5], EFFORT, model)
    assert result.values == ["d", "a", "b", "c", 20]
    assert result[x].tolist() == [["d", "a"], ["b", "c"]]
    assert result[x[1]].tolist() == ["b", "c"]
    assert result[x[0, 0]] == "d"
    assert result[y] == 20
    assert result.solved
    assert result.status == "solved"
    assert result.violations == 0
    assert result.objective is None
    assert repr(result) == "<Result: solved, 7 iterations, 1.23 s>"


def test_only_variables_of_the_model_have_values() -> None:
    model, other = Model(), Model()
    x, foreign = model.variables(2, values=[1, 2]), other.variables(2, values=[1, 2])
    result = Result.judged(model.compile(), [0, 1], EFFORT, model)
    newer = model.variables(values=[1, 2], name="y")
    assert result[x].tolist() == [1, 2]
    with pytest.raises(ModelError, match="there are 2 values, none for the newer y"):
        result[newer]
    with pytest.raises(ModelError, match="belongs to another model"):
        result[foreign]
    with pytest.raises(ModelError, match="expected variables of this model, not 'x'"):
        result["x"]  # type: ignore[index]
    with pytest.raises(ModelError, match="was not stated by a Model"):
        Result.judged(model.compile(), [0, 1, 0], EFFORT)[x]


def test_always_judged() -> None:
    csp = problem([{"kind": "not_equal", "scope": [0, 1]}], n=2, m=2)
    assert Result.judged(csp, [0, 1], EFFORT).solved
    result = Result.judged(csp, [1, 1], EFFORT)
    assert not result.solved
    assert result.status == "unsolved"
    assert result.violations == 1
    assert result.verdict.broken == ("not_equal of 0, 1",)


def test_json() -> None:
    csp = problem([{"kind": "not_equal", "scope": [0, 1]}], n=2, m=2)
    document = Result.judged(csp, [1, 1], EFFORT).to_json()
    assert json.loads(json.dumps(document)) == {
        "status": "unsolved",
        "family": "csp",
        "values": [1, 1],
        "violations": 1,
        "broken": ["not_equal of 0, 1"],
        "objective": None,
        "iterations": 7,
        "seconds": 1.2346,
        "network": "any",
        "seed": 3,
        "proof": None,
        "account": None,
    }


@pytest.mark.parametrize(("weight", "written"), [(3.0, "3"), (2.5, "2.5")])
def test_whole_objectives_are_written_whole(weight: float, written: str) -> None:
    csp = problem([{"kind": "not_equal", "scope": [0, 1], "soft": True, "weight": weight}], n=2, m=2)
    assert json.dumps(Result.judged(csp, [0, 0], EFFORT).to_json()["objective"]) == written

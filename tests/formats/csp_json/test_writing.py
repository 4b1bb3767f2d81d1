from __future__ import annotations

from collections.abc import Callable

import pytest

from consformer import CSP, Model
from consformer.errors import ModelError
from consformer.formats.csp_json import dumps, loads, to_document
from tests.formats.csp_json.cases import VALIDATOR, bare, examples_of_every_kind, rich, same


@pytest.mark.parametrize("make", [rich, bare, examples_of_every_kind])
def test_round_trip_and_the_schema_agrees(make: Callable[[], CSP]) -> None:
    csp = make()
    VALIDATOR.validate(to_document(csp))
    assert same(loads(dumps(csp)), csp)
    assert same(loads(dumps(csp, one_line=True)), csp)
    assert "\n" not in dumps(csp, one_line=True)
    assert dumps(loads(dumps(csp))) == dumps(csp)


def test_documents_speak_in_labels_and_leave_out_what_is_usual() -> None:
    document = to_document(rich())
    assert document["variables"]["domains"]["0"] == [1, 2]
    assert document["variables"]["fixed"] == {"1": 2}
    assert {"kind": "cardinality", "scope": [4, 5], "value": "yon", "count": 1, "compare": "<="} in document["constraints"]
    assert {"kind": "cardinality", "scope": [0, 1, 2, 3], "value": 2, "count": 1} in document["constraints"]
    assert document["objective"] == {"maximise": True, "offset": 7.5}
    model = Model()
    model.variables(2, values=["a"])
    assert set(to_document(model.compile(info={}))) == {"format", "version", "family", "values", "variables", "constraints"}


def test_text_has_one_constraint_per_line() -> None:
    assert sum('"kind"' in line for line in dumps(rich()).splitlines()) == sum(map(len, rich().constraints))


def test_a_union_is_written_as_its_instances() -> None:
    with pytest.raises(ModelError, match="instances"):
        dumps(CSP.union([rich(), rich()]))

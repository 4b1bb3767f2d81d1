"""What the tests of the JSON form share: problems that use everything there is, and a document to make mistakes in."""

from __future__ import annotations

import copy
from typing import Any

import jsonschema
import torch

from consformer import CSP, Model, all_different, cardinality
from consformer.constraints import Constraint
from consformer.formats.csp_json import from_document, schema

VALIDATOR = jsonschema.Draft202012Validator(schema())

MINIMAL: dict[str, Any] = {
    "format": "consformer-csp",
    "version": 1,
    "values": ["red", "green", 3],
    "variables": {"count": 3, "domains": {"1": ["red"]}, "names": ["a", "b", "c"], "positions": [[0, 0], [0, 1], [1, 0]]},
    "constraints": [{"kind": "not_equal", "scope": [0, 1]}, {"kind": "cardinality", "scope": [0, 1, 2], "value": "red", "count": 1}],
}


def rich() -> CSP:
    """A problem that uses everything there is."""
    model = Model()
    x = model.variables((2, 2), values=[1, 2, "três"], name="x")
    y = model.variables(2, values=["três", "yon"], name="y")
    model.restrict(x[0, 0], [1, 2])
    model.fix(x, [[None, 2], [None, None]])
    model.add(all_different(x), cardinality(y, "yon", at_most=1), cardinality(x, 2, exactly=1))
    model.add(x[0] != y, soft=[1, -0.25])
    model.add(all_different(x[0]), soft=10)
    csp = model.compile(family="mine", info={"title": "tëst", "size": [1, None, {"a": 0.5}]})
    return CSP(**{**{key: getattr(csp, key) for key in csp.__dataclass_fields__}, "maximise": True, "offset": 7.5})


def bare() -> CSP:
    return from_document(
        {"format": "consformer-csp", "version": 1, "values": [0], "variables": {"count": 1, "positions": [[7]]}, "constraints": []}
    )


def examples_of_every_kind() -> CSP:
    records = [{"kind": name, **record} for name, cls in sorted(Constraint.registry.items()) for record, *_ in cls.examples()]
    labels = [f"v{i}" for i in range(max(m for cls in Constraint.registry.values() for _, m, *_ in cls.examples()))]
    plain = [Constraint.registry[record["kind"]].translate(record, lambda value, _: labels[value]) for record in records]
    return from_document({"format": "consformer-csp", "version": 1, "values": labels, "variables": {"count": 9}, "constraints": plain})


def same(left: CSP, right: CSP) -> bool:
    tensors = all(torch.equal(getattr(left, key), getattr(right, key)) for key in ("domain", "given", "positions"))
    plain = ("value_labels", "variable_labels", "family", "info", "maximise", "offset")
    records = [[c.records() for c in csp.constraints] for csp in (left, right)]
    return tensors and all(getattr(left, key) == getattr(right, key) for key in plain) and records[0] == records[1]


def changed(path: str, entry: Any) -> Any:
    document = copy.deepcopy(MINIMAL)
    *way, last = path.split(".")
    place: Any = document
    for step in way:
        place = place[int(step)] if isinstance(place, list) else place[step]
    place[int(last) if isinstance(place, list) else last] = entry
    return document

"""From a CSP to its document, as plain JSON data or as text; what a reader takes for granted is left out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import torch

from consformer.constraints import Constraint, Record
from consformer.constraints.base import plain_number
from consformer.csp import CSP, Label
from consformer.errors import ModelError
from consformer.formats.csp_json.form import FORMAT, VERSION


def to_document(csp: CSP) -> dict[str, Any]:
    """A problem as plain JSON data.

    >>> from consformer import Model
    >>> model = Model()
    >>> x = model.variables(2, values=["red", "green"], name="x")
    >>> model.fix(x[1], "red")
    >>> model.add(x[0] != x[1], soft=2)
    >>> document = to_document(model.compile())
    >>> document["variables"], document["constraints"]
    ({'count': 2, 'names': ['x[0]', 'x[1]'], 'fixed': {'1': 'red'}}, [{'kind': 'not_equal', 'scope': [0, 1], 'soft': True, 'weight': 2}])
    """
    if csp.parts:
        raise ModelError("a union of problems has no document of its own: write its instances, one document each")
    document = {
        "format": FORMAT,
        "version": VERSION,
        "family": csp.family,
        "values": list(csp.value_labels),
        "variables": _variables(csp),
        "constraints": [record for constraint in csp.constraints for record in _records(constraint, csp.value_labels)],
    }
    if csp.maximise or csp.offset:
        document["objective"] = {"maximise": csp.maximise, "offset": plain_number(csp.offset)}
    if csp.info:
        document["info"] = dict(csp.info)
    return document


def dumps(csp: CSP, *, one_line: bool = False) -> str:
    """A problem as JSON text: one constraint per line, or all on one line (for files with many problems).

    >>> from consformer import Model
    >>> model = Model()
    >>> x = model.variables(2, values=["red", "green"], name="x")
    >>> print(dumps(model.compile(), one_line=True)[:76])
    {"format":"consformer-csp","version":1,"family":"csp","values":["red","green
    """
    document = to_document(csp)
    encode = partial(json.dumps, ensure_ascii=False, allow_nan=False)
    if one_line:
        return encode(document, separators=(",", ":"))
    entries = []
    for key, entry in document.items():
        text = encode(entry) if key != "constraints" or not entry else "[\n    " + ",\n    ".join(map(encode, entry)) + "\n  ]"
        entries.append(f'  "{key}": {text}')
    return "{\n" + ",\n".join(entries) + "\n}\n"


def _variables(csp: CSP) -> dict[str, Any]:
    labels = csp.value_labels
    variables: dict[str, Any] = {"count": csp.n}
    if csp.variable_labels is not None:
        variables["names"] = list(csp.variable_labels)
    if not torch.equal(csp.positions, torch.arange(csp.n)[:, None]):
        variables["positions"] = csp.positions.tolist()
    domain = csp.domain.numpy()
    narrowed = np.flatnonzero(~domain.all(1)).tolist()
    if narrowed:
        variables["domains"] = {str(i): [labels[value] for value in np.flatnonzero(domain[i])] for i in narrowed}
    fixed = {str(i): labels[value] for i, value in enumerate(csp.given.tolist()) if value >= 0}
    if fixed:
        variables["fixed"] = fixed
    return variables


def _records(constraint: Constraint, labels: tuple[Label, ...]) -> Iterator[Record]:
    """The constraints of a kind, in labels."""
    defaults = {key: schema["default"] for key, schema in constraint.parameters.items() if "default" in schema}
    for record in constraint.records():
        plain = constraint.translate(record, lambda value, _: labels[value])
        if "weight" in plain:
            plain["weight"] = plain_number(plain["weight"])
        yield {key: entry for key, entry in plain.items() if key not in defaults or entry != defaults[key]}

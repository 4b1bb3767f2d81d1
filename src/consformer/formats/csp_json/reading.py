"""From JSON text to CSPs; whatever is wrong in it is an `InputError` that says in one line where it stands and what would be right."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NoReturn

import torch
from torch import Tensor

from consformer.constraints import Constraint, Record, compile_records
from consformer.constraints.base import MAX_WEIGHT, is_number, is_whole
from consformer.csp import CSP, Label, check_size
from consformer.errors import InputError, ModelError, did_you_mean
from consformer.formats.csp_json.form import DOCUMENT, FORMAT, OBJECTIVE, VARIABLES, VERSION, kind_schema
from consformer.formats.csp_json.place import Place, show

MAX_POSITION = 2**31

# --- text -----------------------------------------------------------------------------------------------------


def read_all(text: str) -> list[CSP]:
    r"""The problems of a file: one document, an array of them, or one per line.

    >>> from consformer.formats.csp_json import CspJson, dumps
    >>> line = dumps(loads(CspJson.sample().decode()), one_line=True)
    >>> len(read_all(line)), len(read_all(f"[{line}, {line}]")), len(read_all(f"{line}\n\n{line}\n"))
    (1, 2, 2)
    """
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if len(lines) > 1 and _is_document(lines[0][1]):
        return [_read_line(line, number) for number, line in lines]
    data = _parse(text)
    if isinstance(data, list):
        return [from_document(document, f"[{index}]") for index, document in enumerate(data)]
    return [from_document(data)]


def loads(text: str) -> CSP:
    """The problem in a JSON text.

    >>> from consformer.formats.csp_json import CspJson
    >>> loads(CspJson.sample().decode()).n
    3
    >>> loads('{"format": "consformer-csp", "version": 1, "values": ["a"], "variables": {"count": 2}, "constraint": []}')
    Traceback (most recent call last):
    ...
    consformer.errors.InputError: unknown key 'constraint': did you mean 'constraints'?
    """
    return from_document(_parse(text))


def _is_document(line: str) -> bool:
    """Whether a line is a JSON object by itself (a quick look first: most lines of an indented document are not)."""
    if not line.lstrip().startswith("{") or not line.rstrip().endswith("}"):
        return False
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _read_line(line: str, number: int) -> CSP:
    try:
        return loads(line)
    except InputError as error:
        raise InputError(error.message, line=number) from None


def _parse(text: str) -> Any:
    """JSON text as data; stricter than Python's reader: no NaN, no key twice."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(items)
        if len(table) < len(items):
            keys = [key for key, _ in items]
            raise InputError(f"key {show(next(key for key in keys if keys.count(key) > 1))} stands twice in one object")
        return table

    def constant(name: str) -> NoReturn:
        raise InputError(f"{name} is not a JSON number")

    try:
        return json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise InputError(f"not valid JSON: {error.msg} (column {error.colno})", line=error.lineno) from None
    except RecursionError:
        raise InputError("the JSON is nested too deeply") from None
    except ValueError:
        raise InputError("the JSON holds a number with thousands of digits") from None


# --- documents ------------------------------------------------------------------------------------------------


def from_document(document: object, path: str = "") -> CSP:
    """The problem in plain JSON data; an `InputError` that names the place when it is wrong. `path` is where the document stands.

    >>> from_document({"format": "consformer-csp", "version": 1, "values": [1, 2], "variables": {"count": 2}, "constraints": []}).m
    2
    """
    doc = Place(document, key=path)
    _check_header(doc)
    values = _labels(doc["values"])
    variables, objective, info = doc["variables"], doc.get("objective", {}), doc.get("info", {})
    variables.as_object(VARIABLES)
    objective.as_object(OBJECTIVE)
    info.as_object()
    n = _count(variables["count"], len(values))
    domain = _domain(variables.get("domains", {}), n, values)
    try:
        return CSP(
            domain=domain,
            given=_given(variables.get("fixed", {}), values, domain),
            positions=_positions(variables["positions"], n) if "positions" in variables else torch.arange(n)[:, None],
            constraints=_constraints(doc["constraints"], n, values),
            value_labels=tuple(values),
            variable_labels=_names(variables["names"], n) if "names" in variables else None,
            family=doc.get("family", "csp").as_text(),
            info=info.as_object(),
            maximise=objective.get("maximise", False).as_flag(),
            offset=_offset(objective.get("offset", 0)),
        )
    except ModelError as error:
        raise doc.error(str(error)) from error


def _check_header(doc: Place) -> None:
    if not isinstance(doc.entry, dict) or doc.entry.get("format") != FORMAT:
        raise doc.error(f'a problem is a JSON object with "format": "{FORMAT}", not {show(doc.entry)}')
    version = doc["version"]
    if not is_whole(version.entry) or version.entry != VERSION:
        raise version.error(f"this program reads version {VERSION}, not {show(version.entry)}")
    doc.as_object(DOCUMENT)


def _labels(place: Place, length: int | None = None) -> dict[Label, int]:
    """Different labels and their indices."""
    labels: dict[Label, int] = {}
    for index, item in enumerate(place.items(length)):
        label = item.as_label()
        if label in labels:
            raise item.error(f"{show(label)} stands twice")
        labels[label] = index
    if not labels:
        raise place.error("must hold at least one entry")
    return labels


def _names(place: Place, n: int) -> tuple[Label, ...]:
    """Names that differ as text, too: answers are tables by name, and JSON has no other keys."""
    names = tuple(_labels(place, n))
    seen: dict[str, Label] = {}
    for index, name in enumerate(names):
        if str(name) in seen:
            raise Place(name, place, index).error(f"{show(name)} and {show(seen[str(name)])} are the same as text; names must differ")
        seen[str(name)] = name
    return names


def _count(place: Place, m: int) -> int:
    count = place.entry
    if not is_whole(count) or count < 1:
        raise place.must_be("a whole number from 1")
    try:
        check_size(count, m)
    except ModelError as error:
        raise place.error(str(error)) from error
    return count


def _positions(place: Place, n: int) -> Tensor:
    rows = place.items(n)
    width = len(rows[0].as_list())
    if not width:
        raise rows[0].error("must hold at least one index")
    for row in rows:
        if len(row.as_list()) != width:
            raise row.error(f"has {len(row.entry)} indices where {rows[0].path} has {width}")
        if not all(is_whole(i) and abs(i) < MAX_POSITION for i in row.entry):
            raise row.must_be(f"whole numbers below {MAX_POSITION}")
    return torch.tensor(place.entry, dtype=torch.int64)


def _domain(place: Place, n: int, values: dict[Label, int]) -> Tensor:
    domain = torch.ones(n, len(values), dtype=torch.bool)
    for variable, labels in _by_variable(place, n):
        allowed = [_value(label, values) for label in labels.items()]
        if not allowed:
            raise labels.error("must hold at least one value")
        domain[variable] = False
        domain[variable, allowed] = True
    return domain


def _given(place: Place, values: dict[Label, int], domain: Tensor) -> Tensor:
    given, allowed = [-1] * len(domain), domain.numpy()
    for variable, label in _by_variable(place, len(domain)):
        given[variable] = _value(label, values)
        if not allowed[variable, given[variable]]:
            raise label.error(f"{show(label.entry)} is not in the domain of this variable")
    return torch.tensor(given, dtype=torch.int64)


def _by_variable(place: Place, n: int) -> Iterator[tuple[int, Place]]:
    """The entries of an object whose keys are variable indices."""
    for key in place.as_object():
        if not (isinstance(key, str) and key.isascii() and key.isdecimal() and len(key) < 20 and str(int(key)) == key and int(key) < n):
            raise place.error(f"the keys must be variable indices from 0 to {n - 1}, not {show(key)}")
        yield int(key), place[key]


def _value(place: Place, values: dict[Label, int]) -> int:
    """The index of a value given by its label."""
    label = place.as_label()
    if label not in values:
        raise place.error(f'{show(label)} is not among the "values"{did_you_mean(label, values)}')
    return values[label]


def _offset(place: Place) -> float:
    if not is_number(place.entry) or not -MAX_WEIGHT <= place.entry <= MAX_WEIGHT:
        raise place.must_be(f"a number of at most {MAX_WEIGHT:g} in size")
    return float(place.entry)


# --- constraints ----------------------------------------------------------------------------------------------


def _constraints(place: Place, n: int, values: dict[Label, int]) -> tuple[Constraint, ...]:
    items = place.items()
    records = [_record(item, n, values) for item in items]
    try:
        return compile_records(records)
    except ModelError:
        for item, record in zip(items, records, strict=True):
            try:
                Constraint.registry[record["kind"]].checked(record)
            except ModelError as error:
                raise item.error(str(error)) from error
        raise


def _record(place: Place, n: int, values: dict[Label, int]) -> Record:
    """One constraint with indices for labels, its own keys left for the kind to check."""
    record, name = place.as_object(), place["kind"]
    if not isinstance(name.entry, str) or name.entry not in Constraint.registry:
        raise name.error(f"unknown constraint kind {show(name.entry)}{did_you_mean(name.entry, Constraint.registry)}")
    cls = Constraint.registry[name.entry]
    schema = kind_schema(cls)
    place.as_object(schema)
    _check_scope(place["scope"], n)
    for key in schema["required"]:
        if key not in record:
            raise place.error(f"{cls.kind} needs the key {key!r}")
    place.get("soft", False).as_flag()
    return cls.translate(record, lambda label, key: _value(Place(label, place, key), values))


def _check_scope(place: Place, n: int) -> None:
    scope = place.as_list()
    if not scope:
        raise place.error("must hold at least one variable")
    for index, variable in enumerate(scope):
        if not is_whole(variable) or not 0 <= variable < n:
            raise Place(variable, place, index).must_be(f"a variable index from 0 to {n - 1}")
    if len(set(scope)) < len(scope):
        raise place.error(f"variable {next(i for i in scope if scope.count(i) > 1)} stands twice")

"""Any CSP as plain JSON in the user's own labels; `docs/csp-json.md` describes it, `csp.schema.json` is its JSON schema.

A file holds one document, a JSON array of documents, or one document per line.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor

from consformer.constraints import Constraint, Record, compile_records
from consformer.constraints.base import MAX_WEIGHT, VALUE, is_number, is_whole
from consformer.csp import CSP, Label, check_size
from consformer.errors import InputError, ModelError
from consformer.formats.base import Format, text_of
from consformer.formats.payloads import Payload

FORMAT, VERSION = "consformer-csp", 1
MAX_POSITION = 2**31


class CspJson(Format):
    """Ready problems: nothing is left to a family."""

    name = "csp_json"
    summary = f'JSON documents with "format": "{FORMAT}": one, an array of them, or one per line'

    def recognises(self, data: bytes) -> bool:
        return data[:65536].removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")

    def read(self, data: bytes) -> list[Payload]:
        return list(read_all(text_of(data)))

    @staticmethod
    def sample() -> bytes:
        return b"""{
  "format": "consformer-csp",
  "version": 1,
  "values": ["red", "green"],
  "variables": {"count": 3, "names": ["WA", "NT", "SA"], "fixed": {"0": "red"}},
  "constraints": [
    {"kind": "not_equal", "scope": [0, 1]},
    {"kind": "not_equal", "scope": [1, 2]},
    {"kind": "cardinality", "scope": [0, 1, 2], "value": "red", "count": 2}
  ]
}
"""


# --- writing --------------------------------------------------------------------------------------------------


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
    labels = csp.value_labels
    document = {
        "format": FORMAT,
        "version": VERSION,
        "family": csp.family,
        "values": list(labels),
        "variables": _variables(csp),
        "constraints": [_plain(constraint, record, labels) for constraint in csp.constraints for record in constraint.records()],
    }
    if csp.maximise or csp.offset:
        document["objective"] = {"maximise": csp.maximise, "offset": _short(csp.offset)}
    if csp.info:
        document["info"] = dict(csp.info)
    return document


def dumps(csp: CSP, *, one_line: bool = False) -> str:
    """A problem as JSON text: one constraint per line, or all on one line (for files with many problems).

    >>> csp = loads(CspJson.sample().decode())
    >>> print(dumps(csp, one_line=True)[:76])
    {"format":"consformer-csp","version":1,"family":"csp","values":["red","green
    """
    document = to_document(csp)
    if one_line:
        return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    records = ",\n    ".join(json.dumps(record, ensure_ascii=False) for record in document["constraints"])
    entries = [
        f"  {json.dumps(key)}: [\n    {records}\n  ]"
        if key == "constraints" and records
        else f"  {json.dumps(key)}: {json.dumps(entry, ensure_ascii=False, allow_nan=False)}"
        for key, entry in document.items()
    ]
    return "{\n" + ",\n".join(entries) + "\n}\n"


def _variables(csp: CSP) -> dict[str, Any]:
    labels = csp.value_labels
    variables: dict[str, Any] = {"count": csp.n}
    if csp.variable_labels is not None:
        variables["names"] = list(csp.variable_labels)
    if not torch.equal(csp.positions, torch.arange(csp.n)[:, None]):
        variables["positions"] = csp.positions.tolist()
    narrowed = torch.nonzero(~csp.domain.all(1))[:, 0].tolist()
    if narrowed:
        allowed = csp.domain.numpy()
        variables["domains"] = {str(i): [labels[value] for value in np.flatnonzero(allowed[i])] for i in narrowed}
    given = csp.given.tolist()
    fixed = {str(i): labels[value] for i, value in enumerate(given) if value >= 0}
    if fixed:
        variables["fixed"] = fixed
    return variables


def _plain(constraint: Constraint, record: Record, labels: tuple[Label, ...]) -> Record:
    defaults = {key: schema["default"] for key, schema in constraint.parameters.items() if "default" in schema}
    plain = constraint.translate(record, lambda value, _: labels[value])
    if defaults:
        plain = {key: entry for key, entry in plain.items() if key not in defaults or entry != defaults[key]}
    return {**plain, "weight": _short(plain["weight"])} if "weight" in plain else plain


def _short(number: float) -> float | int:
    return int(number) if number == int(number) else number


# --- reading --------------------------------------------------------------------------------------------------


def read_all(text: str) -> list[CSP]:
    r"""The problems of a file: one document, an array of them, or one per line.

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

    >>> loads(CspJson.sample().decode()).n
    3
    >>> loads('{"format": "consformer-csp", "version": 1, "values": ["a"], "variables": {"count": 2}, "constraint": []}')
    Traceback (most recent call last):
    ...
    consformer.errors.InputError: unknown key 'constraint': did you mean 'constraints'?
    """
    return from_document(_parse(text))


def from_document(document: object, path: str = "") -> CSP:
    """The problem in plain JSON data; an `InputError` that names the place when it is wrong. `path` is where the document stands.

    >>> from_document({"format": "consformer-csp", "version": 1, "values": [1, 2], "variables": {"count": 2}, "constraints": []}).m
    2
    """
    doc = _header(document, path)
    at = f"{path}." if path else ""
    values = _labels(_need(doc, "values", path), f"{at}values")
    variables = _object(_need(doc, "variables", path), f"{at}variables", ("count", "names", "positions", "domains", "fixed"))
    objective = _object(doc.get("objective", {}), f"{at}objective", ("maximise", "offset"))
    info = doc.get("info", {})
    if not isinstance(info, dict):
        _fail(f"{at}info", f"must be an object, not {_show(info)}")
    n = _count(variables, f"{at}variables", len(values))
    domain = _domain(variables.get("domains", {}), f"{at}variables.domains", n, values)
    try:
        return CSP(
            domain=domain,
            given=_given(variables.get("fixed", {}), f"{at}variables.fixed", values, domain),
            positions=_positions(variables.get("positions", [[i] for i in range(n)]), f"{at}variables.positions", n),
            constraints=_constraints(_need(doc, "constraints", path), f"{at}constraints", n, values),
            value_labels=tuple(values),
            variable_labels=tuple(_labels(variables["names"], f"{at}variables.names", n)) if "names" in variables else None,
            family=_family(doc, at),
            info=info,
            maximise=_flag(objective, "maximise", f"{at}objective"),
            offset=_offset(objective, f"{at}objective.offset"),
        )
    except ModelError as error:
        raise InputError(f"{path}: {error}" if path else str(error)) from error


def _parse(text: str, line: int = 1) -> Any:
    """JSON text as data; stricter than Python's reader: no NaN, no key twice."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(items)
        if len(table) < len(items):
            keys = [key for key, _ in items]
            raise InputError(f"key {_show(next(key for key in keys if keys.count(key) > 1))} stands twice in one object")
        return table

    def constant(name: str) -> NoReturn:
        raise InputError(f"{name} is not a JSON number")

    try:
        return json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise InputError(f"not valid JSON: {error.msg} (column {error.colno})", line=line + error.lineno - 1) from None
    except RecursionError:
        raise InputError("the JSON is nested too deeply") from None
    except ValueError:
        raise InputError("the JSON holds a number with thousands of digits") from None


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
        return from_document(_parse(line, number))
    except InputError as error:
        raise InputError(error.message, line=number) from None


def _header(document: object, path: str) -> dict[str, Any]:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        _fail(path, f'a problem is a JSON object with "format": "{FORMAT}", not {_show(document)}')
    version = _need(document, "version", path)
    if not is_whole(version) or version != VERSION:
        _fail(f"{path}.version" if path else "version", f"this program reads version {VERSION}, not {_show(version)}")
    keys = ("format", "version", "family", "values", "variables", "constraints", "objective", "info")
    return _object(document, path, keys)


def _labels(entry: object, path: str, length: int | None = None) -> dict[Label, int]:
    """Different labels and their indices."""
    labels: dict[Label, int] = {}
    for index, label in enumerate(_list(entry, path, length)):
        if _label(label, f"{path}[{index}]") in labels:
            _fail(f"{path}[{index}]", f"{_show(label)} stands twice")
        labels[label] = index
    if not labels:
        _fail(path, "must hold at least one entry")
    return labels


def _count(variables: dict[str, Any], path: str, m: int) -> int:
    count = _need(variables, "count", path)
    if not is_whole(count) or count < 1:
        _fail(f"{path}.count", f"must be a whole number from 1, not {_show(count)}")
    try:
        check_size(count, m)
    except ModelError as error:
        _fail(f"{path}.count", str(error))
    return count


def _positions(entry: object, path: str, n: int) -> Tensor:
    rows = [_list(row, f"{path}[{index}]") for index, row in enumerate(_list(entry, path, n))]
    for index, row in enumerate(rows):
        if len(row) != len(rows[0]):
            _fail(f"{path}[{index}]", f"has {len(row)} indices where {path}[0] has {len(rows[0])}")
        if not all(is_whole(i) and abs(i) < MAX_POSITION for i in row):
            _fail(f"{path}[{index}]", f"must be whole numbers below {MAX_POSITION}, not {_show(row)}")
    return torch.tensor(rows, dtype=torch.int64).view(n, -1)


def _domain(entry: object, path: str, n: int, values: dict[Label, int]) -> Tensor:
    domain = torch.ones(n, len(values), dtype=torch.bool)
    for variable, labels in _per_variable(entry, path, n):
        allowed = [_value(label, f"{path}.{variable}[{index}]", values) for index, label in enumerate(_list(labels, f"{path}.{variable}"))]
        if not allowed:
            _fail(f"{path}.{variable}", "must hold at least one value")
        domain[variable] = False
        domain[variable, allowed] = True
    return domain


def _given(entry: object, path: str, values: dict[Label, int], domain: Tensor) -> Tensor:
    given, allowed = [-1] * len(domain), domain.numpy()
    for variable, label in _per_variable(entry, path, len(domain)):
        given[variable] = _value(label, f"{path}.{variable}", values)
        if not allowed[variable, given[variable]]:
            _fail(f"{path}.{variable}", f"{_show(label)} is not in the domain of this variable")
    return torch.tensor(given, dtype=torch.int64)


def _per_variable(entry: object, path: str, n: int) -> Iterable[tuple[int, Any]]:
    """The entries of an object whose keys are variable indices."""
    for key, item in _object(entry, path).items():
        if not (isinstance(key, str) and key.isascii() and key.isdecimal() and len(key) < 20 and str(int(key)) == key and int(key) < n):
            _fail(path, f"the keys must be variable indices from 0 to {n - 1}, not {_show(key)}")
        yield int(key), item


def _constraints(entry: object, path: str, n: int, values: dict[Label, int]) -> tuple[Constraint, ...]:
    records = [_record(record, f"{path}[{index}]", n, values) for index, record in enumerate(_list(entry, path))]
    try:
        return compile_records(records)
    except ModelError:
        for index, record in enumerate(records):
            try:
                Constraint.registry[record["kind"]].checked(record)
            except ModelError as error:
                _fail(f"{path}[{index}]", str(error))
        raise


def _record(entry: object, path: str, n: int, values: dict[Label, int]) -> Record:
    """One constraint with indices for labels, its own keys left for the kind to check."""
    record = _object(entry, path)
    name = _need(record, "kind", path)
    if not isinstance(name, str) or name not in Constraint.registry:
        _fail(f"{path}.kind", f"unknown constraint kind {_show(name)}{_nearest(name, Constraint.registry)}")
    cls = Constraint.registry[name]
    _object(record, path, ("kind", "scope", "weight", "soft", *cls.parameters))
    for key, schema in cls.parameters.items():
        if key not in record and "default" not in schema:
            _fail(path, f"{name} needs the key {key!r}")
    _check_scope(_need(record, "scope", path), f"{path}.scope", n)
    _flag(record, "soft", path)
    return cls.translate(record, lambda label, key: _value(label, f"{path}.{key}", values))


def _check_scope(entry: object, path: str, n: int) -> None:
    scope = _list(entry, path)
    if not scope:
        _fail(path, "must hold at least one variable")
    for index, variable in enumerate(scope):
        if not is_whole(variable) or not 0 <= variable < n:
            _fail(f"{path}[{index}]", f"must be a variable index from 0 to {n - 1}, not {_show(variable)}")
    if len(set(scope)) < len(scope):
        _fail(path, f"variable {next(i for i in scope if scope.count(i) > 1)} stands twice")


def _family(doc: dict[str, Any], at: str) -> str:
    family = doc.get("family", "csp")
    if not isinstance(family, str):
        _fail(f"{at}family", f"must be a text, not {_show(family)}")
    return family


def _offset(objective: dict[str, Any], path: str) -> float:
    offset = objective.get("offset", 0.0)
    if not is_number(offset) or not -MAX_WEIGHT <= offset <= MAX_WEIGHT:
        _fail(path, f"must be a number of at most {MAX_WEIGHT:g} in size, not {_show(offset)}")
    return float(offset)


def _flag(table: dict[str, Any], key: str, path: str) -> bool:
    flag = table.get(key, False)
    if not isinstance(flag, bool):
        _fail(f"{path}.{key}", f"must be true or false, not {_show(flag)}")
    return flag


def _label(entry: object, path: str) -> Label:
    if not isinstance(entry, str) and not is_whole(entry):
        _fail(path, f"must be a text or a whole number, not {_show(entry)}")
    if isinstance(entry, str) and any("\ud800" <= character <= "\udfff" for character in entry):
        _fail(path, f"must be valid Unicode text, not {_show(entry)}")
    return entry


def _value(entry: object, path: str, values: dict[Label, int]) -> int:
    """The index of a value given by its label."""
    label = _label(entry, path)
    if label not in values:
        _fail(path, f'{_show(label)} is not among the "values"{_nearest(label, values)}')
    return values[label]


def _list(entry: object, path: str, length: int | None = None) -> list[Any]:
    if not isinstance(entry, list):
        _fail(path, f"must be a list, not {_show(entry)}")
    if length is not None and len(entry) != length:
        _fail(path, f"must have {length} entries, one per variable, not {len(entry)}")
    return entry


def _object(entry: object, path: str, keys: Iterable[str] | None = None) -> dict[str, Any]:
    if not isinstance(entry, dict):
        _fail(path, f"must be an object, not {_show(entry)}")
    if keys is not None:
        known = set(keys)
        for key in entry:
            if key not in known:
                _fail(path, f"unknown key {_show(key)}{_nearest(key, known)}")
    return entry


def _need(table: Mapping[str, Any], key: str, path: str) -> Any:
    if key not in table:
        _fail(path, f'the key "{key}" is missing')
    return table[key]


def _nearest(name: object, choices: Iterable[Label]) -> str:
    if not isinstance(name, str) or len(name) > 100:
        return ""
    near = difflib.get_close_matches(name, [str(choice) for choice in islice(choices, 1000)], n=1, cutoff=0.5)
    return f": did you mean {near[0]!r}?" if near else ""


def _show(entry: object) -> str:
    """Something wrong to quote in a message, cut short."""
    try:
        text = ascii(entry)
    except (ValueError, RecursionError):  # a number with thousands of digits, lists within lists within lists
        text = "something huge"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _fail(path: str, message: str) -> NoReturn:
    raise InputError(f"{path}: {message}" if path else message)


# --- the schema -----------------------------------------------------------------------------------------------


def schema() -> dict[str, Any]:
    """The JSON schema of a document, with every registered constraint kind. `csp.schema.json` is this as a file.

    >>> sorted(schema()["$defs"])
    ['all_different', 'cardinality', 'not_equal', 'value', 'variable']
    """
    kinds = sorted(Constraint.registry)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A constraint problem",
        "type": "object",
        "required": ["format", "version", "values", "variables", "constraints"],
        "additionalProperties": False,
        "properties": {
            "format": {"const": FORMAT},
            "version": {"const": VERSION},
            "family": {"type": "string", "default": "csp"},
            "values": {"type": "array", "items": VALUE, "minItems": 1, "uniqueItems": True},
            "variables": _variables_schema(),
            "constraints": {"type": "array", "items": {"oneOf": [{"$ref": f"#/$defs/{name}"} for name in kinds]}},
            "objective": {
                "type": "object",
                "description": "offset plus the cost of violated soft constraints, to be minimised; or offset minus it, to be maximised",
                "additionalProperties": False,
                "properties": {"maximise": {"type": "boolean", "default": False}, "offset": {"type": "number", "default": 0}},
            },
            "info": {"type": "object", "description": "what a family keeps for showing a solution"},
        },
        "$defs": {
            "value": {"type": ["string", "integer"], "description": 'one of "values"'},
            "variable": {"type": "integer", "minimum": 0, "description": "index of a variable, from 0"},
            **{name: _kind_schema(Constraint.registry[name]) for name in kinds},
        },
    }


def _variables_schema() -> dict[str, Any]:
    by_variable = {"type": "object", "propertyNames": {"pattern": "^(0|[1-9][0-9]*)$"}}
    return {
        "type": "object",
        "required": ["count"],
        "additionalProperties": False,
        "properties": {
            "count": {"type": "integer", "minimum": 1},
            "names": {"type": "array", "items": {"type": ["string", "integer"]}, "uniqueItems": True},
            "positions": {
                "type": "array",
                "description": "indices of every variable, such as row and column; default: its number",
                "items": {"type": "array", "items": {"type": "integer"}},
            },
            "domains": {
                **by_variable,
                "description": "variables that may not take all values",
                "additionalProperties": {"type": "array", "items": VALUE, "minItems": 1},
            },
            "fixed": {**by_variable, "description": "variables whose value is given", "additionalProperties": VALUE},
        },
    }


def _kind_schema(cls: type[Constraint]) -> dict[str, Any]:
    weight = {"type": "number", "not": {"const": 0}} if cls.signed else {"type": "number", "exclusiveMinimum": 0}
    return {
        "type": "object",
        "description": (cls.__doc__ or "").strip().split("\n")[0],
        "required": ["kind", "scope", *(key for key, item in cls.parameters.items() if "default" not in item)],
        "additionalProperties": False,
        "properties": {
            "kind": {"const": cls.kind},
            "scope": {"type": "array", "items": {"$ref": "#/$defs/variable"}, "minItems": 1, "uniqueItems": True},
            **{key: dict(item) for key, item in cls.parameters.items()},
            "soft": {"type": "boolean", "default": False},
            "weight": {**weight, "default": 1},
        },
    }

"""The form of a document: which keys there are and what they hold, as a JSON schema; reader and writer keep to it."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any

from consformer.constraints import Constraint
from consformer.constraints.base import VALUE

FORMAT, VERSION = "consformer-csp", 1

_BY_VARIABLE = {"type": "object", "propertyNames": {"pattern": "^(0|[1-9][0-9]*)$"}}

VARIABLES: dict[str, Any] = {
    "type": "object",
    "required": ["count"],
    "additionalProperties": False,
    "properties": {
        "count": {"type": "integer", "minimum": 1},
        "names": {"type": "array", "items": {"type": ["string", "integer"]}, "uniqueItems": True},
        "positions": {
            "type": "array",
            "description": "indices of every variable, such as row and column; default: its number",
            "items": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
        },
        "domains": {
            **_BY_VARIABLE,
            "description": "variables that may not take all values",
            "additionalProperties": {"type": "array", "items": VALUE, "minItems": 1},
        },
        "fixed": {**_BY_VARIABLE, "description": "variables whose value is given", "additionalProperties": VALUE},
    },
}

OBJECTIVE: dict[str, Any] = {
    "type": "object",
    "description": "offset plus the cost of violated soft constraints, to be minimised; or offset minus it, to be maximised",
    "additionalProperties": False,
    "properties": {"maximise": {"type": "boolean", "default": False}, "offset": {"type": "number", "default": 0}},
}

DOCUMENT: dict[str, Any] = {
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
        "variables": VARIABLES,
        "constraints": {"type": "array"},  # of the kinds there are, see `schema`
        "objective": OBJECTIVE,
        "info": {"type": "object", "description": "what a family keeps for showing a solution"},
    },
}


def schema() -> dict[str, Any]:
    """The JSON schema of a document, with every registered constraint kind. `csp.schema.json` is this as a file.

    >>> sorted(schema()["$defs"])
    ['all_different', 'cardinality', 'not_equal', 'value', 'variable']
    """
    kinds = sorted(Constraint.registry)
    constraints = {"type": "array", "items": {"oneOf": [{"$ref": f"#/$defs/{name}"} for name in kinds]}}
    definitions = {
        "value": {"type": ["string", "integer"], "description": 'one of "values"'},
        "variable": {"type": "integer", "minimum": 0, "description": "index of a variable, from 0"},
        **{name: kind_schema(Constraint.registry[name]) for name in kinds},
    }
    return deepcopy({**DOCUMENT, "properties": {**DOCUMENT["properties"], "constraints": constraints}, "$defs": definitions})


@cache
def kind_schema(cls: type[Constraint]) -> dict[str, Any]:
    """The JSON schema of a constraint of that kind."""
    weight = {"type": "number", "not": {"const": 0}} if cls.signed else {"type": "number", "exclusiveMinimum": 0}
    size = {"minItems": 1} if cls.arity is None else {"minItems": cls.arity, "maxItems": cls.arity}
    return {
        "type": "object",
        "description": (cls.__doc__ or "").strip().split("\n")[0],
        "required": ["kind", "scope", *(key for key, item in cls.parameters.items() if "default" not in item)],
        "additionalProperties": False,
        "properties": {
            "kind": {"const": cls.kind},
            "scope": {"type": "array", "items": {"$ref": "#/$defs/variable"}, **size, "uniqueItems": True},
            **cls.parameters,
            "soft": {"type": "boolean", "default": False},
            "weight": {**weight, "default": 1},
        },
    }

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from consformer.constraints import Constraint
from consformer.errors import InputError
from consformer.formats import csp_json
from consformer.formats.csp_json import from_document, loads, schema
from tests.formats.csp_json.cases import MINIMAL, VALIDATOR, changed

SHIPPED = Path(csp_json.__file__).with_name("csp.schema.json")
DOCS = Path(__file__).parents[3] / "docs" / "csp-json.md"


def test_the_shipped_schema_is_the_generated_one() -> None:
    assert json.loads(SHIPPED.read_text()) == schema(), "generate csp.schema.json again, see docs/csp-json.md"
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize(
    ("path", "entry"),
    [
        ("version", 2),
        ("constraint", []),
        ("values", []),
        ("values", [1.5]),
        ("variables.count", 0),
        ("variables.domains", {"-1": ["red"]}),
        ("variables.positions", [[], [], []]),
        ("constraints.0.kind", "other"),
        ("constraints.0.scope", []),
        ("constraints.0.scope", [1, 1]),
        ("constraints.0.scope", [1]),
        ("constraints.0.scope", [0, 1, 2]),
        ("constraints.0.value", "red"),
        ("constraints.0.weight", 0),
        ("constraints.1.weight", -1),
        ("constraints.1.compare", "<"),
        ("constraints.1.count", -1),
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(path: str, entry: Any) -> None:
    VALIDATOR.validate(MINIMAL)
    assert not VALIDATOR.is_valid(changed(path, entry))
    with pytest.raises(InputError):
        from_document(changed(path, entry))


def test_the_documentation_is_right() -> None:
    text = DOCS.read_text()
    (block,) = re.findall(r"```json\n(.*?)```", text, re.S)
    assert loads(block).n == 3
    VALIDATOR.validate(json.loads(block))
    for name, cls in Constraint.registry.items():
        assert f"`{name}`" in text, f"{name} is missing from {DOCS.name}"
        assert all(f"`{key}`" in text for key in cls.parameters)

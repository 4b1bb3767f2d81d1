from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from consformer import CSP, Model, all_different, cardinality
from consformer.constraints import Constraint
from consformer.errors import InputError, ModelError
from consformer.formats import csp_json
from consformer.formats.csp_json import CspJson, dumps, from_document, loads, read_all, schema, to_document

SHIPPED = Path(csp_json.__file__).with_name("csp.schema.json")
DOCS = Path(__file__).parents[2] / "docs" / "csp-json.md"
VALIDATOR = jsonschema.Draft202012Validator(schema())


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
        {"format": "consformer-csp", "version": 1, "values": [0], "variables": {"count": 1, "positions": [[]]}, "constraints": []}
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


@pytest.mark.parametrize("make", [rich, bare, examples_of_every_kind])
def test_round_trip_and_the_schema_agrees(make: Any) -> None:
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


def test_files_hold_one_document_an_array_or_lines() -> None:
    line = dumps(rich(), one_line=True)
    for text, count in [(dumps(rich()), 1), (line, 1), (f"[{line},\n {line}]", 2), (f"{line}\r\n\n{line}\n", 2), ("[]", 0)]:
        assert [same(csp, rich()) for csp in read_all(text)] == [True] * count
    assert CspJson().recognises(b"\xef\xbb\xbf " + line.encode())
    assert len(CspJson().read(b"\xef\xbb\xbf" + line.encode())) == 1
    assert not CspJson().recognises(b"p edge 3 2")


def test_errors_in_files_name_the_place() -> None:
    line = dumps(rich(), one_line=True)
    wrong = line.replace('"scope":[4,5]', '"scope":[4,6]')
    with pytest.raises(InputError, match=r"^constraints\[2\].scope\[1\]: must be a variable index from 0 to 5, not 6$"):
        read_all(wrong)
    with pytest.raises(InputError, match=r"^\[1\].constraints\[2\].scope\[1\]: "):
        read_all(f"[{line}, {wrong}]")
    with pytest.raises(InputError, match=r"^line 3: constraints\[2\].scope\[1\]: "):
        read_all(f"{line}\n\n{wrong}")
    with pytest.raises(InputError, match=r"^line 2: not valid JSON: Expecting value"):
        read_all(line + "\n" + line.replace(":1,", ":,"))
    with pytest.raises(InputError, match=r"^line 3: not valid JSON: .* \(column 3\)"):
        read_all('{\n"a": 1,\n  b}')


MINIMAL: dict[str, Any] = {
    "format": "consformer-csp",
    "version": 1,
    "values": ["red", "green", 3],
    "variables": {"count": 3, "domains": {"1": ["red"]}, "names": ["a", "b", "c"], "positions": [[0, 0], [0, 1], [1, 0]]},
    "constraints": [{"kind": "not_equal", "scope": [0, 1]}, {"kind": "cardinality", "scope": [0, 1, 2], "value": "red", "count": 1}],
}
WRONG: list[tuple[str, Any, str]] = [
    ("format", "other", '"format": "consformer-csp"'),
    ("version", 2, "version: this program reads version 1, not 2"),
    ("version", True, "version: .* not True"),
    ("version", None, "version: .* not None"),
    ("constraint", [], "unknown key 'constraint': did you mean 'constraints'?"),
    ("family", 3, "family: must be a text"),
    ("info", [], "info: must be an object"),
    ("values", [], "values: must hold at least one"),
    ("values", "red", "values: must be a list, not 'red'"),
    ("values", ["red", 1.5], r"values\[1\]: must be a text or a whole number, not 1.5"),
    ("values", ["red", True], r"values\[1\]: .* not True"),
    ("values", ["red", ["red"]], r"values\[1\]"),
    ("values", ["red", "green", 3, "red"], r"values\[3\]: 'red' stands twice"),
    ("values", ["red", "green", 3, "\ud800"], r"values\[3\]: must be valid Unicode"),
    ("values", ["red", "green", 3, 10**4000], r"values\[3\]: must be a text or a whole number"),
    ("variables", 3, "variables: must be an object"),
    ("variables.counts", 3, "variables: unknown key 'counts': did you mean 'count'"),
    ("variables.count", 0, "variables.count: must be a whole number from 1"),
    ("variables.count", 2.0, "variables.count: must be a whole number from 1"),
    ("variables.count", 10**15, "variables.count: 1000000000000000 variables with 3 values"),
    ("variables.count", 10**5000, "variables.count: must be a whole number from 1, not something huge"),
    ("variables.count", 4, "must have 4 entries, one per variable, not 3"),
    ("variables.names", ["a", "b", "a"], r"variables.names\[2\]: 'a' stands twice"),
    ("variables.names", ["a", "b", None], r"variables.names\[2\]: must be a text"),
    ("variables.positions", [[0], [1], [2, 3]], r"variables.positions\[2\]: has 2 indices where"),
    ("variables.positions", [[0], [1], [2**31]], r"variables.positions\[2\]: must be whole numbers"),
    ("variables.positions", [[0], [1], 2], r"variables.positions\[2\]: must be a list"),
    ("variables.domains", {"3": ["red"]}, "variables.domains: the keys must be variable indices from 0 to 2, not '3'"),
    ("variables.domains", {"01": ["red"]}, "the keys must be"),
    ("variables.domains", {"²": ["red"]}, "the keys must be"),
    ("variables.domains", {"-1": ["red"]}, "the keys must be"),
    ("variables.domains", {"9" * 9999: ["red"]}, "the keys must be"),
    ("variables.domains", {"1": []}, "variables.domains.1: must hold at least one value"),
    ("variables.domains", {"1": ["red", "gren"]}, r"variables.domains.1\[1\]: 'gren' is not among the \"values\": did you mean 'green'\?"),
    ("variables.fixed", {"1": "blue"}, "variables.fixed.1: 'blue' is not among"),
    ("variables.fixed", {"1": "green"}, "variables.fixed.1: 'green' is not in the domain"),
    ("variables.fixed", {"0": ["red"]}, "variables.fixed.0: must be a text"),
    ("variables.fixed", [0], "variables.fixed: must be an object"),
    ("constraints", {}, "constraints: must be a list"),
    ("constraints.0", [0, 1], r"constraints\[0\]: must be an object"),
    ("constraints.0.kind", "not_eqal", r"constraints\[0\].kind: unknown constraint kind 'not_eqal': did you mean 'not_equal'\?"),
    ("constraints.0.kind", ["x"], r"constraints\[0\].kind: unknown constraint kind"),
    ("constraints.0.kind", "x" * 10**5, r"constraints\[0\].kind: unknown constraint kind 'xx.*xx\.\.\.$"),
    ("constraints.0.wieght", 2, r"constraints\[0\]: unknown key 'wieght': did you mean 'weight'"),
    ("constraints.0.value", "red", r"constraints\[0\]: unknown key 'value'"),
    ("constraints.0.scope", [], r"constraints\[0\].scope: must hold at least one"),
    ("constraints.0.scope", 1, r"constraints\[0\].scope: must be a list"),
    ("constraints.0.scope", [0, 3], r"constraints\[0\].scope\[1\]: must be a variable index from 0 to 2, not 3"),
    ("constraints.0.scope", [0, -1], r"constraints\[0\].scope\[1\]"),
    ("constraints.0.scope", [0, True], r"constraints\[0\].scope\[1\]"),
    ("constraints.0.scope", [0, "1"], r"constraints\[0\].scope\[1\]"),
    ("constraints.0.scope", [1, 1], r"constraints\[0\].scope: variable 1 stands twice"),
    ("constraints.0.scope", [0, 1, 2], r"constraints\[0\]: not_equal takes two variables, not 3"),
    ("constraints.0.soft", 1, r"constraints\[0\].soft: must be true or false, not 1"),
    ("constraints.0.weight", 0, r"constraints\[0\]: not_equal: the weight"),
    ("constraints.0.weight", "1", r"constraints\[0\]: not_equal: the weight"),
    ("constraints.0.weight", float("inf"), r"constraints\[0\]: not_equal: the weight"),
    ("constraints.1.weight", -1, r"constraints\[1\]: cardinality: the weight must be positive"),
    ("constraints.1.value", "blue", r"constraints\[1\].value: 'blue' is not among"),
    ("constraints.1.value", None, r"constraints\[1\].value: must be a text or a whole number"),
    ("constraints.1.count", 4, r"constraints\[1\]: cardinality: 4 of 3 variables"),
    ("constraints.1.count", 10**30, r"constraints\[1\]: cardinality: the count must be a whole number"),
    ("constraints.1.compare", "<", r"constraints\[1\]: cardinality: compare must be one of"),
    ("constraints.1.compare", [], r"constraints\[1\]: cardinality: compare must be one of"),
    ("objective", {"minimise": True}, "objective: unknown key 'minimise': did you mean 'maximise'"),
    ("objective", {"maximise": "yes"}, "objective.maximise: must be true or false"),
    ("objective", {"offset": "1"}, "objective.offset: must be a number"),
    ("objective", {"offset": float("nan")}, "objective.offset: must be a number"),
]


def changed(path: str, entry: Any) -> Any:
    document = copy.deepcopy(MINIMAL)
    *way, last = path.split(".")
    place: Any = document
    for step in way:
        place = place[int(step)] if isinstance(place, list) else place[step]
    place[int(last) if isinstance(place, list) else last] = entry
    return document


@pytest.mark.parametrize(("path", "entry", "message"), WRONG, ids=[f"{path}-{index}" for index, (path, *_) in enumerate(WRONG)])
def test_wrong_documents_say_where_and_what(path: str, entry: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        from_document(changed(path, entry))
    assert len(str(caught.value)) < 250
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", ["format", "version", "values", "variables", "constraints"])
def test_missing_keys(key: str) -> None:
    document = {name: entry for name, entry in MINIMAL.items() if name != key}
    with pytest.raises(InputError, match=f'"{key}"'):
        from_document(document)
    assert not VALIDATOR.is_valid(document)


def test_keys_a_kind_needs() -> None:
    with pytest.raises(InputError, match=r"^constraints\[0\]: cardinality needs the key 'value'$"):
        from_document(changed("constraints.0.kind", "cardinality"))
    with pytest.raises(InputError, match=r'^constraints\[0\]: the key "scope" is missing$'):
        from_document(changed("constraints.0", {"kind": "not_equal"}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not valid JSON"),
        ("{", "not valid JSON"),
        ("3", 'a problem is a JSON object with "format"'),
        ("[[]]", r"^\[0\]: a problem is a JSON object"),
        ('{"format": NaN}', "NaN is not a JSON number"),
        ('{"format": "a", "format": "b"}', "key 'format' stands twice"),
        ("9" * 5000, "thousands of digits"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_text_that_is_no_problem(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_all(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["red", "not_equal", 10**30]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3) | st.sampled_from(["count", "0"]), inner, max_size=3),
    max_leaves=5,
)


@given(path=st.sampled_from(sorted({path for path, *_ in WRONG})), entry=JSON)
@example(path="variables.positions", entry=[[], [], []])
def test_any_change_is_read_or_refused_with_an_input_error(path: str, entry: Any) -> None:
    try:
        csp = from_document(changed(path, entry))
    except InputError:
        return
    assert same(from_document(to_document(csp)), csp)


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
        ("constraints.0.kind", "other"),
        ("constraints.0.scope", []),
        ("constraints.0.scope", [1, 1]),
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

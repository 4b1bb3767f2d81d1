from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from consformer.errors import InputError
from consformer.formats.csp_json import CspJson, dumps, from_document, read_all, to_document
from tests.formats.csp_json.cases import MINIMAL, VALIDATOR, changed, rich, same

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
    ("variables.names", ["a", 7, "7"], r"variables.names\[2\]: '7' and 7 are the same as text; names must differ"),
    ("variables.names", ["a", "b", None], r"variables.names\[2\]: must be a text"),
    ("variables.positions", [[0], [1], [2, 3]], r"variables.positions\[2\]: has 2 indices where"),
    ("variables.positions", [[0], [1], [2**31]], r"variables.positions\[2\]: must be whole numbers"),
    ("variables.positions", [[], [], []], r"variables.positions\[0\]: must hold at least one index"),
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
    ("constraints.0.scope", [0, 1, 2], r"constraints\[0\]: not_equal takes 2 variables, not 3"),
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

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["red", "not_equal", 10**30]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3) | st.sampled_from(["count", "0"]), inner, max_size=3),
    max_leaves=5,
)


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


@given(path=st.sampled_from(sorted({path for path, *_ in WRONG})), entry=JSON)
@example(path="variables.positions", entry=[[], [], []])
def test_any_change_is_read_or_refused_with_an_input_error(path: str, entry: Any) -> None:
    try:
        csp = from_document(changed(path, entry))
    except InputError:
        return
    assert same(from_document(to_document(csp)), csp)

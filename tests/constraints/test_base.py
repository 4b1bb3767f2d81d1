from __future__ import annotations

import pytest
import torch

from consformer.constraints import Constraint, compile_records, kind
from consformer.constraints.all_different import AllDifferent
from consformer.constraints.base import VALUE, by_candidate, by_variable, segment_sum
from consformer.constraints.cardinality import Cardinality
from consformer.errors import UnknownNameError


def test_kinds_are_found_by_name() -> None:
    assert kind("cardinality") is Cardinality
    assert all(cls.kind == name for name, cls in Constraint.registry.items())
    with pytest.raises(UnknownNameError, match="did you mean 'all_different'"):
        kind("alldifferent")


def test_records_of_all_kinds_compile_to_one_entry_per_kind() -> None:
    first, second = compile_records(
        [{"kind": "not_equal", "scope": [0, 1]}, {"kind": "all_different", "scope": [0, 1, 2]}, {"kind": "not_equal", "scope": [2, 1]}]
    )
    assert (first.kind, len(first), second.kind, len(second)) == ("all_different", 1, "not_equal", 2)


def test_pairs_are_the_clique_of_each_scope() -> None:
    pairs = AllDifferent.from_records([{"scope": [3, 1, 0]}, {"scope": [2]}, {"scope": [2, 0]}]).pairs()
    assert sorted(zip(*pairs.tolist(), strict=True)) == [(0, 1), (0, 2), (0, 3), (1, 0), (1, 3), (2, 0), (3, 0), (3, 1)]


def test_translate_replaces_values_and_nothing_else() -> None:
    class Table(Cardinality):
        kind = "table_for_this_test"
        parameters = {"rows": {"type": "array", "items": {"type": "array", "items": VALUE}}, "count": {"type": "integer"}}

    del Constraint.registry["table_for_this_test"]
    record = {"scope": [0, 1], "count": 1, "rows": [[0, 1], [1, 1]]}
    assert Table.translate(record, lambda value, key: f"{key}{value}") == {**record, "rows": [["rows0", "rows1"], ["rows1", "rows1"]]}


def test_concat_shifts_variables_and_constraints() -> None:
    a, b = AllDifferent.from_records([{"scope": [0, 1]}, {"scope": [1, 2]}]), AllDifferent.from_records([{"scope": [1, 0]}])
    joined = AllDifferent.concat([a, b], [0, 3])
    assert joined.members.tolist() == [0, 1, 1, 2, 4, 3]
    assert joined.group.tolist() == [0, 0, 1, 1, 2, 2]


def test_rows_and_candidates_are_inverse() -> None:
    probs = torch.rand(2, 3, 4)
    assert torch.equal(by_candidate(by_variable(probs), 2), probs)
    assert segment_sum(torch.tensor([[1.0], [2], [4]]), torch.tensor([1, 0, 1]), 3).tolist() == [[2], [5], [0]]

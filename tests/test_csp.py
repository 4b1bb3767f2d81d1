from __future__ import annotations

from typing import Any

import pytest
import torch

from consformer import CSP, Model, all_different, cardinality
from consformer.constraints import compile_records
from consformer.csp import HARD_OVER_SOFT
from consformer.errors import ModelError


def triangle(colors: int = 3) -> CSP:
    model = Model()
    x = model.variables(3, values=range(colors), name="x")
    model.add(all_different(x))
    return model.compile()


def weighted_pair(*weights: float) -> CSP:
    """Two hard-linked variables and soft constraints of these weights between the first and the third."""
    model = Model()
    x = model.variables(3, values=[0, 1])
    model.add(x[0] != x[1])
    for weight in weights:
        model.add(x[0] != x[2], soft=weight)
    return model.compile()


def plain(**changes: Any) -> CSP:
    fields = {
        "domain": torch.ones(2, 3, dtype=torch.bool),
        "given": torch.tensor([-1, -1]),
        "positions": torch.zeros(2, 1, dtype=torch.int64),
        "constraints": compile_records([{"kind": "not_equal", "scope": [0, 1]}]),
        "value_labels": ("a", "b", "c"),
        "variable_labels": ("x", "y"),
    }
    return CSP(**{**fields, **changes})


def test_sizes_and_names() -> None:
    csp = plain(given=torch.tensor([-1, 2]))
    assert (csp.n, csp.m, csp.sizes, csp.instances) == (2, 3, (2,), (csp,))
    assert csp.free.tolist() == [True, False]
    assert csp.name(1) == "y"
    assert plain(variable_labels=None).name(1) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"given": torch.tensor([-1])}, "2 variables need 2 fixed-value entries"),
        ({"positions": torch.zeros(3, 1)}, "2 variables need 2 positions"),
        ({"value_labels": ("a", "b")}, "as many labels"),
        ({"variable_labels": ("x",)}, "as many labels"),
        ({"value_labels": ("a", "b", "a")}, "same label"),
        ({"domain": torch.tensor([[True, True, True], [False, False, False]])}, "variable y has an empty domain"),
        ({"given": torch.tensor([-1, 3])}, "variable y is fixed to 3, which is not in its domain"),
        ({"given": torch.tensor([2, -1]), "domain": torch.tensor([[True, True, False]] * 2)}, "variable x is fixed to 'c'"),
        ({"constraints": compile_records([{"kind": "not_equal", "scope": [0, 2]}])}, "not_equal names a variable outside 0..1"),
        ({"constraints": compile_records([{"kind": "cardinality", "scope": [0], "value": 3, "count": 1}])}, "value index in 0..2"),
        ({"constraints": compile_records([{"kind": "not_equal", "scope": [0, 1]}]) * 2}, "one entry per kind"),
    ],
)
def test_impossible_problems_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        plain(**changes)


def test_hard_violations_and_soft_cost_are_apart() -> None:
    csp = weighted_pair(2.5, -1)
    values = torch.tensor([[0, 1, 0], [0, 0, 1], [0, 1, 1]])
    assert csp.violations(values).tolist() == [[0], [1], [0]]
    assert csp.cost(values).tolist() == [[2.5], [1], [1]]


def test_random_values_respect_domains_and_givens_and_reach_everything() -> None:
    model = Model()
    x = model.variables(3, values=range(4))
    model.restrict(x[0], [1, 3])
    model.fix(x[1], 2)
    drawn = model.compile().random_values(200, torch.Generator().manual_seed(0))
    assert [sorted(set(column.tolist())) for column in drawn.T] == [[1, 3], [2], [0, 1, 2, 3]]


def test_random_values_depend_on_the_seed_only() -> None:
    csp = triangle()
    draws = [csp.random_values(5, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)]
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])


def test_union_evaluates_each_problem_by_itself() -> None:
    union = CSP.union([triangle(), CSP.union([weighted_pair(2), triangle(5)])])
    assert (union.n, union.m, union.sizes) == (9, 5, (3, 3, 3))
    assert union.instance.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    values = torch.tensor([[0, 0, 0, 1, 1, 1, 4, 4, 0]])
    assert union.violations(values).tolist() == [[3, 1, 1]]
    assert union.cost(values).tolist() == [[0, 2, 0]]
    assert [part.tolist() for part in union.split(values)] == [[[0, 0, 0]], [[1, 1, 1]], [[4, 4, 0]]]


def test_union_pads_domains_with_values_nobody_may_take() -> None:
    union = CSP.union([weighted_pair(), triangle(5)])
    assert union.domain.int().sum(1).tolist() == [2, 2, 2, 5, 5, 5]
    assert int(union.random_values(50, torch.Generator().manual_seed(0))[:, :3].max()) == 1


def test_union_pads_positions() -> None:
    model = Model()
    model.variables((1, 2), values=[0])
    assert CSP.union([triangle(), model.compile()]).positions.tolist() == [[0, 0], [1, 0], [2, 0], [0, 0], [0, 1]]


def test_a_union_of_nothing_is_refused() -> None:
    with pytest.raises(ModelError, match="at least one problem"):
        CSP.union([])


def test_graph_of_a_union_is_the_graphs_side_by_side() -> None:
    union = CSP.union([triangle(), weighted_pair()])
    assert union.graph.degree.tolist() == [2, 2, 2, 1, 1, 0]


def test_a_problem_without_constraints_has_only_self_loops() -> None:
    csp = plain(constraints=())
    assert csp.graph.edges.tolist() == [[0, 1], [0, 1]]
    values = torch.zeros(4, 2, dtype=torch.int64)
    assert csp.violations(values).tolist() == [[0]] * 4
    assert csp.conflicts(csp.one_hot(values)).sum() == 0


def test_other_givens_share_the_graph() -> None:
    csp = triangle()
    graph = csp.graph
    twin = csp.with_given(torch.tensor([1, -1, -1]))
    assert twin.graph is graph
    assert (twin.given.tolist(), csp.given.tolist()) == ([1, -1, -1], [-1, -1, -1])
    with pytest.raises(ModelError, match="fixed to 7"):
        csp.with_given(torch.tensor([7, -1, -1]))


def test_other_givens_of_a_union_reach_its_instances() -> None:
    twin = CSP.union([triangle(), triangle()]).with_given(torch.tensor([-1, -1, 0, 1, -1, -1]))
    assert [part.given.tolist() for part in twin.instances] == [[-1, -1, 0], [1, -1, -1]]
    assert twin.given.tolist() == [-1, -1, 0, 1, -1, -1]


def test_energy_weighs_soft_constraints_by_their_scale_and_hard_ones_above_them() -> None:
    assert triangle().energy_weights[0].tolist() == [1]
    assert triangle().soft_scale.tolist() == [1]
    one, ten = weighted_pair(1, -1), weighted_pair(10, -10)
    assert one.energy_weights[0][0] == HARD_OVER_SOFT
    torch.testing.assert_close(one.energy_weights[0], ten.energy_weights[0])
    union = CSP.union([triangle(), ten])
    assert union.energy_weights[0].tolist() == [1]
    torch.testing.assert_close(union.energy_weights[1], ten.energy_weights[0])


def test_expected_and_conflicts_add_up_all_kinds() -> None:
    model = Model()
    x = model.variables(3, values=[0, 1])
    model.add(x[0] != x[1], cardinality(x, 1, exactly=1))
    csp = model.compile()
    one_hot = csp.one_hot(torch.tensor([[1, 1, 0]]))
    assert csp.expected(one_hot).tolist() == [[2]]
    assert csp.conflicts(one_hot)[0].tolist() == [[0, 2], [0, 2], [0, 1]]

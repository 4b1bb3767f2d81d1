"""What every registered constraint kind must fulfil. A new kind is tested here without an edit."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from consformer.baselines import solve_cpsat
from consformer.constraints import Constraint, Record, compile_records, kind
from consformer.constraints.base import VALUE
from consformer.csp import CSP
from consformer.errors import ModelError
from consformer.partners.local import LocalSearch
from consformer.partners.propagation import propagate

KINDS = sorted(Constraint.registry)
every_kind = pytest.mark.parametrize("name", KINDS)
MAX_SCOPE = 4


@dataclass(frozen=True)
class Case:
    """A tiny random problem with constraints of one kind."""

    kind: type[Constraint]
    n: int
    m: int
    records: list[Record]

    @cached_property
    def constraint(self) -> Constraint:
        return self.kind.from_records(self.records)

    @cached_property
    def csp(self) -> CSP:
        return CSP(
            domain=torch.ones(self.n, self.m, dtype=torch.bool),
            given=torch.full((self.n,), -1),
            positions=torch.arange(self.n)[:, None],
            constraints=compile_records(self.records),
            value_labels=tuple(range(self.m)),
        )

    def everything(self) -> Tensor:
        """All assignments [m**n, n]."""
        return torch.tensor(list(itertools.product(range(self.m), repeat=self.n)))


def accepted(cls: type[Constraint], record: Record) -> bool:
    try:
        cls.checked(record)
    except ModelError:
        return False
    return True


def parameter(schema: dict[str, Any], m: int, seen: list[Any]) -> st.SearchStrategy[Any]:
    """Random entries for a parameter from its schema; where that says too little, those of the kind's own examples."""
    if schema.get("$ref") == VALUE["$ref"]:
        return st.integers(0, m - 1)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema.get("type") == "integer":
        low = schema.get("minimum", -3)
        return st.integers(low, schema.get("maximum", low + MAX_SCOPE))
    if schema.get("type") == "boolean":
        return st.booleans()
    if schema.get("type") == "array" and "items" in schema:
        low = schema.get("minItems", 0)
        return st.lists(parameter(schema["items"], m, []), min_size=low, max_size=schema.get("maxItems", low + MAX_SCOPE))
    return st.sampled_from(seen)


@st.composite
def records(draw: st.DrawFn, cls: type[Constraint], n: int, m: int) -> Record:
    examples = [record for record, *_ in cls.examples()]
    sizes = [size for size in range(1, n + 1) if any(accepted(cls, {**record, "scope": list(range(size))}) for record in examples)]
    scope = draw(st.permutations(range(n)))[: draw(st.sampled_from(sizes))]
    record: Record = {"kind": cls.kind, "scope": scope, "soft": draw(st.booleans())}
    record["weight"] = draw(st.sampled_from([1, 0.5, 3] + [-1, -2.5] * cls.signed))
    for key, schema in cls.parameters.items():
        if "default" not in schema or draw(st.booleans()):
            record[key] = draw(parameter(dict(schema), m, [example[key] for example in examples if key in example]))
    return record


@st.composite
def cases(draw: st.DrawFn, name: str) -> Case:
    cls, n, m = kind(name), draw(st.integers(2, MAX_SCOPE)), draw(st.integers(2, 4))
    found = draw(st.lists(records(cls, n, m).filter(lambda record: accepted(cls, record)), min_size=1, max_size=2))
    return Case(cls, n, m, found)


def random_probs(case: Case, seed: int, pool: int = 2) -> Tensor:
    raw = torch.rand(pool, case.n, case.m, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) ** 3
    return raw / raw.sum(-1, keepdim=True)


def brute_expected(case: Case, probs: Tensor) -> Tensor:
    """[K,G] expected violation by adding up over all assignments."""
    every = case.everything()  # [A,n]
    chance = torch.stack([probs[:, i, every[:, i]] for i in range(case.n)]).prod(0)  # [K,A]
    return chance @ case.constraint.violation(every).double()


def brute_conflicts(case: Case, probs: Tensor, weight: Tensor) -> Tensor:
    """[K,n,m] expected weighted violation of a variable's constraints for each value it may take."""
    result = torch.zeros_like(probs)
    constraint = case.constraint
    for i in range(case.n):
        about = torch.zeros_like(weight)
        about[constraint.group[constraint.members == i]] = 1
        chosen = probs.repeat(case.m, 1, 1, 1)  # [m,K,n,m]
        chosen[:, :, i] = torch.eye(case.m, dtype=torch.float64)[:, None]
        expected = brute_expected(case, chosen.flatten(0, 1)) @ (weight * about)  # [m*K]
        result[:, i] = expected.view(case.m, -1).T
    return result


@every_kind
def test_examples_are_as_they_say(name: str) -> None:
    satisfied = set()
    for record, m, values, holds in kind(name).examples():
        assert max(values) < m
        assert (int(kind(name).from_records([record]).violation(torch.tensor([values]))) == 0) == holds, record
        satisfied.add(holds)
    assert satisfied == {True, False}, "there must be satisfied and violated examples"


@every_kind
@given(data=st.data())
def test_violation_is_a_whole_number_and_the_checker_agrees(name: str, data: st.DataObject) -> None:
    case = data.draw(cases(name))
    every = case.everything()
    violation = case.constraint.violation(every)
    assert violation.dtype == torch.int64
    assert bool((violation >= 0).all())
    assert [case.constraint.check(values.numpy()).tolist() for values in every[::7]] == violation[::7].tolist()


@every_kind
@given(data=st.data())
def test_penalty_on_an_assignment_is_zero_iff_satisfied(name: str, data: st.DataObject) -> None:
    case = data.draw(cases(name))
    seed = data.draw(st.integers(0, 99))
    values = torch.randint(0, case.m, (1, case.n), generator=torch.Generator().manual_seed(seed))
    one_hot = case.csp.one_hot(values).double()
    domain = (torch.rand(case.n, case.m, generator=torch.Generator().manual_seed(seed)) < 0.5) | (one_hot[0] > 0)
    for allowed in (domain, torch.ones_like(domain)):
        penalty = case.constraint.penalty(one_hot, allowed)
        assert bool(torch.isfinite(penalty).all())
        assert bool((penalty >= 0).all())
        assert (penalty == 0).tolist() == (case.constraint.violation(values) == 0).tolist()


@every_kind
@given(data=st.data())
def test_penalty_and_expected_are_finite_with_finite_gradients(name: str, data: st.DataObject) -> None:
    case = data.draw(cases(name))
    domain = case.csp.domain
    for start in (random_probs(case, data.draw(st.integers(0, 99))), case.csp.one_hot(case.everything()[:2])):
        for function in (case.constraint.penalty, case.constraint.expected):
            probs = start.clone().requires_grad_()
            found = function(probs, domain)
            assert bool((found >= -1e-9).all())
            assert bool(torch.isfinite(found).all())
            (gradient,) = torch.autograd.grad(found.sum(), probs)
            assert bool(torch.isfinite(gradient).all())


@every_kind
@given(data=st.data())
def test_expected_is_the_expectation(name: str, data: st.DataObject) -> None:
    if kind(name).expected is Constraint.expected:
        pytest.skip("this kind has its penalty stand for the expectation")
    case = data.draw(cases(name))
    probs = random_probs(case, data.draw(st.integers(0, 99)))
    torch.testing.assert_close(case.constraint.expected(probs, case.csp.domain), brute_expected(case, probs))


@every_kind
@given(data=st.data())
def test_conflicts_are_what_each_value_would_cost(name: str, data: st.DataObject) -> None:
    case = data.draw(cases(name))
    seed = data.draw(st.integers(0, 99))
    assignment = case.csp.one_hot(case.everything())[seed % case.m**case.n][None].double()
    weight = torch.arange(1, len(case.constraint) + 1).double()
    for probs in (random_probs(case, seed), assignment):
        found, brute = case.constraint.conflicts(probs, weight), brute_conflicts(case, probs, weight)
        torch.testing.assert_close(found - found[..., :1], brute - brute[..., :1])
        assert bool((found >= -1e-9).all())
        assert bool((found[brute < 1e-9].abs() < 1e-9).all())  # 0 where everything would be satisfied


@every_kind
@given(data=st.data())
def test_single_precision_conflicts_of_an_assignment_are_not_negative(name: str, data: st.DataObject) -> None:
    case = data.draw(cases(name))
    weight = torch.ones(len(case.constraint))
    assert bool((case.constraint.conflicts(case.csp.one_hot(case.everything()), weight) >= 0).all())


@every_kind
@settings(max_examples=15)
@given(data=st.data())
def test_cp_sat_finds_the_same_optimum(name: str, data: st.DataObject) -> None:
    case = data.draw(cases(name))
    csp, every = case.csp, case.everything()
    costs = csp.cost(every)[:, 0][csp.violations(every)[:, 0] == 0]
    result = solve_cpsat(csp, workers=1)
    if not len(costs):
        assert result.status == "infeasible"
    else:
        assert result.status in ("solved", "optimal")
        assert result.objective == pytest.approx(float(costs.min()))


@every_kind
@settings(max_examples=15)
@given(data=st.data())
def test_cp_sat_judges_an_assignment_the_same(name: str, data: st.DataObject) -> None:
    case = data.draw(cases(name))
    values = case.everything()[data.draw(st.integers(0, case.m**case.n - 1))]
    csp = case.csp.with_given(values)
    result = solve_cpsat(csp, workers=1)
    assert (result.status != "infeasible") == (int(csp.violations(values[None])) == 0)
    if result.objective is not None:
        assert result.objective == pytest.approx(float(csp.cost(values[None])))


@every_kind
@settings(max_examples=60)
@given(data=st.data())
def test_narrowing_takes_nothing_out_of_a_solution(name: str, data: st.DataObject) -> None:
    case = data.draw(cases(name))
    rows = data.draw(st.lists(st.integers(1, 2**case.m - 1), min_size=case.n, max_size=case.n))
    domain = torch.tensor([[bool(row >> v & 1) for v in range(case.m)] for row in rows])
    csp = replace(case.csp, domain=domain)
    every = case.everything()
    every = every[domain.gather(1, every.T).all(0)]
    solutions = every[csp.violations(every)[:, 0] == 0]
    found = propagate(csp)
    if found.contradiction is not None:
        assert found.csp is csp
        assert not len(solutions), found.contradiction
        assert solve_cpsat(csp, workers=1).status == "infeasible"
        assert found.contradiction.kind == name
    else:
        assert bool(found.csp.domain.gather(1, solutions.T).all())
        assert bool((found.csp.domain <= domain).all())
        assert bool(((found.csp.given == solutions) | found.csp.free).all())
        assert found.csp.free.tolist() == (found.csp.domain.sum(1) > 1).tolist()
        assert propagate(found.csp).csp is found.csp


@every_kind
@pytest.mark.parametrize("stated", [True, False])
@given(data=st.data())
def test_local_search_judges_as_the_problem_does_and_finds_the_optimum(name: str, stated: bool, data: st.DataObject) -> None:
    case = data.draw(cases(name))
    csp, every = case.csp, case.everything()
    with pytest.MonkeyPatch.context() as patch:
        if not stated:  # as a kind that says nothing about itself
            patch.setattr(case.kind, "local", Constraint.local)
        search = LocalSearch(csp, 0)
        search.run(moves=200 if not stated else 2000)
    best = torch.tensor([search.best.values])
    assert (search.best.violations, search.best.cost) == (int(csp.violations(best)), float(csp.cost(best)))
    keys = list(zip(csp.violations(every)[:, 0].tolist(), csp.cost(every)[:, 0].tolist()))
    assert (search.best.violations, search.best.cost) == pytest.approx(min(keys))


@every_kind
@given(data=st.data())
def test_restricted_to_free_variables_it_costs_the_same_up_to_a_constant(name: str, data: st.DataObject) -> None:
    case = data.draw(cases(name))
    constraint = replace(case.constraint, soft=torch.ones(len(case.records), dtype=torch.bool))
    values = case.everything()[data.draw(st.integers(0, case.m**case.n - 1))]
    free = torch.tensor(data.draw(st.lists(st.booleans(), min_size=case.n, max_size=case.n)))
    every = torch.where(free, case.everything(), values)
    cost = torch.zeros(case.n, case.m, dtype=torch.float64)
    left = constraint.restrict(values, free, cost)
    assert bool(left.soft.all())
    own = cost[torch.arange(case.n), every][:, free].sum(1)
    before, after = (c.violation(every).double() @ c.weight for c in (constraint, left))
    assert torch.unique((before - after - own).round(decimals=6)).numel() == 1


@every_kind
@given(data=st.data())
def test_one_record_is_as_among_all(name: str, data: st.DataObject) -> None:
    constraint = data.draw(cases(name)).constraint
    assert [constraint.record(index) for index in range(len(constraint))] == constraint.records()


@every_kind
@given(data=st.data())
def test_some_of_the_constraints_are_what_they_were(name: str, data: st.DataObject) -> None:
    case = data.draw(cases(name))
    kept = torch.tensor(data.draw(st.lists(st.booleans(), min_size=len(case.records), max_size=len(case.records))))
    records = case.constraint.records()
    assert case.constraint.only(kept).records() == [record for record, keep in zip(records, kept.tolist(), strict=True) if keep]
    variable = torch.arange(case.n) == data.draw(st.integers(0, case.n - 1))
    assert case.constraint.touching(variable).tolist() == [int(variable.nonzero()) in record["scope"] for record in records]


@every_kind
@given(data=st.data())
def test_records_round_trip_and_are_plain_data(name: str, data: st.DataObject) -> None:
    case = data.draw(cases(name))
    plain = json.loads(json.dumps(case.constraint.records()))
    again = case.kind.from_records(plain)
    assert again.records() == plain
    every = case.everything()
    assert torch.equal(again.violation(every), case.constraint.violation(every))
    assert again.weight.tolist() == [abs(record["weight"]) for record in case.records]
    assert again.soft.tolist() == [record["soft"] for record in case.records]


@every_kind
@given(data=st.data())
def test_a_union_is_the_problems_side_by_side(name: str, data: st.DataObject) -> None:
    some = [data.draw(cases(name)) for _ in range(3)]  # of different numbers of variables and values
    parts, joined = [case.csp for case in some], CSP.union([case.csp for case in some])
    values = [case.everything()[[seed % case.m**case.n for seed in (1, 57)]] for case in some]
    probs = [random_probs(case, index) for index, case in enumerate(some)]
    padded = torch.cat([torch.nn.functional.pad(p, (0, joined.m - p.shape[2])) for p in probs], 1)
    union = joined.constraints[0]
    assert torch.equal(union.violation(torch.cat(values, 1)), torch.cat([c.constraint.violation(v) for c, v in zip(some, values)], 1))
    for function in ("penalty", "expected"):
        separate = [getattr(case.constraint, function)(p, csp.domain) for case, csp, p in zip(some, parts, probs)]
        torch.testing.assert_close(getattr(union, function)(padded, joined.domain), torch.cat(separate, 1))
    separate = [case.constraint.conflicts(p, torch.ones(len(case.constraint))) for case, p in zip(some, probs)]
    together = joined.split(union.conflicts(padded, torch.ones(len(union))))
    for found, alone in zip(together, separate):
        torch.testing.assert_close(found[..., : alone.shape[2]], alone)
    for values_of, part, cost in zip(values, parts, joined.cost(torch.cat(values, 1)).T):
        assert cost.tolist() == pytest.approx(part.cost(values_of)[:, 0].tolist())


@every_kind
@given(data=st.data())
def test_pairs_cover_whatever_depends_on_one_another(name: str, data: st.DataObject) -> None:
    case = data.draw(cases(name))
    pairs = set(zip(*case.constraint.pairs().tolist(), strict=True))
    cliques = {pair for record in case.records for pair in itertools.permutations(record["scope"], 2)}
    assert pairs == {(j, i) for i, j in pairs}
    assert pairs <= cliques
    values = case.everything()[data.draw(st.integers(0, case.m**case.n - 1))]
    weight = torch.ones(len(case.constraint))
    before = case.constraint.conflicts(case.csp.one_hot(values[None]), weight)[0]
    for j in range(case.n):
        changed = values.clone()
        changed[j] = (changed[j] + 1) % case.m
        after = case.constraint.conflicts(case.csp.one_hot(changed[None]), weight)[0]
        touched = torch.nonzero((before - before[:, :1] != after - after[:, :1]).any(1))[:, 0].tolist()
        assert all((i, j) in pairs for i in touched)


@every_kind
def test_wrong_records_are_refused(name: str) -> None:
    right = kind(name).examples()[0][0]
    outsized: dict[str, list[Any]] = {
        "scope": [[], None, "01", [0, 0], [0.5, 1], [-1, 0], [True, 0], [2**70, 0]],
        "weight": [0, float("nan"), float("inf"), 10**400, "1", True, None],
    }
    for key, wrong in outsized.items():
        for entry in wrong:
            with pytest.raises(ModelError, match=f"{name}.*{key}"):
                kind(name).from_records([{**right, key: entry}])
    if not kind(name).signed:
        with pytest.raises(ModelError, match="positive"):
            kind(name).from_records([{**right, "weight": -1}])


@every_kind
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_differences_say_all_that_the_hard_constraints_say(name: str, data: st.DataObject) -> None:
    case = data.draw(cases(name))
    pairs = case.constraint.differences()
    if pairs is None:
        return
    values = case.everything()
    differ = (values[:, pairs[0]] != values[:, pairs[1]]).all(1)
    assert torch.equal(differ, case.csp.violations(values)[:, 0] == 0)

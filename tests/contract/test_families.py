"""What every registered family must fulfil. A new family is tested here without an edit."""

from __future__ import annotations

import io
import json
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from consformer import families, formats
from consformer.csp import CSP
from consformer.errors import ConsformerError, InputError
from consformer.families import Family

every_family = pytest.mark.parametrize("family", [families.get(name) for name in families.names()], ids=families.names())


def same(one: CSP, two: CSP) -> bool:
    """Whether two problems are the same in everything that matters."""
    tensors = [(one.domain, two.domain), (one.given, two.given), (one.positions, two.positions), (one.graph.edges, two.graph.edges)]
    records = [[record for constraint in csp.constraints for record in constraint.records()] for csp in (one, two)]
    plain = [(c.value_labels, c.variable_labels, c.family, dict(c.info), c.maximise, c.offset) for c in (one, two)]
    return all(torch.equal(a, b) for a, b in tensors) and records[0] == records[1] and plain[0] == plain[1]


def some(family: Family[Any], count: int = 2, seed: int = 0) -> list[CSP]:
    return family.generate(np.random.default_rng(seed), count)


def random_values(csp: CSP) -> list[int]:
    values: list[int] = csp.random_values(1, torch.Generator().manual_seed(0))[0].tolist()
    return values


@every_family
def test_parameters_are_documented_and_have_defaults(family: Family[Any]) -> None:
    assert is_dataclass(family.params)
    assert family.params.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert all(item.metadata["help"] for item in fields(family.params))
    family.params()


@every_family
@given(seed=st.integers(0, 10**6), count=st.integers(0, 3))
@settings(max_examples=5)
def test_generation_is_reproducible(family: Family[Any], seed: int, count: int) -> None:
    one, two = (some(family, count, seed) for _ in range(2))
    assert len(one) == count
    assert all(same(a, b) for a, b in zip(one, two, strict=True))


@every_family
def test_seeds_give_different_problems(family: Family[Any]) -> None:
    assert not same(some(family, 1, seed=0)[0], some(family, 1, seed=1)[0])


@every_family
def test_generated_problems_know_their_family(family: Family[Any]) -> None:
    for csp in some(family):
        assert csp.family == family.name
        assert families.of(csp).name == family.name
        json.dumps(csp.info)


@every_family
def test_givens_do_not_contradict_each_other(family: Family[Any]) -> None:
    for csp in some(family, 4):
        values = torch.where(csp.free, torch.arange(csp.n) + csp.m, csp.given)[None]  # free variables all different from all
        for constraint in csp.constraints:
            open_ones = torch.zeros(len(constraint)).index_add_(0, constraint.group, csp.free[constraint.members].float())
            told = ~constraint.soft & ((open_ones == 0) | (constraint.kind != "cardinality"))  # a count says nothing before all are fixed
            assert not bool((constraint.violation(values) * told).any())


@every_family
def test_packing_loses_nothing(family: Family[Any]) -> None:
    for csp in some(family):
        assert same(family.unpack(json.loads(json.dumps(family.pack(csp)))), csp)


@every_family
@pytest.mark.parametrize("count", [1, 3])
def test_what_is_written_can_be_read(family: Family[Any], count: int) -> None:
    csps = some(family, count)
    again = formats.read_problems(family.write(csps).encode())
    for one, two in zip(csps, again, strict=True):
        assert same(replace(one, info=two.info), two)  # some formats have no place for what is only remembered
        assert families.of(two).name == family.name


@every_family
def test_views_and_answers_are_plain_json(family: Family[Any]) -> None:
    (csp,) = some(family, 1)
    values = random_values(csp)
    for view in (family.view(csp), family.view(csp, values)):
        assert view["type"] in ("grid", "graph", "table")
        assert json.loads(json.dumps(view)) == view
    answer = family.answer(csp, values)
    assert json.loads(json.dumps(answer)) == answer
    assert family.solutions([csp], [values]).count("\n") == 1


@every_family
def test_renders_in_a_terminal(family: Family[Any]) -> None:
    (csp,) = some(family, 1)
    shown = []
    for values in (None, random_values(csp)):
        console = Console(file=io.StringIO(), width=100)
        console.print(family.render(csp, values))
        assert isinstance(console.file, io.StringIO)
        shown.append(console.file.getvalue().strip())
    assert all(shown)
    assert shown[0] != shown[1]


@every_family
def test_wrong_number_of_values_is_told(family: Family[Any]) -> None:
    (csp,) = some(family, 1)
    with pytest.raises(ConsformerError, match="need as many values"):
        family.view(csp, [0])


@every_family
def test_refuses_what_it_cannot_build_from(family: Family[Any]) -> None:
    with pytest.raises(InputError, match=f"does not hold a {family.name} problem"):
        family.build("something")


@every_family
def test_refuses_parameters_that_are_no_table(family: Family[Any]) -> None:
    with pytest.raises(ConsformerError, match="must be a table"):
        family.settings([1, 2])
    with pytest.raises(ConsformerError, match=r"unknown .* parameter 'nonsense'"):
        family.settings({"nonsense": 1})
    with pytest.raises(ConsformerError, match="at least 0"):
        family.generate(np.random.default_rng(0), -1)


@every_family
def test_answers_name_every_variable_or_are_in_order(family: Family[Any]) -> None:
    """A problem that only claims to be of the family, with names and values of its own, is answered in those."""
    (csp,) = some(family, 1)
    labels = tuple(f"value {index}" for index in range(csp.m))
    own = replace(csp, value_labels=labels, variable_labels=tuple(f"name {index}" for index in range(csp.n)))
    answer = json.dumps(families.of(own).answer(own, random_values(own)))
    assert '"name 0": "value ' in answer

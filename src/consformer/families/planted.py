"""Random problems of all constraint kinds around a hidden solution: problems like none in particular."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from consformer.constraints import Record, compile_records
from consformer.csp import CSP, check_size
from consformer.errors import ModelError
from consformer.families.base import Params, python_random, setting
from consformer.families.general import General


@dataclass(frozen=True)
class PlantedParams(Params):
    """How problems with a hidden solution are drawn."""

    variables: tuple[int, int] = setting((20, 60), "range of the number of variables")
    values: tuple[int, int] = setting((3, 8), "range of the number of values")
    constraints: tuple[float, float] = setting((1.0, 2.5), "range of the number of constraints per variable")
    fixed: tuple[float, float] = setting((0.0, 0.2), "range of the share of variables that are fixed")

    def __post_init__(self) -> None:
        for name, least in (("variables", 2), ("values", 2), ("constraints", 0), ("fixed", 0)):
            if getattr(self, name)[0] < least:
                raise ModelError(f"planted parameter {name!r} must start from {least}, not {getattr(self, name)[0]:g}")
        if self.fixed[1] > 1:
            raise ModelError(f"planted parameter 'fixed' is a share: it must be at most 1, not {self.fixed[1]:g}")
        check_size(self.variables[1], self.values[1])


class Planted(General[PlantedParams]):
    """Variables that must differ pairwise or in groups, and groups in which a value occurs a number of times, as in a hidden solution.

    Each problem has its own mixture of kinds.
    """

    name = "planted"
    params = PlantedParams

    def _draw(self, rng: np.random.Generator, count: int, params: PlantedParams) -> list[CSP]:
        draw = python_random(rng)
        return [_problem(draw, params) for _ in range(count)]

    def pack(self, csp: CSP) -> Any:
        from consformer.formats import csp_json  # formats need families

        return csp_json.to_document(csp)

    def unpack(self, data: Any) -> CSP:
        from consformer.formats import csp_json

        return csp_json.from_document(data)


def _problem(draw: random.Random, params: PlantedParams) -> CSP:
    n, m = draw.randint(*params.variables), draw.randint(*params.values)
    hidden = [draw.randrange(m) for _ in range(n)]
    makers = [_pair, _group, _count]
    weights = [draw.random() ** 2 for _ in makers]
    wanted = round(draw.uniform(*params.constraints) * n)
    records = [maker(draw, hidden, m) for maker in draw.choices(makers, weights, k=wanted)]
    share = draw.uniform(*params.fixed)
    return CSP(
        domain=torch.ones(n, m, dtype=torch.bool),
        given=torch.tensor([value if draw.random() < share else -1 for value in hidden]),
        positions=torch.arange(n)[:, None],
        constraints=compile_records(record for record in records if len(record["scope"]) > 1),
        value_labels=tuple(range(m)),
        family="planted",
    )


def _pair(draw: random.Random, hidden: list[int], m: int) -> Record:
    one = draw.randrange(len(hidden))
    others = [other for other in draw.sample(range(len(hidden)), min(8, len(hidden))) if hidden[other] != hidden[one]]
    return {"kind": "not_equal", "scope": [one, *others[:1]]}


def _group(draw: random.Random, hidden: list[int], m: int) -> Record:
    first_with = {hidden[variable]: variable for variable in draw.sample(range(len(hidden)), len(hidden))}
    size = draw.randint(2, len(first_with))
    return {"kind": "all_different", "scope": sorted(draw.sample(list(first_with.values()), size))}


def _count(draw: random.Random, hidden: list[int], m: int) -> Record:
    scope = sorted(draw.sample(range(len(hidden)), draw.randint(2, min(10, len(hidden)))))
    value = draw.randrange(m)
    found = sum(hidden[variable] == value for variable in scope)
    return {"kind": "cardinality", "scope": scope, "value": value, "count": found, "compare": draw.choice(["==", ">=", "<="])}

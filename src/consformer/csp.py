"""CSP: a constraint problem compiled to arrays. A batch of problems is a problem: `CSP.union`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from consformer.constraints import Constraint
from consformer.errors import ModelError
from consformer.graph import Graph

Label = str | int


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class CSP:
    """Variables with finite domains, some of them fixed, and constraints; immutable. Its arrays are shared: never write into them.

    Inside, values are indices 0..m-1 and variables indices 0..n-1; `value_labels` and `variable_labels` are what the user calls them.

    >>> from consformer import Model, all_different
    >>> model = Model()
    >>> x = model.variables(3, values=["red", "green", "blue"])
    >>> model.add(all_different(x))
    >>> csp = model.compile()
    >>> csp.n, csp.m, csp.violations(torch.tensor([[0, 1, 1]])).tolist()
    (3, 3, [[1]])
    """

    domain: Tensor  # [n,m] bool: the values each variable may take
    given: Tensor  # [n] int64: the value of a fixed variable, -1 where it is free
    positions: Tensor  # [n,k] int64: k-dimensional indices (row and column, say)
    constraints: tuple[Constraint, ...]  # at most one entry per kind, ordered by name of the kind
    value_labels: tuple[Label, ...]
    variable_labels: tuple[Label, ...] | None = None
    family: str = "csp"
    info: Mapping[str, Any] = field(default_factory=dict)  # what the family remembers for rendering; plain JSON data
    maximise: bool = False  # objective = offset - cost of violated soft constraints, to be maximised; else offset + cost
    offset: float = 0.0
    parts: tuple[CSP, ...] = ()  # what a union was made of; empty for a single problem

    def __post_init__(self) -> None:
        if not self.parts:
            _validate(self)

    def __repr__(self) -> str:
        of = f" of {len(self.parts)} problems" if self.parts else ""
        return f"<CSP {self.family}{of}: {self.n} variables, {self.m} values, {sum(map(len, self.constraints))} constraints>"

    @property
    def n(self) -> int:
        return self.domain.shape[0]

    @property
    def m(self) -> int:
        return self.domain.shape[1]

    @property
    def instances(self) -> tuple[CSP, ...]:
        """The single problems this one is made of."""
        return self.parts or (self,)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(part.n for part in self.instances)

    @property
    def free(self) -> Tensor:
        """[n] bool: not fixed."""
        return self.given < 0

    @cached_property
    def instance(self) -> Tensor:
        """[n] the instance each variable belongs to."""
        return torch.repeat_interleave(torch.arange(len(self.instances)), torch.tensor(self.sizes))

    @cached_property
    def owners(self) -> tuple[Tensor, ...]:
        """Per kind [G]: the instance each constraint belongs to."""
        return tuple(self.instance[constraint.anchor] for constraint in self.constraints)

    @cached_property
    def uniform(self) -> Tensor:
        """[n,m] the chance of each value when all that a variable may take are equally likely."""
        return self.domain / self.domain.sum(1, keepdim=True)

    @cached_property
    def open(self) -> Tensor:
        """[n,m] the values that are not ruled out by a fixed variable from which another must differ; of a variable that has none, all."""
        if self.parts:
            return torch.cat([_pad(part.open, self.m) for part in self.parts])
        left = self.domain.clone()
        fixed, other = self.differences[:, ~self.free[self.differences[0]]]
        left[other, self.given[fixed]] = False
        return torch.where(left.any(1, keepdim=True), left, self.domain)

    @cached_property
    def differences(self) -> Tensor:
        """[2,E] pairs of variables that must differ, both directions, of the kinds of constraints that are made of nothing else."""
        if self.parts:
            return torch.cat([part.differences + offset for part, offset in zip(self.parts, _offsets(self.parts), strict=True)], 1)
        found = [pairs for constraint in self.constraints if (pairs := constraint.differences()) is not None]
        return torch.cat([torch.zeros(2, 0, dtype=torch.int64), *found], 1)

    @cached_property
    def only_differences(self) -> bool:
        """Whether it is a single problem in which pairs of variables must differ, and that is all: nothing else, nothing to optimise."""
        return not self.parts and not self.soft_weight and all(constraint.differences() is not None for constraint in self.constraints)

    @cached_property
    def graph(self) -> Graph:
        """The constraint graph with self-loops."""
        if self.parts:
            return Graph.union([part.graph for part in self.parts], _offsets(self.parts))
        pairs = [constraint.pairs() for constraint in self.constraints]
        return Graph.of(self.n, torch.cat(pairs, 1) if pairs else torch.zeros(2, 0, dtype=torch.int64))

    @cached_property
    def soft_weight(self) -> float:
        """What the soft constraints weigh together; 0 when there is nothing to optimise."""
        return sum(float((constraint.weight * constraint.soft).sum()) for constraint in self.constraints)

    @cached_property
    def tight(self) -> bool:
        """Whether some hard constraint leaves no value unused, as in Sudoku."""
        return any(bool((constraint.tight(self.domain) & ~constraint.soft).any()) for constraint in self.constraints)

    @cached_property
    def soft_scale(self) -> Tensor:
        """[instances] typical pull of the soft constraints on a variable: the root of the mean squared weight sum; 1 without any."""
        if self.parts:
            return torch.cat([part.soft_scale for part in self.parts])
        squares = 0.0
        for constraint in self.constraints:
            squares += float((constraint.weight.square() * constraint.soft * constraint.sizes).sum())
        return torch.tensor([(squares / max(self.n, 1)) ** 0.5 or 1.0])

    @cached_property
    def energy_weights(self) -> tuple[Tensor, ...]:
        """Per kind [G]: how much a violation weighs for network and loss, so that a temperature means the same everywhere.

        A hard constraint weighs 1 (`HARD_OVER_SOFT` beside soft ones), soft ones their weight over the instance's `soft_scale`.
        """
        soft_instances = torch.zeros(len(self.instances), dtype=torch.bool)
        for constraint, owner in zip(self.constraints, self.owners, strict=True):
            soft_instances[owner[constraint.soft]] = True
        weights = []
        for constraint, owner in zip(self.constraints, self.owners, strict=True):
            hard = torch.where(soft_instances[owner], HARD_OVER_SOFT, 1.0)
            weights.append(torch.where(constraint.soft, constraint.weight / self.soft_scale[owner], hard).float())
        return tuple(weights)

    def name(self, variable: int) -> Label:
        """What the user calls a variable."""
        return variable if self.variable_labels is None else self.variable_labels[variable]

    # --- evaluation; K candidate assignments at once, results per instance -------------------------------------

    def violations(self, values: Tensor) -> Tensor:
        """Violation of the hard constraints: values [K,n] -> [K,instances], integer, 0 iff all hold."""
        total = torch.zeros(len(values), len(self.instances), dtype=torch.int64)
        for constraint, owner in zip(self.constraints, self.owners, strict=True):
            if constraint.any_hard:
                total.index_add_(1, owner, constraint.violation(values) * ~constraint.soft)
        return total

    def cost(self, values: Tensor) -> Tensor:
        """Weighted violation of the soft constraints: values [K,n] -> [K,instances], float64."""
        total = torch.zeros(len(values), len(self.instances), dtype=torch.float64)
        for constraint, owner in zip(self.constraints, self.owners, strict=True):
            if constraint.any_soft:
                total.index_add_(1, owner, constraint.violation(values) * (constraint.weight * constraint.soft))
        return total

    def conflicts(self, probs: Tensor) -> Tensor:
        """What each value of each variable costs given the others (see `Constraint.conflicts`): [K,n,m] -> [K,n,m]."""
        total = torch.zeros_like(probs)
        for constraint, weight in zip(self.constraints, self.energy_weights, strict=True):
            total = total + constraint.conflicts(probs, weight)
        return total

    def in_conflict(self, values: Tensor) -> Tensor:
        """Which variables take part in the violation of a hard constraint: values [K,n] -> [K,n] bool."""
        found = torch.zeros(values.shape, dtype=torch.bool)
        probs = self.one_hot(values)
        for constraint in self.constraints:
            if constraint.any_hard:
                cost = constraint.conflicts(probs, (~constraint.soft).float())
                found |= cost.gather(2, values[..., None])[..., 0] > 1e-6
        return found

    def expected(self, probs: Tensor) -> Tensor:
        """Expected weighted violation when every variable is drawn independently: [K,n,m] -> [K,instances]."""
        total = probs.new_zeros(len(probs), len(self.instances))
        for constraint, owner, weight in zip(self.constraints, self.owners, self.energy_weights, strict=True):
            total = total.index_add(1, owner, constraint.expected(probs, self.domain) * weight)
        return total

    def one_hot(self, values: Tensor) -> Tensor:
        """[K,n] -> [K,n,m] float."""
        return torch.zeros(*values.shape, self.m).scatter_(-1, values[..., None], 1.0)

    def random_values(self, pool: int, generator: torch.Generator) -> Tensor:
        """Uniformly random assignments [pool,n] within the domains, fixed variables at their values."""
        rank = torch.rand(pool, self.n, generator=generator, dtype=torch.float64) * self.domain.sum(1)  # which of the allowed values
        below = self.domain.cumsum(1)[None] <= rank[..., None].floor()  # [K,n,m]
        return torch.where(self.free, below.sum(-1), self.given)

    # --- making problems from problems ------------------------------------------------------------------------

    def with_given(self, given: Tensor) -> CSP:
        """The same problem with other fixed values; shares everything that does not depend on them."""
        own = given.split_with_sizes(self.sizes) if self.parts else ()
        twin = copy(self)  # with what is cached; only the givens are new, and only they need checking
        twin.__dict__.update(given=given, parts=tuple(part.with_given(g) for part, g in zip(self.parts, own, strict=True)))
        twin.__dict__.pop("open", None)
        _check_given(twin)
        return twin

    def narrowed(self, domain: Tensor, given: Tensor) -> CSP:
        """The same problem, not a union, with smaller domains and more fixed values; shares what does not depend on them."""
        if self.parts:
            raise ModelError("the domains of a union are those of its parts: narrow them one by one")
        twin = copy(self)
        twin.__dict__.update(domain=domain, given=given)
        for depends in ("tight", "uniform", "open"):
            twin.__dict__.pop(depends, None)
        _check_given(twin)
        return twin

    @staticmethod
    def union(problems: Sequence[CSP]) -> CSP:
        """Problems side by side as one; its instances come back in `parts`. Smaller domains and positions are padded."""
        parts = tuple(instance for problem in problems for instance in problem.instances)
        if not parts:
            raise ModelError("a union needs at least one problem")
        m, k = max(part.m for part in parts), max(part.positions.shape[1] for part in parts)
        offsets = _offsets(parts)
        kinds = sorted({constraint.kind for part in parts for constraint in part.constraints})
        constraints = []
        for kind in kinds:
            found = [(c, offset) for part, offset in zip(parts, offsets, strict=True) for c in part.constraints if c.kind == kind]
            constraints.append(type(found[0][0]).concat([c for c, _ in found], [offset for _, offset in found]))
        return CSP(
            domain=torch.cat([_pad(part.domain, m) for part in parts]),
            given=torch.cat([part.given for part in parts]),
            positions=torch.cat([_pad(part.positions, k) for part in parts]),
            constraints=tuple(constraints),
            value_labels=max((part.value_labels for part in parts), key=len),
            family=parts[0].family,
            parts=parts,
        )

    def split(self, values: Tensor) -> list[Tensor]:
        """Assignments of a union [K,n] as those of its instances."""
        return list(values.split_with_sizes(self.sizes, dim=1))


HARD_OVER_SOFT = 2.0
MAX_VARIABLES = 10**7
MAX_CELLS = 5 * 10**8  # of the domain table [n,m], which is dense


def check_size(n: int, m: int) -> None:
    """Refuse a problem that would not fit in memory before anything is made for it.

    >>> check_size(10**6, 10**6)
    Traceback (most recent call last):
    ...
    consformer.errors.ModelError: 1000000 variables with 1000000 values: at most 10000000 variables, and 500000000 in the product, fit
    """
    if n > MAX_VARIABLES or n * m > MAX_CELLS:
        raise ModelError(f"{n} variables with {m} values: at most {MAX_VARIABLES} variables, and {MAX_CELLS} in the product, fit")


def _offsets(parts: Sequence[CSP]) -> list[int]:
    offsets = [0]
    for part in parts[:-1]:
        offsets.append(offsets[-1] + part.n)
    return offsets


def _pad(array: Tensor, width: int) -> Tensor:
    return array if array.shape[1] == width else torch.nn.functional.pad(array, (0, width - array.shape[1]))


def _validate(csp: CSP) -> None:
    n, m = csp.domain.shape
    if csp.positions.shape[0] != n:
        raise ModelError(f"{n} variables need {n} positions, not {len(csp.positions)}")
    if len(csp.value_labels) != m or (csp.variable_labels is not None and len(csp.variable_labels) != n):
        raise ModelError(f"{n} variables and {m} values need as many labels")
    if len(set(csp.value_labels)) < m:
        raise ModelError(f"two values have the same label: {csp.value_labels}")
    empty = torch.nonzero(~csp.domain.any(1))
    if len(empty):
        raise ModelError(f"variable {csp.name(int(empty[0]))} has an empty domain")
    _check_given(csp)
    kinds = [constraint.kind for constraint in csp.constraints]
    if kinds != sorted(set(kinds)):
        raise ModelError(f"constraints must come as one entry per kind in alphabetical order, not {', '.join(kinds)}")
    for constraint in csp.constraints:
        constraint.check_values(m)
        if len(constraint.members) and (int(constraint.members.max()) >= n or int(constraint.members.min()) < 0):
            raise ModelError(f"{constraint.kind} names a variable outside 0..{n - 1}")


def _check_given(csp: CSP) -> None:
    n, m = csp.domain.shape
    if csp.given.shape != (n,):
        raise ModelError(f"{n} variables need {n} fixed-value entries (-1 where free), not {len(csp.given)}")
    fixed = torch.nonzero(csp.given >= 0)[:, 0]
    wrong = fixed[~csp.domain[fixed, csp.given[fixed].clamp(max=m - 1)] | (csp.given[fixed] >= m)]
    if len(wrong):
        value = int(csp.given[wrong[0]])
        label = csp.value_labels[value] if value < m else value
        raise ModelError(f"variable {csp.name(int(wrong[0]))} is fixed to {label!r}, which is not in its domain")

"""The contract of a constraint kind.

A kind is one file in this package with one frozen dataclass: *all* constraints of that kind in a problem, as arrays
("struct of arrays", G constraints). Subclassing `Constraint` registers it; nothing else has to be edited.

Shapes: K candidate assignments (the pool), n variables, m values, G constraints of the kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeGuard

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from consformer.constraints.local import Terms
from consformer.constraints.narrowing import Dead, OutOfTime
from consformer.errors import ModelError

if TYPE_CHECKING:
    from consformer.constraints.cp import CpStatement

# One constraint as plain data, with *indices* of variables and values: what `Model` and the JSON form are made of.
# `scope`, `weight` (default 1) and `soft` (default false) mean the same for every kind; the rest is the kind's own.
Record = dict[str, Any]

# The schema of a parameter that is a value of the problem: an index in a record, the user's label in `Model` and in JSON.
VALUE: Mapping[str, Any] = {"$ref": "#/$defs/value"}

MAX_WEIGHT = 1e15  # sums and squares of weights stay finite


def per_variable() -> Any:
    """A dataclass field that holds variable indices: union shifts it by the number of variables before."""
    return field(metadata={"shift": "variables"})


def per_constraint() -> Any:
    """A dataclass field that holds constraint indices: union shifts it by the number of constraints before."""
    return field(metadata={"shift": "constraints"})


def value_index() -> Any:
    """A dataclass field that holds value indices: a problem checks that it has those values."""
    return field(metadata={"holds": "values"})


@dataclass(frozen=True, eq=False, kw_only=True)
class Constraint(ABC):
    """All constraints of one kind in a problem."""

    kind: ClassVar[str]
    registry: ClassVar[dict[str, type[Constraint]]] = {}
    parameters: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """JSON schema of the record keys beyond `scope`, `weight` and `soft`; one with a "default" may be left out."""
    signed: ClassVar[bool] = False
    """Whether a record's weight may be negative."""
    arity: ClassVar[int | None] = None
    """How many variables a scope has; None: one or more."""

    members: Tensor = per_variable()  # [M] variables of the scopes, one scope after the other
    group: Tensor = per_constraint()  # [M] the constraint each of them belongs to, ascending
    weight: Tensor = field()  # [G] float, > 0: what a violation of a soft constraint costs
    soft: Tensor = field()  # [G] bool: may be violated, at that cost

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        Constraint.registry[cls.kind] = cls

    # --- to write for each kind -------------------------------------------------------------------------------

    @abstractmethod
    def violation(self, values: Tensor) -> Tensor:
        """Exact violation, an integer, 0 iff satisfied: values [K,n] -> [K,G]."""

    @abstractmethod
    def penalty(self, probs: Tensor, domain: Tensor) -> Tensor:
        """The paper's differentiable relaxation, on a one-hot input 0 iff satisfied: probs [K,n,m], domain [n,m] -> [K,G]."""

    @abstractmethod
    def conflicts(self, probs: Tensor, weight: Tensor) -> Tensor:
        """What each value of each variable costs, given the others: probs [K,n,m], weight [G] -> [K,n,m].

        Entry [k,i,v] is the expected weighted violation of i's constraints if i took v and the others were drawn
        independently from `probs`, less the part that i cannot change: differences between two values of a variable are
        exact, no entry is negative, and one that leaves all constraints of i satisfied is 0. A one-hot `probs` gives the
        exact conflicts of an assignment.
        """

    @abstractmethod
    def check(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """`violation` of one assignment [n] -> [G] once more, in plain numpy by another route: the independent checker's eyes."""

    @abstractmethod
    def post(self, cp: CpStatement) -> None:
        """State the same constraints to OR-Tools CP-SAT; soft ones as terms of the cost."""

    @classmethod
    @abstractmethod
    def examples(cls) -> list[tuple[Record, int, list[int], bool]]:
        """Small cases: (record, number of values m, assignment of variables 0..n-1, is it satisfied?)."""

    # --- with a default ---------------------------------------------------------------------------------------

    def expected(self, probs: Tensor, domain: Tensor) -> Tensor:
        """Expected violation when every variable is drawn independently: probs [K,n,m] -> [K,G]; exact where that is cheap."""
        return self.penalty(probs, domain)

    def tight(self, domain: Tensor) -> Tensor:
        """Whether a constraint leaves no value unused, so that one wrong value forces another: domain [n,m] -> [G] bool."""
        return torch.zeros(len(self), dtype=torch.bool)

    def differences(self) -> Tensor | None:
        """Where the hard constraints say that pairs of variables differ and nothing else, these pairs [2,E], both directions; else None."""
        return None if bool((~self.soft).any()) else torch.zeros(2, 0, dtype=torch.int64)

    def narrow(self, domain: NDArray[np.bool_], fresh: NDArray[np.bool_], over: OutOfTime) -> Dead | None:
        """Take values out of `domain` [n,m], in place, that stand in no solution because of the *hard* constraints; by default none.

        `fresh` [n] tells which domains are other than when this was last called, `over()` when there is no time for costly work. What
        cannot hold any more is returned; rows are not left empty without that.
        """
        return None

    def local(self) -> Terms | None:
        """The constraints as local search likes them, changed in no time by a move; None: it asks `conflicts` after every move."""
        return None

    def pairs(self) -> Tensor:
        """Which variables are tied together, [2,E], both directions, no loops; by default the clique of each scope."""
        sizes = self.sizes
        first = torch.repeat_interleave(torch.arange(len(self.members)), sizes[self.group])
        starts = (torch.cumsum(sizes, 0) - sizes)[self.group[first]]
        within = torch.arange(len(first)) - torch.repeat_interleave(
            torch.cumsum(sizes[self.group], 0) - sizes[self.group], sizes[self.group]
        )
        left, right = self.members[first], self.members[starts + within]
        return torch.stack([left, right])[:, left != right]

    def restrict(self, values: Tensor, free: Tensor, cost: Tensor) -> Self:
        """Soft constraints when only some variables are still free: what they come to for those.

        All others keep their values: values [n], free [n] bool. The constraints that are returned, plus what is added to `cost` [n,m] for
        the values of free variables, are violated (by weight) as these are, up to a constant. They may still name variables that are not
        free, by default they name all of them; kinds that can do without leave them out.
        """
        return self

    @classmethod
    def parse(cls, record: Record) -> Record:
        """Check a record's own keys and fill in defaults; raise `ModelError` when one is wrong."""
        return record

    def extra(self, index: int) -> Record:
        """The kind's own keys of constraint `index`, as in its record."""
        return {}

    @classmethod
    def arrays(cls, records: Sequence[Record]) -> dict[str, Tensor]:
        """The kind's own fields from checked records."""
        return {}

    # --- the same for all kinds -------------------------------------------------------------------------------

    @classmethod
    def checked(cls, record: Record) -> Record:
        """A record with its defaults filled in; raises `ModelError` when something in it is wrong."""
        return cls.parse(cls._common(record))

    @classmethod
    def from_records(cls, records: Sequence[Record]) -> Self:
        """Compile plain records into arrays."""
        checked = [cls.checked(record) for record in records]
        sizes = torch.tensor([len(record["scope"]) for record in checked], dtype=torch.int64)
        return cls(
            members=torch.tensor([i for record in checked for i in record["scope"]], dtype=torch.int64),
            group=torch.repeat_interleave(torch.arange(len(checked)), sizes),
            weight=torch.tensor([record["weight"] for record in checked], dtype=torch.float64),
            soft=torch.tensor([record["soft"] for record in checked], dtype=torch.bool),
            **cls.arrays(checked),
        )

    @classmethod
    def of(cls, scopes: Tensor, *, weight: Tensor | None = None, soft: bool = False, **own: Tensor) -> Self:
        """Constraints over scopes of one size [G,L], without the detour over records: nothing is checked."""
        count, size = scopes.shape
        return cls(
            members=scopes.reshape(-1),
            group=torch.from_numpy(np.arange(count * size) // size),  # numpy: families make thousands of problems a second
            weight=torch.ones(count, dtype=torch.float64) if weight is None else weight,
            soft=torch.full((count,), soft),
            **own,
        )

    def records(self) -> list[Record]:
        """The way back: one record per constraint, `from_records(records())` is the same constraints."""
        ends = torch.cumsum(self.sizes, 0).tolist()
        members, weights, softs = self.members.tolist(), self.signed_weight.tolist(), self.soft.tolist()
        return [
            self._record(index, members[start:end], softs[index], weights[index])
            for index, (start, end) in enumerate(zip([0, *ends], ends, strict=False))
        ]

    def record(self, index: int) -> Record:
        """One of them, without making the others."""
        scope = self.members[self.group == index].tolist()
        return self._record(index, scope, bool(self.soft[index]), float(self.signed_weight[index]))

    def _record(self, index: int, scope: list[int], soft: bool, weight: float) -> Record:
        record: Record = {"kind": self.kind, "scope": scope, **self.extra(index)}
        if soft:
            record["soft"] = True
        if weight != 1:
            record["weight"] = weight
        return record

    @property
    def signed_weight(self) -> Tensor:
        """[G] the weights as records have them."""
        return self.weight

    @cached_property
    def sizes(self) -> Tensor:
        """[G] number of variables in each scope."""
        return torch.bincount(self.group, minlength=len(self))

    @cached_property
    def anchor(self) -> Tensor:
        """[G] one variable of each scope: tells which instance of a union a constraint belongs to."""
        return self.members[torch.cumsum(self.sizes, 0) - self.sizes]

    @cached_property
    def any_soft(self) -> bool:
        return bool(self.soft.any())

    @cached_property
    def any_hard(self) -> bool:
        return not bool(self.soft.all())

    @classmethod
    def translate(cls, record: Record, value: Callable[[Any, str], Any]) -> Record:
        """The record with every parameter that is a value of the problem replaced by `value(it, key)`, say a label by its index."""
        own = {key: _translate(schema, record[key], key, value) for key, schema in cls.parameters.items() if key in record}
        return {**record, **own}

    def check_values(self, m: int) -> None:
        """Raise `ModelError` when a constraint speaks of a value outside 0..m-1."""
        for item in fields(self):
            if item.metadata.get("holds") == "values":
                held = getattr(self, item.name)
                if held.numel() and (int(held.max()) >= m or int(held.min()) < 0):
                    raise ModelError(f"{self.kind}: {item.name} must be a value index in 0..{m - 1}")

    def only(self, kept: Tensor) -> Self:
        """Some of the constraints: kept [G] bool."""
        return self.without(~kept[self.group])

    def without(self, left_out: Tensor) -> Self:
        """The constraints without some memberships, left_out [M] bool; those that lose all are gone."""
        members, group = self.members[~left_out], self.group[~left_out]
        kept = torch.bincount(group, minlength=len(self)) > 0
        own = {item.name: getattr(self, item.name)[kept] for item in fields(self) if "shift" not in item.metadata}
        return type(self)(members=members, group=(torch.cumsum(kept, 0) - 1)[group], **own)

    def touching(self, variables: Tensor) -> Tensor:
        """[G] bool: which constraints have one of the variables [n] bool in their scope."""
        return torch.bincount(self.group[variables[self.members]], minlength=len(self)) > 0

    def __len__(self) -> int:
        return len(self.weight)

    @classmethod
    def concat(cls, parts: Sequence[Self], offsets: Sequence[int]) -> Self:
        """The constraints of several problems side by side; `offsets` are the numbers of variables before each."""
        counts = [0]
        for part in parts[:-1]:
            counts.append(counts[-1] + len(part))
        shifts = {"variables": offsets, "constraints": counts}
        joined = {}
        for item in fields(cls):
            tensors = [getattr(part, item.name) for part in parts]
            shift = item.metadata.get("shift")
            if shift is not None:
                tensors = [tensor + offset for tensor, offset in zip(tensors, shifts[shift], strict=True)]
            joined[item.name] = torch.cat(tensors)
        return cls(**joined)

    @classmethod
    def _common(cls, record: Record) -> Record:
        """Check the keys that all kinds share."""
        scope, weight = record.get("scope"), record.get("weight", 1)
        if not isinstance(scope, list | tuple) or not scope or not all(is_whole(i) for i in scope) or min(scope) < 0:
            raise ModelError(f"{cls.kind}: the scope must be a non-empty list of variables, not {scope!r}")
        scope = [int(i) for i in scope]
        if len(set(scope)) < len(scope):
            twice = next(i for i in scope if scope.count(i) > 1)
            raise ModelError(f"{cls.kind}: variable {twice} stands twice in the scope {scope}")
        if cls.arity is not None and len(scope) != cls.arity:
            raise ModelError(f"{cls.kind} takes {cls.arity} variables, not {len(scope)}: {scope}")
        if not is_number(weight) or weight == 0 or not -MAX_WEIGHT <= weight <= MAX_WEIGHT:
            raise ModelError(f"{cls.kind}: the weight must be a number other than 0 and at most {MAX_WEIGHT:g} in size, not {weight!r}")
        if weight < 0 and not cls.signed:
            raise ModelError(f"{cls.kind}: the weight must be positive, not {weight!r}")
        return {**record, "scope": scope, "weight": float(weight), "soft": bool(record.get("soft", False))}


def is_whole(number: object) -> TypeGuard[int]:
    """Whether something is a whole number that fits an array (Python counts `True` as one, nobody else does)."""
    return isinstance(number, int | np.integer) and not isinstance(number, bool) and -(2**63) <= int(number) < 2**63


def is_number(number: object) -> TypeGuard[int | float]:
    """Whether something is a number, whole or not."""
    return isinstance(number, int | float | np.integer | np.floating) and not isinstance(number, bool)


def plain_number(number: float) -> float | int:
    """A number to write down: 5 and not 5.0.

    >>> plain_number(5.0), plain_number(0.5)
    (5, 0.5)
    """
    return int(number) if number == int(number) else number


def _translate(schema: Mapping[str, Any], entry: Any, key: str, value: Callable[[Any, str], Any]) -> Any:
    if schema.get("$ref") == VALUE["$ref"]:
        return value(entry, key)
    if "items" in schema and isinstance(entry, list | tuple):
        return [_translate(schema["items"], item, key, value) for item in entry]
    return entry


def segment_sum(source: Tensor, index: Tensor, size: int) -> Tensor:
    """Sum rows that share an index: source [M,R], index [M] -> [size,R]."""
    return source.new_zeros(size, source.shape[1]).scatter_add_(0, index[:, None].expand_as(source), source)


def by_variable(probs: Tensor) -> Tensor:
    """[K,n,m] -> [n,K*m]: rows per variable, which gathers and scatters like best."""
    return probs.transpose(0, 1).reshape(probs.shape[1], -1)


def by_candidate(rows: Tensor, pool: int) -> Tensor:
    """The way back, for variables or constraints: [n,K*m] -> [K,n,m]."""
    return rows.view(rows.shape[0], pool, -1).transpose(0, 1)

"""`x != y`, or with a negative weight `x == y` wanted: graph colouring, and MAXCUT when soft."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import embedding_bag, pad

from consformer.constraints.base import Constraint, Record, by_candidate, by_variable
from consformer.constraints.cp import CpStatement
from consformer.constraints.local import Pairs, Terms
from consformer.constraints.narrowing import Dead, OutOfTime, too_few


@dataclass(frozen=True, eq=False, kw_only=True)
class NotEqual(Constraint):
    """Two variables take different values; where `equal` is set (a negative weight in the record), the same value."""

    kind: ClassVar[str] = "not_equal"
    signed: ClassVar[bool] = True
    arity: ClassVar[int | None] = 2
    equal: Tensor = field()  # [G] bool

    @classmethod
    def parse(cls, record: Record) -> Record:
        return {**record, "equal": record["weight"] < 0, "weight": abs(record["weight"])}

    @classmethod
    def arrays(cls, records: Sequence[Record]) -> dict[str, Tensor]:
        return {"equal": torch.tensor([record["equal"] for record in records], dtype=torch.bool)}

    @classmethod
    def of(cls, scopes: Tensor, *, weight: Tensor | None = None, soft: bool = False, **own: Tensor) -> Self:
        """Constraints over pairs [G,2]; a negative weight wants the two equal, as in a record."""
        if weight is None:
            return super().of(scopes, soft=soft, equal=torch.zeros(len(scopes), dtype=torch.bool))
        return super().of(scopes, weight=weight.abs(), soft=soft, equal=weight < 0)

    @property
    def signed_weight(self) -> Tensor:
        return torch.where(self.equal, -self.weight, self.weight)

    @property
    def left(self) -> Tensor:
        return self.members[0::2]

    @property
    def right(self) -> Tensor:
        return self.members[1::2]

    def violation(self, values: Tensor) -> Tensor:
        return ((values[:, self.left] == values[:, self.right]) ^ self.equal).long()

    def penalty(self, probs: Tensor, domain: Tensor) -> Tensor:
        same = (probs.index_select(1, self.left) * probs.index_select(1, self.right)).sum(-1)  # [K,G]
        return torch.where(self.equal, 1 - same, same)

    @cached_property
    def _neighbours(self) -> tuple[Tensor, Tensor, Tensor]:
        """Memberships by variable: the other end of each [M], its constraint [M], and where those of each variable begin [highest + 1]."""
        variable, order = torch.sort(self.members, stable=True)
        partner = torch.stack([self.right, self.left], 1).flatten()[order]
        return partner, self.group[order], torch.searchsorted(variable, torch.arange(int(variable[-1]) + 1 if len(variable) else 0))

    @cached_property
    def _any_equal(self) -> bool:
        return bool(self.equal.any())

    def conflicts(self, probs: Tensor, weight: Tensor) -> Tensor:
        rows = by_variable(probs)  # [n,K*m]
        cost = self._over_neighbours(rows, weight * ~self.equal if self._any_equal else weight)
        if self._any_equal:
            cost = cost + self._over_neighbours(1 - rows, weight * self.equal)
        return by_candidate(pad(cost, (0, 0, 0, len(rows) - len(cost))), probs.shape[0])

    def _over_neighbours(self, rows: Tensor, weight: Tensor) -> Tensor:
        """Weighted sums over the other ends: rows [n,R], weight [G] -> [highest variable + 1, R]."""
        partner, constraint, first = self._neighbours
        return embedding_bag(partner, rows, first, mode="sum", per_sample_weights=weight.to(rows.dtype)[constraint])

    def differences(self) -> Tensor | None:
        hard = ~self.soft
        if bool((self.equal & hard).any()):
            return None
        ends = self.members.view(-1, 2)[hard].T
        return torch.cat([ends, ends.flip(0)], 1)

    def narrow(self, domain: NDArray[np.bool_], fresh: NDArray[np.bool_], over: OutOfTime) -> Dead | None:
        ends, hard, equal = self.members.numpy().reshape(-1, 2), ~self.soft.numpy(), self.equal.numpy()
        near = fresh[ends].any(1) & hard
        return (
            _narrow_equal(domain, ends, np.flatnonzero(near & equal))
            or _narrow_different(domain, ends, np.flatnonzero(near & ~equal))
            or (_crowded(domain, ends[hard & ~equal], over) if fresh.all() else None)
        )

    def local(self) -> Terms:
        return Pairs(self.left, self.right, self.equal, torch.arange(len(self)))

    def check(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        ends = values[self.members.numpy().reshape(-1, 2)]
        differ = np.diff(ends, axis=1)[:, 0] != 0
        violated: NDArray[np.bool_] = np.where(self.equal.numpy(), differ, ~differ)
        return violated.astype(np.int64)

    def post(self, cp: CpStatement) -> None:
        left, right, equal, soft = (tensor.numpy() for tensor in (self.left, self.right, self.equal, self.soft))
        for wanted, state in ((~equal, cp.differ), (equal, cp.equal)):
            state(left[wanted & ~soft], right[wanted & ~soft])
        if soft.any():
            same = cp.same(left[soft], right[soft])
            cp.charge(self.weight.numpy()[soft], np.where(equal[soft], ~same, same))

    def restrict(self, values: Tensor, free: Tensor, cost: Tensor) -> Self:
        """A pair with one free end is a cost of that end's values: of being the same as the other end, or, where wanted equal, a gain."""
        one = free[self.left] ^ free[self.right]
        end, other = (torch.where(free[self.left] == first, self.left, self.right)[one] for first in (True, False))
        weight = self.signed_weight[one].to(cost.dtype)
        cost.index_put_((end, values[other]), weight, accumulate=True)
        return self.only(free[self.left] & free[self.right])

    @classmethod
    def examples(cls) -> list[tuple[Record, int, list[int], bool]]:
        return [
            ({"scope": [0, 1]}, 3, [0, 1], True),
            ({"scope": [0, 1]}, 3, [2, 2], False),
            ({"scope": [0, 1], "weight": -2.0, "soft": True}, 2, [1, 1], True),
            ({"scope": [0, 1], "weight": -2.0, "soft": True}, 2, [0, 1], False),
            ({"scope": [1, 0], "weight": -1.0}, 2, [0, 0], True),
        ]


Ends = NDArray[np.int64]  # [G,2]


def _narrow_equal(domain: NDArray[np.bool_], ends: Ends, which: NDArray[np.int64]) -> Dead | None:
    """Both ends keep what they have in common."""
    for one, two in ((0, 1), (1, 0)):
        np.logical_and.at(domain, ends[which, one], domain[ends[which, two]])
    return _emptied(domain, ends, which)


def _narrow_different(domain: NDArray[np.bool_], ends: Ends, which: NDArray[np.int64]) -> Dead | None:
    """The only value of one end is none for the other."""
    for one, two in ((0, 1), (1, 0)):
        decided = which[np.count_nonzero(domain[ends[which, one]], axis=1) == 1]
        value = domain[ends[decided, one]].argmax(1)
        clash = decided[(np.count_nonzero(domain[ends[decided, two]], axis=1) == 1) & domain[ends[decided, two], value]]
        if len(clash):
            both = ends[clash[0]].tolist()
            return too_few(int(clash[0]), both, [int(domain[both[0]].argmax())])
        domain[ends[decided, two], value] = False
        if dead := _emptied(domain, ends, decided):
            return dead
    return None


def _emptied(domain: NDArray[np.bool_], ends: Ends, which: NDArray[np.int64]) -> Dead | None:
    empty = ~domain[ends[which]].any(2)  # [G,2]
    if not empty.any():
        return None
    index, end = np.argwhere(empty)[0].tolist()
    return Dead(int(which[index]), "no value is left for {variables}", (int(ends[which[index], end]),))


CLIQUES = 50  # looked at, beginning with the vertices of most neighbours
CROWD = 2_000_000  # more edges are not looked at


def _crowded(domain: NDArray[np.bool_], ends: Ends, over: OutOfTime) -> Dead | None:
    """A clique of variables with fewer values than variables, found greedily: a short proof that a graph has no such colouring."""
    if not 0 < len(ends) <= CROWD:
        return None
    degree = np.bincount(ends.reshape(-1), minlength=len(domain))
    if domain.any(0).sum() > degree.max():
        return None  # no clique can be large enough
    both = np.concatenate([ends, ends[:, ::-1]])
    both = both[np.argsort(both[:, 0], kind="stable")]
    first = np.concatenate([[0], np.cumsum(degree)])
    for start in np.argsort(-degree, kind="stable")[:CLIQUES].tolist():
        if over():
            return None
        clique, common = [start], np.unique(both[first[start] : first[start + 1], 1])
        while len(common):
            chosen = int(common[degree[common].argmax()])
            clique.append(chosen)
            common = np.intersect1d(common, both[first[chosen] : first[chosen + 1], 1])
        values = np.flatnonzero(domain[clique].any(0)).tolist()
        if len(values) < len(clique):
            return too_few(0, sorted(clique), values)
    return None

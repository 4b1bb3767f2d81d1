"""`all_different(x1, ..., xn)`: Sudoku rows, rosters, Latin squares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from consformer.constraints.base import Constraint, Record, by_candidate, by_variable, segment_sum
from consformer.constraints.cp import CpStatement
from consformer.constraints.local import Counts, Terms
from consformer.constraints.narrowing import Dead, OutOfTime, match, supported, too_few


@dataclass(frozen=True, eq=False, kw_only=True)
class AllDifferent(Constraint):
    """No value twice in a scope; the violation is the number of pairs that share a value."""

    kind: ClassVar[str] = "all_different"

    def _counts(self, probs: Tensor) -> Tensor:
        """Expected number of variables at each value: probs [K,n,m] -> [K,G,m]."""
        rows = by_variable(probs).index_select(0, self.members)  # [M,K*m]
        return by_candidate(segment_sum(rows, self.group, len(self)), probs.shape[0])

    def violation(self, values: Tensor) -> Tensor:
        values_of = values[:, self.members]  # [K,M]
        m = int(values_of.max()) + 1 if values_of.numel() else 1
        cell = self.group * m + values_of
        counts = values.new_zeros(len(values), len(self) * m).scatter_add_(1, cell, torch.ones_like(cell))
        return (counts * (counts - 1) // 2).view(len(values), len(self), m).sum(-1)

    def penalty(self, probs: Tensor, domain: Tensor) -> Tensor:
        counts = self._counts(probs)  # [K,G,m]
        off_by = (1 - counts).abs()
        once = (off_by * self._offered(domain)).sum(-1)
        at_most_once = (torch.relu(counts - 1) + counts * off_by).sum(-1)
        return torch.where(self.tight(domain), once, at_most_once)

    def tight(self, domain: Tensor) -> Tensor:
        return self._offered(domain).sum(-1) == self.sizes  # m = n: every value is needed exactly once

    def differences(self) -> Tensor | None:
        return self._differences

    @cached_property
    def _differences(self) -> Tensor:
        if not bool(self.soft.any()):
            return self.pairs()
        return type(self).from_records([record for record in self.records() if not record.get("soft")]).pairs()

    def _offered(self, domain: Tensor) -> Tensor:
        """[G,m] whether some variable of the scope may take the value."""
        return segment_sum(domain[self.members].float(), self.group, len(self)) > 0

    def expected(self, probs: Tensor, domain: Tensor) -> Tensor:
        rows = by_variable(probs).index_select(0, self.members)
        pool, size = probs.shape[0], len(self)
        total = by_candidate(segment_sum(rows, self.group, size), pool)
        own = by_candidate(segment_sum(rows * rows, self.group, size), pool)
        return (total * total - own).sum(-1) / 2

    def conflicts(self, probs: Tensor, weight: Tensor) -> Tensor:
        rows = by_variable(probs).index_select(0, self.members)  # [M,K*m]
        counts = segment_sum(rows, self.group, len(self))  # [G,K*m]
        others = (counts.index_select(0, self.group) - rows) * weight.to(probs.dtype)[self.group][:, None]
        return by_candidate(segment_sum(others, self.members, probs.shape[1]), probs.shape[0])

    def narrow(self, domain: NDArray[np.bool_], fresh: NDArray[np.bool_], over: OutOfTime) -> Dead | None:
        sizes = self.sizes.numpy()
        near = undecided = np.zeros(len(self), dtype=bool)
        while fresh.any():  # decided variables are cheap to look at, and often all there is to do: to their end first
            near = near | self._hard_near(fresh)
            if int(sizes[near].sum()) * domain.shape[1] > WIDE:
                return None
            left = np.count_nonzero(domain, axis=1)
            if dead := self._narrow_decided(domain, near):
                return dead
            fresh, undecided = np.count_nonzero(domain, axis=1) != left, self._hard_near(left > 1)
            if over():
                return None
        ends = np.cumsum(sizes)
        for index in np.flatnonzero(near & undecided & (sizes * domain.shape[1] <= COSTLY_SCOPE)).tolist():
            if over():
                break
            if dead := _narrow_scope(domain, self.members.numpy()[ends[index] - sizes[index] : ends[index]], index):
                return dead
        return None

    def _hard_near(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """[G] the hard constraints that one of these variables [n] takes part in."""
        near = np.zeros(len(self), dtype=bool)
        near[self.group.numpy()[chosen[self.members.numpy()]]] = True
        near[self.soft.numpy()] = False
        return near

    def _narrow_decided(self, domain: NDArray[np.bool_], near: NDArray[np.bool_]) -> Dead | None:
        """The only value of a variable is none for the others of its scopes; all scopes at once."""
        which = np.flatnonzero(near[self.group.numpy()])
        members, group = self.members.numpy()[which], self.group.numpy()[which]
        groups, group = np.unique(group, return_inverse=True)
        rows = domain[members]  # [M,m]
        decided = np.flatnonzero(np.count_nonzero(rows, axis=1) == 1)
        value = rows[decided].argmax(1)
        times = np.zeros((len(groups), domain.shape[1]), dtype=np.int32)
        np.add.at(times, (group[decided], value), 1)
        if (times > 1).any():
            index, twice = np.argwhere(times > 1)[0].tolist()
            return too_few(int(groups[index]), members[decided[(group[decided] == index) & (value == twice)]].tolist(), [twice])
        taken = times.astype(bool)[group]
        taken[decided, value] = False  # by itself
        place, gone = np.nonzero(taken & rows)
        domain[members[place], gone] = False
        empty = place[~domain[members[place]].any(1)]
        return too_few(int(groups[group[empty[0]]]), [int(members[empty[0]])], []) if len(empty) else None

    def local(self) -> Terms:
        one = torch.ones(len(self), dtype=torch.int64)
        return Counts(value=-one, low=0 * one, high=one, steep=one.bool())

    def check(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        group, taken = self.group.numpy(), values[self.members.numpy()]
        pairs = np.zeros(len(self), dtype=np.int64)
        cells, counts = np.unique(np.stack([group, taken]), axis=1, return_counts=True)
        np.add.at(pairs, cells[0], counts * (counts - 1) // 2)
        return pairs

    def post(self, cp: CpStatement) -> None:
        for record in self.records():
            scope = record["scope"]
            if not record.get("soft"):
                cp.all_different(scope)
                continue
            left, right = np.array(scope)[np.stack(np.triu_indices(len(scope), 1))]
            cp.charge(np.full(len(left), record.get("weight", 1)), cp.same(left, right))

    def restrict(self, values: Tensor, free: Tensor, cost: Tensor) -> Self:
        """Pairs with one free end are a cost of that end's values: to take those that the others of the scope have."""
        free_member = free[self.members]
        taken = torch.zeros(len(self), cost.shape[1], dtype=cost.dtype)
        taken.index_put_((self.group[~free_member], values[self.members[~free_member]]), cost.new_ones(()), accumulate=True)
        weighted = taken * self.weight.to(cost.dtype)[:, None]
        cost.index_add_(0, self.members[free_member], weighted[self.group[free_member]])
        left = self.without(~free_member)
        return left.only(left.sizes > 1)

    @classmethod
    def examples(cls) -> list[tuple[Record, int, list[int], bool]]:
        return [
            ({"scope": [0, 1, 2]}, 3, [2, 0, 1], True),
            ({"scope": [0, 1, 2]}, 3, [2, 0, 2], False),
            ({"scope": [0, 1, 2]}, 5, [4, 0, 1], True),
            ({"scope": [2, 0, 1], "soft": True, "weight": 3.0}, 5, [4, 4, 4], False),
            ({"scope": [0]}, 2, [1], True),
        ]


WIDE = 100_000_000  # (membership, value) pairs: more would take too much memory
COSTLY_SCOPE = 40_000  # (variable, value) pairs of one scope: beyond, only decided variables are looked at


def _narrow_scope(domain: NDArray[np.bool_], scope: NDArray[np.int64], index: int) -> Dead | None:
    """Keep the values that stand in some choice of different values for the whole scope."""
    packed = np.packbits(domain[scope], axis=1, bitorder="little")
    masks = [int.from_bytes(row.tobytes(), "little") for row in packed]
    chosen, crowd, values = match(masks)
    if crowd:
        return too_few(index, [int(scope[place]) for place in sorted(crowd)], [v for v in range(domain.shape[1]) if values >> v & 1])
    for place, (before, after) in enumerate(zip(masks, supported(masks, chosen), strict=True)):
        if after != before:
            domain[scope[place]] = np.unpackbits(
                np.frombuffer(after.to_bytes(packed.shape[1], "little"), dtype=np.uint8), bitorder="little", count=domain.shape[1]
            )
    return None

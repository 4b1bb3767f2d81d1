"""`all_different(x1, ..., xn)`: Sudoku rows, rosters, Latin squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from consformer.constraints.base import Constraint, Record, by_candidate, by_variable, segment_sum
from consformer.constraints.cp import CpStatement


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

"""`cardinality(x, value, k)`: exactly, at least or at most k variables of a scope take one value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from consformer.constraints.base import VALUE, Constraint, Record, is_whole, value_index
from consformer.constraints.cp import CpVariables
from consformer.errors import ModelError

_COMPARISONS = ("==", ">=", "<=")
EXACTLY, AT_LEAST, AT_MOST = range(3)


@dataclass(frozen=True, eq=False, kw_only=True)
class Cardinality(Constraint):
    """The number of variables at `value` compares with `count` as asked; the violation is how far it is off."""

    kind: ClassVar[str] = "cardinality"
    parameters: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "value": {**VALUE, "description": "the value that is counted"},
        "count": {"type": "integer", "minimum": 0},
        "compare": {"enum": list(_COMPARISONS), "default": "=="},
    }

    value: Tensor = value_index()  # [G]
    count: Tensor = field()  # [G]
    compare: Tensor = field()  # [G] EXACTLY, AT_LEAST or AT_MOST

    @classmethod
    def parse(cls, record: Record) -> Record:
        value, count, compare, size = record.get("value"), record.get("count"), record.get("compare", "=="), len(record["scope"])
        if compare not in _COMPARISONS:
            raise ModelError(f"cardinality: compare must be one of {', '.join(_COMPARISONS)}, not {compare!r}")
        if not is_whole(value) or value < 0:
            raise ModelError(f"cardinality: the counted value must be given, not {value!r}")
        if not is_whole(count) or count < 0:
            raise ModelError(f"cardinality: the count must be a whole number from 0, not {count!r}")
        if count > size and compare != "<=":
            raise ModelError(f"cardinality: {count} of {size} variables can never hold; the count must be at most {size}")
        # More than all variables is all of them: `expected` takes memory in proportion to the count.
        return {**record, "count": min(int(count), size), "compare": compare}

    @classmethod
    def arrays(cls, records: Sequence[Record]) -> dict[str, Tensor]:
        return {
            "value": torch.tensor([record["value"] for record in records], dtype=torch.int64),
            "count": torch.tensor([record["count"] for record in records], dtype=torch.int64),
            "compare": torch.tensor([_COMPARISONS.index(record["compare"]) for record in records], dtype=torch.int64),
        }

    def extra(self, index: int) -> Record:
        return {"value": int(self.value[index]), "count": int(self.count[index]), "compare": _COMPARISONS[int(self.compare[index])]}

    def _off_by(self, count: Tensor) -> Tensor:
        """How far counts [K,G] are from what is asked."""
        over = count - self.count
        short, long = torch.relu(-over), torch.relu(over)
        return torch.where(self.compare == EXACTLY, over.abs(), torch.where(self.compare == AT_LEAST, short, long))

    def violation(self, values: Tensor) -> Tensor:
        hit = (values[:, self.members] == self.value[self.group]).long()  # [K,M]
        return self._off_by(values.new_zeros(len(values), len(self)).index_add_(1, self.group, hit))

    def _hit(self, probs: Tensor) -> Tensor:
        """Probability that each member takes the counted value: [K,M]."""
        return probs[:, self.members, self.value[self.group]]

    def penalty(self, probs: Tensor, domain: Tensor) -> Tensor:
        hit = self._hit(probs)
        return self._off_by(hit.new_zeros(len(probs), len(self)).index_add(1, self.group, hit))

    # The number of hits is a sum of independent coins (Poisson binomial). Only the chances of fewer than `count` hits are needed,
    # because E max(0, N - k) = E N - k + E max(0, k - N). They follow from adding one coin after the other.

    @cached_property
    def _slots(self) -> Tensor:
        """[G,L] the memberships of each constraint, padded with -1."""
        slot = torch.arange(len(self.group)) - (torch.cumsum(self.sizes, 0) - self.sizes)[self.group]
        table = torch.full((len(self), int(self.sizes.max())), -1)
        table[self.group, slot] = torch.arange(len(self.group))
        return table

    def _coins(self, probs: Tensor) -> Tensor:
        """[K,G,L] the chance of each member to be a hit, 0 in the padding."""
        hit = self._hit(probs)
        return torch.where(self._slots >= 0, hit[:, self._slots.clamp(min=0)], hit.new_zeros(()))

    def _run(self, coins: Tensor) -> list[Tensor]:
        """Chances of 0, 1, .. hits (as many as matter) among the first 0, 1, .. L coins: L+1 tensors [K,G,C]."""
        size = max(int(self.count.max()), 1)
        chances = coins.new_zeros(*coins.shape[:2], size)
        chances[..., 0] = 1
        states = [chances]
        for coin in coins.unbind(-1):
            moved = torch.nn.functional.pad(chances[..., :-1], (1, 0))
            chances = chances * (1 - coin[..., None]) + moved * coin[..., None]
            states.append(chances)
        return states

    def expected(self, probs: Tensor, domain: Tensor) -> Tensor:
        coins = self._coins(probs)
        chances = self._run(coins)[-1]  # [K,G,C]
        missing = (self.count[:, None] - torch.arange(chances.shape[-1])).clamp(min=0).to(probs.dtype)  # [G,C]
        short = (chances * missing).sum(-1)
        long = coins.sum(-1) - self.count + short
        return torch.where(self.compare == EXACTLY, short + long, torch.where(self.compare == AT_LEAST, short, long))

    def conflicts(self, probs: Tensor, weight: Tensor) -> Tensor:
        coins = self._coins(probs)
        before = torch.stack(self._run(coins)[:-1], 2)  # [K,G,L,C]
        after = torch.stack(self._run(coins.flip(-1))[:-1], 2).flip(2).cumsum(-1)
        size = before.shape[-1]
        # few = chance of fewer than `count` hits among the others = sum over a of P(a before) P(at most count - 1 - a after)
        rest = self.count[:, None] - 1 - torch.arange(size)  # [G,C]
        reached = after.gather(-1, rest.clamp(min=0)[None, :, None].expand_as(after))
        few = (before * reached * (rest >= 0)[None, :, None]).sum(-1)  # [K,G,L]
        compare = self.compare[:, None]
        # What one more hit adds to the expected violation; each value is charged its regret against the better choice.
        more = torch.where(compare == EXACTLY, 1 - 2 * few, torch.where(compare == AT_LEAST, -few, 1 - few))
        more = more * weight.to(probs.dtype)[:, None]
        group, slot = torch.nonzero(self._slots >= 0, as_tuple=True)
        more = more[:, group, slot]  # [K,M] in the order of `members`
        missed = torch.relu(-more)[..., None].expand(-1, -1, probs.shape[2]).contiguous()
        result = probs.new_zeros(probs.shape).index_add_(1, self.members, missed)
        flat = result.view(len(probs), -1)
        cell = self.members * probs.shape[2] + self.value[self.group]
        flat.index_add_(1, cell, more)  # relu(more) - relu(-more) == more
        return result.clamp(min=0)  # rounding may leave -1e-8

    def check(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        group = self.group.numpy()
        hit = values[self.members.numpy()] == self.value.numpy()[group]
        over = np.bincount(group[hit], minlength=len(self)) - self.count.numpy()
        compare = self.compare.numpy()
        over = np.where((compare == AT_LEAST) & (over > 0) | (compare == AT_MOST) & (over < 0), 0, over)
        return np.abs(over).astype(np.int64)

    def post(self, cp: CpVariables) -> None:
        for record in self.records():
            hits = sum(cp.takes(i, record["value"]) for i in record["scope"])
            count, compare = record["count"], record["compare"]
            if not record.get("soft"):
                cp.model.add(hits == count if compare == "==" else hits >= count if compare == ">=" else hits <= count)
                continue
            off = cp.model.new_int_var(0, max(count, len(record["scope"])), "")
            if compare != "<=":
                cp.model.add(off >= count - hits)
            if compare != ">=":
                cp.model.add(off >= hits - count)
            cp.charge(record.get("weight", 1), off)

    @classmethod
    def examples(cls) -> list[tuple[Record, int, list[int], bool]]:
        return [
            ({"scope": [0, 1, 2], "value": 0, "count": 2}, 2, [0, 0, 1], True),
            ({"scope": [0, 1, 2], "value": 0, "count": 2}, 2, [0, 0, 0], False),
            ({"scope": [0, 1, 2], "value": 1, "count": 1, "compare": ">="}, 3, [1, 2, 1], True),
            ({"scope": [0, 1, 2], "value": 1, "count": 2, "compare": ">="}, 3, [1, 2, 0], False),
            ({"scope": [2, 0], "value": 1, "count": 1, "compare": "<=", "soft": True, "weight": 0.5}, 3, [1, 1, 1], False),
            ({"scope": [2, 0], "value": 1, "count": 0, "compare": "<="}, 3, [2, 1, 0], True),
        ]

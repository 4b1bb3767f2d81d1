"""`cardinality(x, value, k)`: exactly, at least or at most k variables of a scope take one value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import pad

from consformer.constraints.base import VALUE, Constraint, Record, is_whole, value_index
from consformer.constraints.cp import CpStatement
from consformer.constraints.local import Counts, Terms
from consformer.constraints.narrowing import Dead, OutOfTime
from consformer.errors import ModelError

_COMPARISONS = ("==", ">=", "<=")
EXACTLY, AT_LEAST, AT_MOST = range(3)


@dataclass(frozen=True, eq=False, kw_only=True)
class Cardinality(Constraint):
    """The number of variables at `value` compares with `count` as asked; the violation is how far it is off.

    `expected` and `conflicts` are exact for scopes of any length, in L log² L steps: up to rounding, in double precision and with
    errors of about 1e-15 beyond 64 variables; without any error for an assignment.
    """

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
        # More than all variables is all of them: distributions are kept up to the count.
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
    # because E max(0, N - k) = E N - k + E max(0, k - N).

    @cached_property
    def _slots(self) -> Tensor:
        """[G,L] the memberships of each constraint, padded with -1 to a power of two, for merging in pairs."""
        slot = torch.arange(len(self.group)) - (torch.cumsum(self.sizes, 0) - self.sizes)[self.group]
        table = torch.full((len(self), 1 << (int(self.sizes.max()) - 1).bit_length()), -1)
        table[self.group, slot] = torch.arange(len(self.group))
        return table

    def _coins(self, probs: Tensor) -> Tensor:
        """[K,G,L] the chance of each member to be a hit, 0 in the padding."""
        hit = self._hit(probs)
        return torch.where(self._slots >= 0, hit[:, self._slots.clamp(min=0)], hit.new_zeros(()))

    def _merged(self, coins: Tensor) -> list[Tensor]:
        """The distribution of the number of hits: first of every coin, then of two, of four, .. of all: [K,G,L,2] to [K,G,1,C]."""
        exact = coins.double() if coins.shape[-1] > LONG else coins
        most = max(int(self.count.max()), 1)  # as many hits or more are all the same
        levels = [torch.stack([1 - exact, exact], -1)[..., :most]]
        while levels[-1].shape[-2] > 1:
            levels.append(merge(levels[-1], most))
        return levels

    def expected(self, probs: Tensor, domain: Tensor) -> Tensor:
        coins = self._coins(probs)
        chances = self._merged(coins)[-1][..., 0, :]  # [K,G,C]
        missing = (self.count[:, None] - torch.arange(chances.shape[-1])).clamp(min=0)  # [G,C]
        short = (chances * missing).sum(-1)
        long = coins.sum(-1, dtype=short.dtype) - self.count + short
        return torch.where(self.compare == EXACTLY, short + long, torch.where(self.compare == AT_LEAST, short, long)).to(probs.dtype)

    def conflicts(self, probs: Tensor, weight: Tensor) -> Tensor:
        few = self._few(self._coins(probs))
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

    def _few(self, coins: Tensor) -> Tensor:
        """[K,G,L] the chance of fewer than `count` hits among the other members of a scope."""
        count = self.count[:, None]
        few = (coins.sum(-1, keepdim=True) - coins < count).to(coins.dtype)  # right where nothing is left to chance
        open_ = torch.nonzero(((coins > 0) & (coins < 1)).flatten(1).any(1))[:, 0]
        if len(open_):
            # For every group of coins, from all down to one: the chance of few hits with 0, 1, .. hits in it.
            *levels, all_ = self._merged(coins[open_])
            given = (torch.arange(all_.shape[-1]) < count).to(all_.dtype).expand(len(open_), -1, -1)[:, :, None]
            for level in reversed(levels):
                given = part(given, level)
            few[open_] = given[..., 0].to(few.dtype)
        return few

    @property
    def bounds(self) -> tuple[Tensor, Tensor]:
        """[G] the least and the most hits that satisfy each constraint."""
        low = torch.where(self.compare == AT_MOST, 0, self.count)
        return low, torch.where(self.compare == AT_LEAST, self.sizes, self.count)

    def narrow(self, domain: NDArray[np.bool_], fresh: NDArray[np.bool_], over: OutOfTime) -> Dead | None:
        members, group, value = self.members.numpy(), self.group.numpy(), self.value.numpy()
        low, high = (bound.numpy() for bound in self.bounds)
        able = domain[members, value[group]]  # [M] may take the value
        bound = able & (np.count_nonzero(domain[members], axis=1) == 1)  # must take it
        most, least = (np.bincount(group[which], minlength=len(self)) for which in (able, bound))
        hard = ~self.soft.numpy()
        for short, found, words in ((most < low, most, "can"), (least > high, least, "must")):
            if (short & hard).any():
                index = int(np.flatnonzero(short & hard)[0])
                wanted = f"{_COMPARISONS[int(self.compare[index])]} {int(self.count[index])}"
                scope = tuple(members[group == index].tolist())
                return Dead(index, f"{found[index]} variables {words} take {{values}}, wanted are {wanted}", scope, (int(value[index]),))
        needed, barred = able & (hard & (most == low))[group], able & ~bound & (hard & (least == high))[group]
        domain[members[barred], value[group[barred]]] = False
        only = np.zeros((int(needed.sum()), domain.shape[1]), dtype=bool)
        only[np.arange(len(only)), value[group[needed]]] = True
        np.logical_and.at(domain, members[needed], only)
        empty = np.flatnonzero(~domain[members].any(1) & (needed | barred))
        if len(empty):
            return Dead(int(group[empty[0]]), "no value is left for {variables}", (int(members[empty[0]]),))
        return None

    def local(self) -> Terms:
        low, high = self.bounds
        return Counts(value=self.value, low=low, high=high, steep=torch.zeros(len(self), dtype=torch.bool))

    def check(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        group = self.group.numpy()
        hit = values[self.members.numpy()] == self.value.numpy()[group]
        over = np.bincount(group[hit], minlength=len(self)) - self.count.numpy()
        compare = self.compare.numpy()
        over = np.where((compare == AT_LEAST) & (over > 0) | (compare == AT_MOST) & (over < 0), 0, over)
        return np.abs(over).astype(np.int64)

    def post(self, cp: CpStatement) -> None:
        for record in self.records():
            scope, count, compare = record["scope"], record["count"], record["compare"]
            hits, ones = cp.takes(scope, [record["value"]] * len(scope)), np.ones(len(scope), dtype=np.int64)
            if not record.get("soft"):
                cp.linear(hits, ones, 0 if compare == "<=" else count, len(scope) if compare == ">=" else count)
                continue
            off = cp.variables(0, max(count, len(scope)), 1)
            with_off, factors = np.concatenate([off, hits]), np.concatenate([[1], ones])
            if compare != "<=":
                cp.linear(with_off, factors, count)
            if compare != ">=":
                cp.linear(with_off, np.concatenate([[1], -ones]), -count)
            cp.charge([record.get("weight", 1)], off)

    def restrict(self, values: Tensor, free: Tensor, cost: Tensor) -> Self:
        """Hits among the others are taken off the count. Where as many are there as may be, each further hit is a cost."""
        hit = (values[self.members] == self.value[self.group]) & ~free[self.members]
        count = self.count - torch.bincount(self.group[hit], minlength=len(self))
        full = (count <= 0) & (self.compare != AT_LEAST)
        paying = free[self.members] & full[self.group]
        weight = self.weight.to(cost.dtype)[self.group[paying]]
        cost.index_put_((self.members[paying], self.value[self.group[paying]]), weight, accumulate=True)
        return replace(self, count=count).without(~free[self.members] | (count <= 0)[self.group])

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


LONG = 64  # more coins are merged in double precision, and distributions of more hits by Fourier transform


def merge(chances: Tensor, most: int) -> Tensor:
    """Distributions of the sums of neighbours, cut off after `most` entries: [..,2P,C] -> [..,P,min(2C-1,most)].

    >>> merge(torch.tensor([[0.5, 0.5], [0.5, 0.5]]), 9).tolist()
    [[0.25, 0.5, 0.25]]
    """
    size = chances.shape[-1]
    wide = min(2 * size - 1, most)
    if size > LONG:
        spectra: Tensor = torch.fft.rfft(chances, _fast(size))
        sums: Tensor = torch.fft.irfft(spectra[..., 0::2, :] * spectra[..., 1::2, :], _fast(size))
        return sums[..., :wide]
    moved = pad(chances[..., 0::2, :], (size - 1, wide - size)).unfold(-1, size, 1)  # [..,P,wide,C]
    return (moved * chances[..., 1::2, :].flip(-1)[..., None, :]).sum(-1)


def part(given: Tensor, chances: Tensor) -> Tensor:
    """The way down: what is expected given the sum of neighbours, [..,P,W], as given each one of them: [..,2P,C].

    >>> part(torch.tensor([[1.0, 1.0, 0.0]]), torch.tensor([[0.5, 0.5], [0.9, 0.1]])).tolist()  # at most one hit of two coins
    [[1.0, 0.8999999761581421], [1.0, 0.5]]
    """
    size = chances.shape[-1]
    other = torch.stack([chances[..., 1::2, :], chances[..., 0::2, :]], -2)  # [..,P,2,C]
    if size > LONG:
        spectra: Tensor = torch.fft.rfft(given, _fast(size))[..., None, :] * torch.fft.rfft(other, _fast(size)).conj()
        means: Tensor = torch.fft.irfft(spectra, _fast(size))
        return means[..., :size].flatten(-3, -2)
    moved = pad(given, (0, 2 * size - 1 - given.shape[-1])).unfold(-1, size, 1)  # [..,P,C,C]
    return (moved[..., None, :, :] * other[..., None, :]).sum(-1).flatten(-3, -2)


def _fast(size: int) -> int:
    """A length that transforms are fast at and in which the sum of two numbers below `size` does not wrap around."""
    return 1 << (2 * size - 2).bit_length()

"""The few things constraint kinds need to state themselves to local search: sums over pairs, or over counts of values."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Pairs:
    """The violation of constraint g is the number of its pairs of variables that have the same value, or where `equal`, that have not."""

    left: Tensor  # [P]
    right: Tensor  # [P]
    equal: Tensor  # [P] bool
    group: Tensor  # [P] the constraint that each belongs to


@dataclass(frozen=True)
class Counts:
    """The violation depends on how many variables of a scope have a value, how many c of them, by more than `high` or less than `low`.

    Each one too few adds 1; too many add 1, 1, .. or, where `steep`, 1, 2, .. one after the other.
    """

    value: Tensor  # [G] the value that is counted; -1: each one, and the violations are added up
    low: Tensor  # [G]
    high: Tensor  # [G]
    steep: Tensor  # [G] bool


Terms = Pairs | Counts

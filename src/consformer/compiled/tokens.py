"""Which pairs of variables and values are open, and who competes with whom, picked from what can be open at all in a problem.

The twin is `Field.left` and `Field.between` in `consformer.networks.open`, as tensor operations.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from consformer.compiled.attention import Marks, Places, kernel


def left(values: Tensor, subset: Tensor, variable: Tensor, value: Tensor, rivals: tuple[Tensor, Tensor]) -> Tensor:
    """[K,F] what is open: `variable` and `value` [F] say what can be, `rivals` (first [F+1], source) who rules out whom."""
    kept = torch.empty(len(values), len(variable), dtype=torch.bool)
    arrays = (x.contiguous().numpy() for x in (values, subset, variable, value, *rivals))
    _left(*arrays, kept.numpy())
    return kept


def edges(kept: Tensor, near: tuple[Tensor, Tensor]) -> Tensor:
    """[2,E] (to, from) between what is kept [K,F], numbered in order, of all edges (first [F+1], source)."""
    first, source = (x.numpy() for x in near)
    most = int((kept * near[0].diff()).sum())
    number, found = np.empty(kept.shape[1], np.int64), np.empty((2, most), np.int64)
    count = _edges(kept.numpy(), first, source, number, found[0], found[1])
    return torch.from_numpy(found[:, :count])


_PLACES, _PAIRS, _MARKS = "int64[::1]", "int64[:,::1]", "boolean[:,::1]"


@kernel(f"void({_PAIRS},{_MARKS},{_PLACES},{_PLACES},{_PLACES},{_PLACES},{_MARKS})")
def _left(values: Places, subset: Marks, variable: Places, value: Places, first: Places, source: Places, kept: Marks) -> None:
    count = len(variable)
    for k in range(len(values)):
        for f in range(count):
            kept[k, f] = subset[k, variable[f]]
        for f in range(count):
            if not subset[k, variable[f]] and values[k, variable[f]] == value[f]:
                for e in range(first[f], first[f + 1]):
                    kept[k, source[e]] = False
        begin = 0
        while begin < count:
            end, some = begin, False
            while end < count and variable[end] == variable[begin]:
                some |= kept[k, end]
                end += 1
            if not some and subset[k, variable[begin]]:
                kept[k, begin:end] = True
            begin = end


@kernel(f"int64({_MARKS},{_PLACES},{_PLACES},{_PLACES},{_PLACES},{_PLACES})")
def _edges(kept: Marks, first: Places, source: Places, number: Places, to: Places, whence: Places) -> int:
    begin, at = 0, 0
    for k in range(len(kept)):
        for f in range(kept.shape[1]):
            number[f] = begin
            begin += kept[k, f]
        for f in range(kept.shape[1]):
            if kept[k, f]:
                for e in range(first[f], first[f + 1]):
                    if kept[k, source[e]]:
                        to[at], whence[at] = number[f], number[source[e]]
                        at += 1
    return at

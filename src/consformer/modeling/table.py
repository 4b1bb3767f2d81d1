"""The variables of a model by their numbers: what they are called, which values they may take, which they are fixed to.

Values are indices inside and the user's labels outside; every message speaks in names and labels. A step that is refused changes nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consformer.csp import Label, check_size
from consformer.errors import ModelError

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Block:
    """The variables made in one call of `Model.variables`: they are numbered from `start`."""

    name: str
    shape: tuple[int, ...]
    start: int
    values: frozenset[int]  # they were made with, whatever they may still take

    def label(self, index: tuple[int, ...]) -> str:
        return f"{self.name}[{','.join(map(str, index))}]" if index else self.name


class Table:
    """All variables, in arrays that grow.

    >>> table = Table()
    >>> table.append((2, 2), ["red", "green"], "x")
    array([[0, 1],
           [2, 3]])
    >>> table.fix([(3, "green")])
    >>> table.name(3), table.value_labels, table.given.tolist()
    ('x[1,1]', ('red', 'green'), [-1, -1, -1, 1])
    """

    def __init__(self) -> None:
        self.n = 0
        self.blocks: list[Block] = []
        self._names: set[str] = set()
        self._values: dict[Label, int] = {}
        self._domain: NDArray[np.bool_] = np.zeros((0, 0), dtype=np.bool_)  # [>=n, >=m], grown in leaps
        self._given: Indices = np.zeros(0, dtype=np.int64)  # [>=n]

    @property
    def m(self) -> int:
        return len(self._values)

    @property
    def value_labels(self) -> tuple[Label, ...]:
        return tuple(self._values)

    @property
    def domain(self) -> NDArray[np.bool_]:
        """[n,m] the values each variable may take."""
        return self._domain[: self.n, : self.m]

    @property
    def given(self) -> Indices:
        """[n] the value of a fixed variable, -1 where it is free."""
        return self._given[: self.n]

    @property
    def variable_labels(self) -> tuple[str, ...]:
        return tuple(block.label(index) for block in self.blocks for index in np.ndindex(block.shape))

    @property
    def positions(self) -> Indices:
        """[n,k] array indices; with several blocks the number of the block comes first and short ones are padded with 0."""
        several = int(len(self.blocks) > 1)
        positions = np.zeros((self.n, several + max(len(block.shape) for block in self.blocks) or 1), dtype=np.int64)
        for number, block in enumerate(self.blocks):
            rows = positions[block.start : block.start + prod(block.shape)]
            rows[:, :several] = number
            rows[:, several : several + len(block.shape)] = np.argwhere(np.ones(block.shape, dtype=np.bool_))
        return positions

    def name(self, variable: int) -> str:
        block = self._block(variable)
        return block.label(tuple(int(i) for i in np.unravel_index(variable - block.start, block.shape)))

    # --- changes ----------------------------------------------------------------------------------------------

    def append(self, shape: int | Sequence[int], values: Iterable[Label], name: str | None) -> Indices:
        """Make variables; their numbers, in that shape."""
        dims, labels = _shape(shape), _unique_labels(values)
        start, end = self.n, self.n + prod(dims)
        fresh = [label for label in labels if label not in self._values]
        check_size(end, self.m + len(fresh))
        name = self._new_name(name)
        self._names.add(name)
        self._values |= {label: self.m + i for i, label in enumerate(fresh)}
        self._domain = _grown(self._domain, (end, self.m), False)
        self._given = _grown(self._given, (end,), -1)
        allowed = [self._values[label] for label in labels]
        self._domain[start:end, allowed] = True
        self.blocks.append(Block(name, dims, start, frozenset(allowed)))
        self.n = end
        return np.arange(start, end).reshape(dims)

    def narrow(self, variables: Indices, values: Iterable[Label], *, keep: bool) -> None:
        """Let variables [k] keep only these values, or lose them."""
        allowed = np.full(self.m, not keep)
        allowed[self._known(values)] = keep
        left, given = self.domain[variables] & allowed, self.given[variables]
        empty, lost = ~left.any(1), (given >= 0) & ~allowed[given]
        if empty.any():
            variable = int(variables[empty.argmax()])
            raise ModelError(f"{self.name(variable)} would have no value left: its values are {self._values_of(variable)}")
        if lost.any():
            at = int(lost.argmax())
            raise ModelError(f"{self.name(int(variables[at]))} is fixed to {self.value_labels[given[at]]!r}, which would be ruled out")
        self.domain[variables] = left

    def fix(self, entries: Iterable[tuple[int, object]]) -> None:
        """Give variables their values: pairs of a variable and a label."""
        fixed: dict[int, int] = {}
        for variable, entry in entries:
            label = _label(entry)
            value = self._values.get(label)
            if value is None or not self._domain[variable, value]:
                raise ModelError(f"{self.name(variable)} cannot be {label!r}: its values are {self._values_of(variable)}")
            before = fixed.get(variable, int(self._given[variable]))
            if before not in (-1, value):
                raise ModelError(f"{self.name(variable)} is fixed to {self.value_labels[before]!r} already, not {label!r}")
            fixed[variable] = value
        self._given[list(fixed)] = list(fixed.values())

    # --- values -----------------------------------------------------------------------------------------------

    def value_among(self, variables: Indices, label: object) -> int:
        """The index of a value that a constraint speaks of, which at least one of its variables [k] must have been made with."""
        value = self._values.get(_label(label))
        blocks = {self._block(variable) for variable in variables.tolist()}
        if value is None or not any(value in block.values for block in blocks):
            offered = sorted({value for block in blocks for value in block.values})
            raise ModelError(f"{label!r} is not a value of these variables: {_listed(self.value_labels[i] for i in offered)}")
        return value

    def _known(self, values: Iterable[Label]) -> list[int]:
        labels = _unique_labels(values)
        for label in labels:
            if label not in self._values:
                raise ModelError(f"{label!r} is not a value of this model: {_listed(self._values)}")
        return [self._values[label] for label in labels]

    def _values_of(self, variable: int) -> str:
        return _listed(label for label, value in self._values.items() if self._domain[variable, value])

    def _block(self, variable: int) -> Block:
        return self.blocks[bisect_right(self.blocks, variable, key=lambda block: block.start) - 1]

    def _new_name(self, name: str | None) -> str:
        if name is None:
            number = len(self.blocks) + 1
            while (name := "x" if number == 1 else f"x{number}") in self._names:
                number += 1
        if not isinstance(name, str) or not name or "[" in name:
            raise ModelError(f"a name must be a text without '[', not {name!r}")
        if name in self._names:
            raise ModelError(f"there are variables named {name!r} already")
        return name


def _label(value: object) -> Label:
    """A value as it is kept: numpy's and Python's own kinds of number and text are the same, true and false are 1 and 0."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int | np.integer | np.bool_):
        return int(value)
    raise ModelError(f"a value must be a whole number or a string, not {value!r}")


def _unique_labels(values: Iterable[Label]) -> list[Label]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ModelError(f"values must be a list such as range(1, 10) or ['red', 'green'], not {values!r}")
    labels = [_label(value) for value in values]
    if not labels:
        raise ModelError("no values given")
    if len(set(labels)) < len(labels):
        raise ModelError(f"a value is given twice: {_listed(labels)}")
    return labels


def _listed(labels: Iterable[Label]) -> str:
    shown = [repr(label) for label in labels]
    return ", ".join(shown if len(shown) <= 12 else [*shown[:10], "...", shown[-1]])


def _shape(shape: int | Sequence[int]) -> tuple[int, ...]:
    dims = (shape,) if isinstance(shape, int | np.integer) else shape
    if not isinstance(dims, Sequence) or not all(isinstance(size, int | np.integer) and size > 0 for size in dims):
        raise ModelError(f"a shape must be a whole number from 1 or a tuple of such, not {shape!r}")
    return tuple(int(size) for size in dims)


def _grown(array: NDArray[Any], shape: tuple[int, ...], fill: Any) -> NDArray[Any]:
    """The array, or when it is too small a larger copy: leaps keep adding variables one by one linear in time."""
    if all(have >= want for have, want in zip(array.shape, shape, strict=True)):
        return array
    room = [have if have >= want else max(want, 2 * have) for have, want in zip(array.shape, shape, strict=True)]
    larger = np.full(room, fill, array.dtype)
    larger[tuple(slice(size) for size in array.shape)] = array
    return larger

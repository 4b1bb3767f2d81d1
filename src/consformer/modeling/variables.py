"""Arrays of variables: indexed and sliced as numpy arrays are, compared to make constraints, asked for their part of an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from consformer.errors import ModelError
from consformer.modeling.expressions import Expression
from consformer.modeling.table import Indices

if TYPE_CHECKING:
    from consformer.modeling.model import Model


class VariableArray:
    """Variables of a model, in an array of any shape (one variable has shape `()`); indexing and slicing are numpy's.

    `x != y` and `x == y` are constraints, element by element with numpy's broadcasting, to be given to `Model.add`.

    >>> from consformer import Model
    >>> x = Model().variables((2, 3), values=range(4), name="x")
    >>> x[0, 1], x[:, 0].shape, x.T.shape, len(x), x[1:, 1:].indices.tolist()
    (x[0,1], (2,), (3, 2), 2, [[4, 5]])
    >>> x[0] != x[1]
    <not_equal: 3 constraints>
    """

    __slots__ = ("indices", "model")
    __array_ufunc__ = None  # else numpy would compare an array with this element by element instead of leaving it to us
    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __init__(self, model: Model, indices: Indices) -> None:
        self.model, self.indices = model, indices

    @property
    def shape(self) -> tuple[int, ...]:
        return self.indices.shape

    @property
    def ndim(self) -> int:
        return self.indices.ndim

    @property
    def size(self) -> int:
        return self.indices.size

    @property
    def T(self) -> VariableArray:  # noqa: N802 (numpy's name)
        return VariableArray(self.model, self.indices.T)

    def flatten(self) -> VariableArray:
        return VariableArray(self.model, self.indices.reshape(-1))

    ravel = flatten

    def reshape(self, *shape: Any) -> VariableArray:
        """As numpy's: `x.reshape(3, 3)` or `x.reshape((3, 3))`."""
        try:
            return VariableArray(self.model, self.indices.reshape(*shape))
        except (ValueError, TypeError) as error:
            raise ModelError(f"{self.size} variables cannot be arranged in the shape {shape}") from error

    def of(self, values: Sequence[Any] | NDArray[Any]) -> Any:
        """The entries of a list with one entry per variable (labels, say) that belong to this array, in its shape.

        >>> from consformer import Model
        >>> model = Model()
        >>> x, y = model.variables(2, values=[1, 2]), model.variables(2, values=["a", "b"])
        >>> x.of([1, 2, "a", "b"]), y.of([1, 2, "a", "b"]), y[1].of([1, 2, "a", "b"])
        (array([1, 2]), array(['a', 'b'], dtype=object), 'b')
        """
        last = int(self.indices.max(initial=-1))
        if last >= len(values):
            raise ModelError(f"there are {len(values)} values, none for the newer {self.model.name(last)}")
        if self.ndim == 0:
            return values[int(self.indices)]
        picked = [values[i] for i in self.indices.ravel().tolist()]
        whole = all(isinstance(value, int | np.integer) for value in picked)
        return np.array(picked, dtype=None if whole else object).reshape(self.shape)

    def __getitem__(self, key: Any) -> VariableArray:
        if any(isinstance(part, VariableArray) for part in (key if isinstance(key, tuple) else (key,))):
            raise ModelError("a variable cannot be an index: its value is not known before solving")
        return VariableArray(self.model, np.asarray(self.indices[key]))

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[VariableArray]:
        return (VariableArray(self.model, np.asarray(row)) for row in self.indices)

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]
        if not isinstance(other, VariableArray):
            raise ModelError(f"{self!r} != {other!r}: to rule out a value, use model.forbid(variables, [value])")
        return _pairs(self, other, sign=1)

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]
        if not isinstance(other, VariableArray):
            raise ModelError(f"{self!r} == {other!r}: to give variables a value, use model.fix(variables, value)")
        return _pairs(self, other, sign=-1)

    def __bool__(self) -> bool:
        raise ModelError(f"{self!r} is neither true nor false: its value is not known before solving")

    def __array__(self, *_: object, **__: object) -> NoReturn:
        raise ModelError(f"{self!r} has no values before solving; its variable numbers are in `.indices`")

    def __repr__(self) -> str:
        if self.ndim == 0:
            return self.model.name(int(self.indices))
        return f"<{'×'.join(map(str, self.shape))} variables>"


def check_owner(model: Model, variables: object) -> None:
    """Refuse anything but variables of that model."""
    if not isinstance(variables, VariableArray):
        raise ModelError(f"expected variables of this model, not {variables!r}")
    if variables.model is not model:
        raise ModelError(f"{variables!r} belongs to another model")


def _pairs(x: VariableArray, y: VariableArray, sign: int) -> Expression:
    """`x != y` (or with sign -1 `x == y`), element by element."""
    check_owner(x.model, y)
    try:
        left, right = (x.indices, y.indices) if x.shape == y.shape else np.broadcast_arrays(x.indices, y.indices)
    except ValueError as error:
        raise ModelError(f"variables of shapes {x.shape} and {y.shape} cannot be paired element by element") from error
    scopes = np.array([left.ravel(), right.ravel()]).T  # [G,2]
    if not len(scopes):
        raise ModelError("not_equal: no variables given")
    same = scopes[:, 0] == scopes[:, 1]
    if same.any():
        raise ModelError(f"{x.model.name(int(scopes[same.argmax(), 0]))} is compared with itself")
    return Expression(x.model, "not_equal", scopes, left.shape, sign=sign)

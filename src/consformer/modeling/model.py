"""State a problem in Python: arrays of variables, constraints over them, `Model.compile` to get the `CSP`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, ClassVar, NoReturn

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from consformer.constraints import Record, compile_records, kind
from consformer.constraints.base import MAX_WEIGHT
from consformer.csp import CSP, Label, check_size
from consformer.errors import ModelError, UnknownNameError

Indices = NDArray[np.int64]


class VariableArray:
    """Variables of a model, in an array of any shape (one variable has shape `()`); indexing and slicing are numpy's.

    `x != y` and `x == y` are constraints, element by element with numpy's broadcasting, to be given to `Model.add`.

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

    def reshape(self, *shape: int) -> VariableArray:
        try:
            return VariableArray(self.model, self.indices.reshape(shape))
        except ValueError as error:
            raise ModelError(f"{self.size} variables cannot be arranged in the shape {shape}") from error

    def of(self, values: Sequence[Any] | NDArray[Any]) -> Any:
        """The entries of a list with one entry per variable of the model (labels, say) that belong to this array, in its shape.

        >>> model = Model()
        >>> x, y = model.variables(2, values=[1, 2]), model.variables(2, values=["a", "b"])
        >>> x.of([1, 2, "a", "b"]), y.of([1, 2, "a", "b"]), y[1].of([1, 2, "a", "b"])
        (array([1, 2]), array(['a', 'b'], dtype=object), 'b')
        """
        if len(values) != self.model.n:
            raise ModelError(f"the model has {self.model.n} variables, so it takes as many values, not {len(values)}")
        if self.ndim == 0:
            return values[int(self.indices)]
        picked = [values[i] for i in self.indices.ravel().tolist()]
        whole = all(isinstance(value, int | np.integer) for value in picked)
        return np.array(picked, dtype=None if whole else object).reshape(self.shape)

    def __getitem__(self, key: Any) -> VariableArray:
        if isinstance(key, VariableArray) or (isinstance(key, tuple) and any(isinstance(part, VariableArray) for part in key)):
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


@dataclass(frozen=True, eq=False, repr=False)
class Expression:
    """One or more constraints of a kind over variables of a model; they hold once `Model.add` has been given them."""

    model: Model
    kind: str
    scopes: Indices  # [G,size] variables
    shape: tuple[int, ...] = ()  # G constraints in the shape that elementwise comparison gave them
    parameters: Record = field(default_factory=dict)
    sign: int = 1  # -1: the opposite is wanted

    def records(self, weights: NDArray[np.float64] | None) -> Iterator[Record]:
        """Plain records, hard ones or with these weights [G]."""
        if weights is None:
            common: Record = {"kind": self.kind, **self.parameters, "weight": self.sign}
            yield from ({**common, "scope": scope} for scope in self.scopes.tolist())
        else:
            common = {"kind": self.kind, **self.parameters, "soft": True}
            weighted = zip(self.scopes.tolist(), (self.sign * weights).tolist(), strict=True)
            yield from ({**common, "scope": scope, "weight": weight} for scope, weight in weighted)

    def __len__(self) -> int:
        return len(self.scopes)

    def __bool__(self) -> bool:
        raise ModelError(
            f"a constraint ({self.kind}) is neither true nor false before solving: give it to model.add(...) by itself, "
            "not to `if`, `and`, `or`, `in` or a chain such as a != b != c"
        )

    def __repr__(self) -> str:
        if len(self) > 1:
            return f"<{self.kind}: {len(self)} constraints>"
        return f"<{self.kind}({', '.join(self.model.name(i) for i in self.scopes[0, :8].tolist())}{', ...' * (self.scopes.shape[1] > 8)})>"


Variables = VariableArray | Iterable[Any]  # arrays of variables, lists of such, lists of lists ...
Constraints = Expression | Iterable[Any]


def not_equal(x: VariableArray, y: VariableArray) -> Expression:
    """The variables of `x` and `y` differ, element by element: the same as `x != y`.

    >>> x = Model().variables((2, 3), values=range(4))
    >>> not_equal(x[0, 0], x[1])
    <not_equal: 3 constraints>
    """
    for array in (x, y):
        if not isinstance(array, VariableArray):
            raise ModelError(f"not_equal takes two arrays of variables, not {array!r}")
    return _pairs(x, y, sign=1)


def all_different(*variables: Variables) -> Expression:
    """No value twice among all these variables: one constraint, whatever shapes they come in.

    >>> x = Model().variables((3, 3), values=range(9), name="x")
    >>> all_different(x[0, :2], [x[1, 0], x[2, 2]])
    <all_different(x[0,0], x[0,1], x[1,0], x[2,2])>
    """
    return constraint("all_different", *variables)


def cardinality(
    variables: Variables, value: Label, *, exactly: int | None = None, at_least: int | None = None, at_most: int | None = None
) -> Expression:
    """So many of the variables take `value`: exactly, at least or at most (one of the three).

    >>> x = Model().variables(4, values=["early", "late"], name="x")
    >>> cardinality(x, "late", at_most=2)
    <cardinality(x[0], x[1], x[2], x[3])>
    """
    asked = [(compare, count) for compare, count in (("==", exactly), (">=", at_least), ("<=", at_most)) if count is not None]
    if len(asked) != 1:
        raise ModelError("cardinality takes exactly one of exactly=, at_least= and at_most=")
    (compare, count) = asked[0]
    return constraint("cardinality", variables, value=value, count=count, compare=compare)


def constraint(name: str, *variables: Variables, **parameters: Any) -> Expression:
    """One constraint of any kind by its name, with the kind's own parameters; values are given by their labels.

    >>> x = Model().variables(3, values=["a", "b"], name="x")
    >>> constraint("cardinality", x, value="b", count=1, compare=">=")
    <cardinality(x[0], x[1], x[2])>
    """
    cls = kind(name)
    model, scope = _scope(name, variables)
    for key in parameters:
        if key not in cls.parameters:
            raise UnknownNameError(f"{name} parameter", key, cls.parameters)
    record = cls.translate(parameters, lambda label, _: model._value_for(scope, label))
    cls.checked({**record, "scope": scope.tolist()})
    return Expression(model, name, scope[None], parameters=record)


def _scope(name: str, variables: Iterable[Any]) -> tuple[Model, Indices]:
    """All variables in nested lists and arrays, [size], none of them twice, and the one model they belong to."""
    arrays = list(_arrays(name, variables))
    if not arrays or not sum(array.size for array in arrays):
        raise ModelError(f"{name}: no variables given")
    model = arrays[0].model
    for array in arrays:
        model._own(array)
    scope = np.concatenate([array.indices.ravel() for array in arrays])
    if len(set(scope.tolist())) < len(scope):
        unique, counts = np.unique(scope, return_counts=True)
        raise ModelError(f"{name}: {model.name(int(unique[counts > 1][0]))} is given twice")
    return model, scope


def _arrays(name: str, variables: Iterable[Any]) -> Iterator[VariableArray]:
    for item in variables:
        if isinstance(item, VariableArray):
            yield item
        elif isinstance(item, Iterable) and not isinstance(item, str | Expression):
            yield from _arrays(name, item)
        else:
            raise ModelError(f"{name} takes variables, not {item!r}")


def _pairs(x: VariableArray, y: VariableArray, sign: int) -> Expression:
    """`x != y` (or with sign -1 `x == y`), element by element."""
    x.model._own(y)
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


@dataclass(frozen=True)
class _Array:
    """What was asked for in one call of `Model.variables`."""

    name: str
    shape: tuple[int, ...]
    values: frozenset[int]

    def label(self, index: tuple[int, ...]) -> str:
        return f"{self.name}[{','.join(map(str, index))}]" if index else self.name


class Model:
    """A problem in the making. Mistakes raise `ModelError` at the line that makes them.

    Constraints are hard unless added with `soft=`; the weighted violations of soft ones are minimised.

    >>> model = Model()
    >>> x = model.variables((9, 9), values=range(1, 10), name="x")
    >>> for i in range(9):
    ...     model.add(all_different(x[i, :]), all_different(x[:, i]))
    >>> model.add(all_different(x[r : r + 3, c : c + 3]) for r in (0, 3, 6) for c in (0, 3, 6))
    >>> model.fix(x[0, 0], 5)
    >>> model
    <Model: 81 variables, 27 constraints>
    """

    def __init__(self) -> None:
        self._labels: dict[Label, int] = {}
        self._arrays: list[_Array] = []
        self._names: set[str] = set()
        self._starts: list[int] = []
        self._domain: NDArray[np.bool_] = np.zeros((0, 0), dtype=np.bool_)  # [>=n, >=m], grown in leaps
        self._given: Indices = np.zeros(0, dtype=np.int64)  # [>=n]
        self._added: list[tuple[Expression, NDArray[np.float64] | None]] = []
        self._n = 0

    @property
    def n(self) -> int:
        """Number of variables."""
        return self._n

    @property
    def m(self) -> int:
        """Number of different values of all variables together."""
        return len(self._labels)

    @property
    def value_labels(self) -> tuple[Label, ...]:
        """What the values are called, in order of appearance."""
        return tuple(self._labels)

    # --- variables --------------------------------------------------------------------------------------------

    def variables(self, shape: int | Sequence[int] = (), *, values: Iterable[Label], name: str | None = None) -> VariableArray:
        """New variables in an array of that shape, each with the same values to choose from (see `restrict`).

        Values are whole numbers or strings. Different calls may have different values; equal ones are the same value.

        >>> model = Model()
        >>> model.variables((2, 2), values=["red", "green"], name="x")[1, 0]
        x[1,0]
        >>> model.variables(values=["green", "blue"], name="y").shape, model.value_labels
        ((), ('red', 'green', 'blue'))
        """
        dims, labels = _shape(shape), _unique_labels(values)
        size, fresh = prod(dims), [label for label in labels if label not in self._labels]
        check_size(self.n + size, self.m + len(fresh))
        name = self._new_name(name)
        self._labels |= {label: self.m + i for i, label in enumerate(fresh)}
        start, self._n = self.n, self.n + size
        self._domain = _grown(self._domain, (self.n, self.m), False)
        self._given = _grown(self._given, (self.n,), -1)
        allowed = [self._labels[label] for label in labels]
        self._domain[start : self.n, allowed] = True
        self._arrays.append(_Array(name, dims, frozenset(allowed)))
        self._starts.append(start)
        return VariableArray(self, np.arange(start, self.n).reshape(dims))

    def restrict(self, variables: VariableArray, values: Iterable[Label]) -> None:
        """Let the variables take no other values than these.

        >>> model = Model()
        >>> x = model.variables(3, values=range(5))
        >>> model.restrict(x[0], [1, 2])
        >>> model.compile().domain[0].int().tolist()
        [0, 1, 1, 0, 0]
        """
        allowed = np.zeros(self.m, dtype=np.bool_)
        allowed[self._known(values)] = True
        self._narrow(variables, allowed)

    def forbid(self, variables: VariableArray, values: Iterable[Label]) -> None:
        """Rule out values of the variables.

        >>> model = Model()
        >>> x = model.variables(3, values=range(5))
        >>> model.forbid(x[1:], [0])
        >>> model.compile().domain[:, 0].tolist()
        [True, False, False]
        """
        allowed = np.ones(self.m, dtype=np.bool_)
        allowed[self._known(values)] = False
        self._narrow(variables, allowed)

    def fix(self, variables: VariableArray, values: Any, *, blank: Label | None = None) -> None:
        """Give variables their values: one for all, or an array that fits their shape, in which None and `blank` leave free.

        >>> model = Model()
        >>> x = model.variables((2, 2), values=range(1, 5), name="x")
        >>> model.fix(x[0, 0], 3)
        >>> model.fix(x, [[0, 4], [0, 0]], blank=0)
        >>> model.compile().given.tolist()
        [2, 3, -1, -1]
        >>> model.fix(x[0, 1], 1)
        Traceback (most recent call last):
        ...
        consformer.errors.ModelError: x[0,1] is fixed to 4 already, not 1
        """
        self._own(variables)
        if isinstance(values, VariableArray):
            raise ModelError("fix takes values, not variables; for equal variables use model.add(x == y)")
        try:
            wanted = np.broadcast_to(np.asarray(values, dtype=object), variables.shape)
        except ValueError as error:
            raise ModelError(f"values of that shape do not fit variables of shape {variables.shape}") from error
        given: dict[int, int] = {}
        for variable, entry in zip(variables.indices.ravel().tolist(), wanted.ravel().tolist(), strict=True):
            if entry is not None and (blank is None or entry != blank):
                given[variable] = self._value_to_fix(variable, entry, given.get(variable, int(self._given[variable])))
        self._given[list(given)] = list(given.values())

    def name(self, variable: int) -> str:
        """What a variable is called, by its number.

        >>> model = Model()
        >>> x = model.variables((2, 3), values=range(5), name="x")
        >>> model.name(4)
        'x[1,1]'
        """
        at = bisect_right(self._starts, variable) - 1
        array = self._arrays[at]
        return array.label(tuple(int(i) for i in np.unravel_index(variable - self._starts[at], array.shape)))

    def labels(self, assignment: Sequence[int] | Indices | torch.Tensor) -> list[Label]:
        """The values of an assignment (value indices, one per variable) as the labels they were given with.

        >>> model = Model()
        >>> x = model.variables((1, 2), values=["red", "green"])
        >>> x.of(model.labels([1, 0]))
        array([['green', 'red']], dtype=object)
        """
        values = np.asarray(assignment)
        if values.shape != (self.n,) or not np.issubdtype(values.dtype, np.integer) or values.min() < 0 or values.max() >= self.m:
            raise ModelError(f"an assignment is {self.n} value indices in 0..{self.m - 1}, not {assignment!r}")
        labels = self.value_labels
        return [labels[value] for value in values.tolist()]

    # --- constraints ------------------------------------------------------------------------------------------

    def add(self, *constraints: Constraints, soft: ArrayLike | None = None) -> None:
        """Add constraints, also lists of them; hard ones, or with `soft` ones that may be violated at that cost.

        `soft` is a weight per unit of violation, or for `x != y` on arrays an array of weights. A negative weight on
        `x != y` asks for the opposite, as in MAXCUT with negative edges.

        >>> model = Model()
        >>> x = model.variables(3, values=[0, 1])
        >>> model.add(x[0] == x[2])
        >>> model.add(x[:2] != x[1:], soft=[2.5, -1])
        >>> [(record["scope"], record["weight"], record.get("soft", False)) for record in model.compile().constraints[0].records()]
        [([0, 2], -1.0, False), ([0, 1], 2.5, True), ([1, 2], -1.0, True)]
        """
        expressions = list(_expressions(constraints))
        for expression in expressions:
            if expression.model is not self:
                raise ModelError(f"{expression!r} is about variables of another model")
        self._added += [(expression, None if soft is None or soft is False else _weights(expression, soft)) for expression in expressions]

    def compile(self, *, family: str = "csp", info: Mapping[str, Any] | None = None) -> CSP:
        """The problem as arrays. The model can be changed and compiled again afterwards.

        Positions are array indices; with several arrays the number of the array comes first and short ones are padded with 0.

        >>> model = Model()
        >>> x = model.variables((2, 2), values=range(3), name="x")
        >>> csp = model.compile()
        >>> csp.variable_labels, csp.positions.tolist()
        (('x[0,0]', 'x[0,1]', 'x[1,0]', 'x[1,1]'), [[0, 0], [0, 1], [1, 0], [1, 1]])
        """
        if self.n == 0:
            raise ModelError("the model has no variables")
        records = [record for expression, weights in self._added for record in expression.records(weights)]
        return CSP(
            domain=torch.from_numpy(self._domain[: self.n, : self.m].copy()),
            given=torch.from_numpy(self._given[: self.n].copy()),
            positions=torch.from_numpy(self._positions()),
            constraints=compile_records(records),
            value_labels=self.value_labels,
            variable_labels=tuple(array.label(index) for array in self._arrays for index in np.ndindex(array.shape)),
            family=family,
            info={"arrays": {array.name: list(array.shape) for array in self._arrays}} if info is None else dict(info),
        )

    def __repr__(self) -> str:
        return f"<Model: {self.n} variables, {sum(len(expression) for expression, _ in self._added)} constraints>"

    # --- behind the scenes ------------------------------------------------------------------------------------

    def _positions(self) -> Indices:
        several = len(self._arrays) > 1
        positions = np.zeros((self.n, several + max(len(array.shape) for array in self._arrays) or 1), dtype=np.int64)
        for number, (array, start) in enumerate(zip(self._arrays, self._starts, strict=True)):
            rows = positions[start : start + prod(array.shape)]
            rows[:, : int(several)] = number
            rows[:, several : several + len(array.shape)] = np.argwhere(np.ones(array.shape, dtype=np.bool_))
        return positions

    def _new_name(self, name: str | None) -> str:
        if name is None:
            number = len(self._arrays) + 1
            while (name := "x" if number == 1 else f"x{number}") in self._names:
                number += 1
        if not isinstance(name, str) or not name or "[" in name:
            raise ModelError(f"a name must be a text without '[', not {name!r}")
        if name in self._names:
            raise ModelError(f"there are variables named {name!r} already")
        self._names.add(name)
        return name

    def _own(self, variables: object) -> None:
        if not isinstance(variables, VariableArray):
            raise ModelError(f"expected variables of this model, not {variables!r}")
        if variables.model is not self:
            raise ModelError(f"{variables!r} belongs to another model")

    def _known(self, values: Iterable[Label]) -> list[int]:
        labels = _unique_labels(values)
        for label in labels:
            if label not in self._labels:
                raise ModelError(f"{label!r} is not a value of this model: {_listed(self._labels)}")
        return [self._labels[label] for label in labels]

    def _value_for(self, scope: Indices, label: object) -> int:
        """The index of a value that a constraint speaks of, which at least one of its variables must have been made with."""
        value = self._labels.get(_label(label))
        arrays = {bisect_right(self._starts, variable) - 1 for variable in scope.tolist()}
        if value is None or not any(value in self._arrays[at].values for at in arrays):
            offered = sorted(frozenset[int]().union(*(self._arrays[at].values for at in arrays)))
            raise ModelError(f"{label!r} is not a value of these variables: {_listed([self.value_labels[i] for i in offered])}")
        return value

    def _value_to_fix(self, variable: int, entry: object, before: int) -> int:
        label = _label(entry)
        value = self._labels.get(label)
        if value is None or not self._domain[variable, value]:
            raise ModelError(f"{self.name(variable)} cannot be {label!r}: its values are {self._domain_of(variable)}")
        if before not in (-1, value):
            raise ModelError(f"{self.name(variable)} is fixed to {self.value_labels[before]!r} already, not {label!r}")
        return value

    def _narrow(self, variables: VariableArray, allowed: NDArray[np.bool_]) -> None:
        self._own(variables)
        flat = variables.indices.ravel()
        left = self._domain[flat, : self.m] & allowed
        given = self._given[flat]
        empty, lost = ~left.any(1), (given >= 0) & ~allowed[given]
        if empty.any():
            variable = int(flat[empty.argmax()])
            raise ModelError(f"{self.name(variable)} would have no value left: its values are {self._domain_of(variable)}")
        if lost.any():
            at = int(lost.argmax())
            raise ModelError(f"{self.name(int(flat[at]))} is fixed to {self.value_labels[given[at]]!r}, which would be ruled out")
        self._domain[flat, : self.m] = left

    def _domain_of(self, variable: int) -> str:
        return _listed([label for label, value in self._labels.items() if self._domain[variable, value]])


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


def _shape(shape: int | Sequence[int]) -> tuple[int, ...]:
    dims = (shape,) if isinstance(shape, int | np.integer) else shape
    if not isinstance(dims, Sequence) or not all(isinstance(size, int | np.integer) and size > 0 for size in dims):
        raise ModelError(f"a shape must be a whole number from 1 or a tuple of such, not {shape!r}")
    return tuple(int(size) for size in dims)


def _expressions(constraints: Iterable[Any]) -> Iterator[Expression]:
    for item in constraints:
        if isinstance(item, Expression):
            yield item
        elif isinstance(item, Iterable) and not isinstance(item, str | VariableArray):
            yield from _expressions(item)
        else:
            raise ModelError(f"expected a constraint such as all_different(x) or x != y, not {item!r}")


def _weights(expression: Expression, soft: ArrayLike) -> NDArray[np.float64]:
    """[G] weights of the constraints of an expression."""
    try:
        weights = np.broadcast_to(np.asarray(soft, dtype=np.float64), expression.shape).reshape(-1)
    except (TypeError, ValueError) as error:
        raise ModelError(f"soft must be a weight or an array of weights of shape {expression.shape}, not {soft!r}") from error
    signed = kind(expression.kind).signed
    wrong = ~((np.abs(weights) <= MAX_WEIGHT) & (weights != 0) & (signed | (weights > 0)))
    if wrong.any():
        allowed = "other than 0" if signed else "above 0"
        raise ModelError(f"{expression.kind}: a weight must be a number {allowed}, not {weights[wrong.argmax()]:g}")
    return weights


def _grown(array: NDArray[Any], shape: tuple[int, ...], fill: Any) -> NDArray[Any]:
    """The array, or when it is too small a larger copy: leaps keep adding variables one by one linear in time."""
    if all(have >= want for have, want in zip(array.shape, shape, strict=True)):
        return array
    room = [have if have >= want else max(want, 2 * have) for have, want in zip(array.shape, shape, strict=True)]
    larger = np.full(room, fill, array.dtype)
    larger[tuple(slice(size) for size in array.shape)] = array
    return larger


def _listed(labels: Iterable[Label]) -> str:
    shown = [repr(label) for label in labels]
    return ", ".join(shown if len(shown) <= 12 else [*shown[:10], "...", shown[-1]])

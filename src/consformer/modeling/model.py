"""`Model`: a problem in the making, from its first variable to the compiled `CSP`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from consformer.constraints import compile_records
from consformer.csp import CSP, Label
from consformer.errors import ModelError
from consformer.modeling.expressions import Expression, Weights
from consformer.modeling.statements import flattened
from consformer.modeling.table import Indices, Table
from consformer.modeling.variables import VariableArray, check_owner

Constraints = Expression | Iterable[Any]  # also lists of them, lists of lists ...


class Model:
    """A problem in the making. Mistakes raise `ModelError` at the line that makes them.

    Constraints are hard unless added with `soft=`; the weighted violations of soft ones are minimised.

    >>> from consformer import Model, all_different
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
        self._table = Table()
        self._added: list[tuple[Expression, Weights | None]] = []  # with the weights of soft ones

    @property
    def n(self) -> int:
        """Number of variables."""
        return self._table.n

    @property
    def m(self) -> int:
        """Number of different values of all variables together."""
        return self._table.m

    @property
    def value_labels(self) -> tuple[Label, ...]:
        """What the values are called, in order of appearance."""
        return self._table.value_labels

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
        return VariableArray(self, self._table.append(shape, values, name))

    def restrict(self, variables: VariableArray, values: Iterable[Label]) -> None:
        """Let the variables take no other values than these.

        >>> model = Model()
        >>> x = model.variables(3, values=range(5))
        >>> model.restrict(x[0], [1, 2])
        >>> model.compile().domain[0].int().tolist()
        [0, 1, 1, 0, 0]
        """
        check_owner(self, variables)
        self._table.narrow(variables.indices.ravel(), values, keep=True)

    def forbid(self, variables: VariableArray, values: Iterable[Label]) -> None:
        """Rule out values of the variables.

        >>> model = Model()
        >>> x = model.variables(3, values=range(5))
        >>> model.forbid(x[1:], [0])
        >>> model.compile().domain[:, 0].tolist()
        [True, False, False]
        """
        check_owner(self, variables)
        self._table.narrow(variables.indices.ravel(), values, keep=False)

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
        check_owner(self, variables)
        if isinstance(values, VariableArray):
            raise ModelError("fix takes values, not variables; for equal variables use model.add(x == y)")
        try:
            wanted = np.broadcast_to(np.asarray(values, dtype=object), variables.shape)
        except ValueError as error:
            raise ModelError(f"values of that shape do not fit variables of shape {variables.shape}") from error
        entries = zip(variables.indices.ravel().tolist(), wanted.ravel().tolist(), strict=True)
        self._table.fix((variable, label) for variable, label in entries if label is not None and (blank is None or label != blank))

    def name(self, variable: int) -> str:
        """What a variable is called, by its number.

        >>> model = Model()
        >>> x = model.variables((2, 3), values=range(5), name="x")
        >>> model.name(4)
        'x[1,1]'
        """
        return self._table.name(variable)

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
        expressions = list(flattened(constraints, Expression, "expected a constraint such as all_different(x) or x != y"))
        for expression in expressions:
            if expression.model is not self:
                raise ModelError(f"{expression!r} is about variables of another model")
        self._added += [(expression, None if soft is None or soft is False else expression.weights(soft)) for expression in expressions]

    def compile(self, *, family: str = "csp", info: Mapping[str, Any] | None = None) -> CSP:
        """The problem as arrays. The model can be changed and compiled again afterwards.

        Positions are array indices; with several arrays the number of the array comes first and short ones are padded with 0.

        >>> model = Model()
        >>> x = model.variables((2, 2), values=range(3), name="x")
        >>> csp = model.compile()
        >>> csp.variable_labels, csp.positions.tolist()
        (('x[0,0]', 'x[0,1]', 'x[1,0]', 'x[1,1]'), [[0, 0], [0, 1], [1, 0], [1, 1]])
        """
        table = self._table
        if table.n == 0:
            raise ModelError("the model has no variables")
        return CSP(
            domain=torch.from_numpy(table.domain.copy()),
            given=torch.from_numpy(table.given.copy()),
            positions=torch.from_numpy(table.positions),
            constraints=compile_records(record for expression, weights in self._added for record in expression.records(weights)),
            value_labels=table.value_labels,
            variable_labels=table.variable_labels,
            family=family,
            info={"arrays": {block.name: list(block.shape) for block in table.blocks}} if info is None else dict(info),
        )

    def __repr__(self) -> str:
        return f"<Model: {self.n} variables, {sum(len(expression) for expression, _ in self._added)} constraints>"

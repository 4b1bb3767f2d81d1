"""What a constraint is before it is part of a model: an `Expression`, made by comparing variables or by a statement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consformer.constraints import Record, kind
from consformer.constraints.base import MAX_WEIGHT
from consformer.errors import ModelError
from consformer.modeling.table import Indices

if TYPE_CHECKING:
    from consformer.modeling.model import Model

Weights = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Expression:
    """One or more constraints of a kind over variables of a model; they hold once `Model.add` has been given them."""

    model: Model
    kind: str
    scopes: Indices  # [G,size] variables
    shape: tuple[int, ...] = ()  # G constraints in the shape that elementwise comparison gave them
    parameters: Record = field(default_factory=dict)
    sign: int = 1  # -1: the opposite is wanted

    def weights(self, soft: ArrayLike) -> Weights:
        """[G] checked weights: one for all, or an array of the shape of the comparison."""
        try:
            weights = np.broadcast_to(np.asarray(soft, dtype=np.float64), self.shape).reshape(-1)
        except (TypeError, ValueError) as error:
            raise ModelError(f"soft must be a weight or an array of weights of shape {self.shape}, not {soft!r}") from error
        signed = kind(self.kind).signed
        wrong = ~((np.abs(weights) <= MAX_WEIGHT) & (weights != 0) & (signed | (weights > 0)))
        if wrong.any():
            allowed = "other than 0" if signed else "above 0"
            raise ModelError(f"{self.kind}: a weight must be a number {allowed}, not {weights[wrong.argmax()]:g}")
        return weights

    def records(self, weights: Weights | None) -> Iterator[Record]:
        """Plain records: soft ones with these weights [G], or hard ones."""
        common: Record = {"kind": self.kind, **self.parameters, "soft": weights is not None}
        signed = self.sign * (np.ones(len(self)) if weights is None else weights)
        for scope, weight in zip(self.scopes.tolist(), signed.tolist(), strict=True):
            yield {**common, "scope": scope, "weight": weight}

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
        names = [self.model.name(i) for i in self.scopes[0, :8].tolist()]
        return f"<{self.kind}({', '.join(names)}{', ...' * (self.scopes.shape[1] > 8)})>"

from __future__ import annotations

import numpy as np

from consformer import all_different
from tests.modeling.making import Act, Mistakes, each, made, records, refused


def test_equality_is_a_negative_weight() -> None:
    model, x = made(3, values=range(3))
    model.add(x[0] == x[1])
    model.add(x[1] == x[2], soft=2)
    assert [(r["weight"], r.get("soft", False)) for r in records(model)] == [(-1, False), (-2, True)]


def test_soft_takes_a_weight_per_constraint() -> None:
    model, x = made((2, 3), values=range(6))
    model.add(x[0] != x[1], soft=np.array([1.5, -1, 2]))
    model.add(x[0, 0] != x[0, 1], soft=True)
    model.add(x[0, 0] != x[0, 2], soft=False)
    assert [(r.get("weight", 1), r.get("soft", False)) for r in records(model)] == [
        (1.5, True),
        (-1, True),
        (2, True),
        (1, True),
        (1, False),
    ]


MISTAKES: Mistakes = {
    "truth of constraint": (lambda m, x: bool(x[0] != x[1]), "neither true nor false"),
    "chain": (lambda m, x: x[0, 0] != x[0, 1] != x[0, 2], "chain"),
    "weight zero": (lambda m, x: m.add(x[0] != x[1], soft=0), "other than 0"),
    "weight not a number": (lambda m, x: m.add(x[0] != x[1], soft="high"), "soft must be a weight"),
    "weight nan": (lambda m, x: m.add(x[0] != x[1], soft=float("nan")), "not nan"),
    "weight negative": (lambda m, x: m.add(all_different(x[0]), soft=-1), "above 0, not -1"),
    "weights of another shape": (lambda m, x: m.add(x[0] != x[1], soft=[1, 2]), r"shape \(3,\)"),
}


@each(MISTAKES)
def test_mistakes_raise_where_they_are_made(act: Act, message: str) -> None:
    refused(act, message)

"""Problems of no family: shown as a table of variables and values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from consformer.csp import CSP
from consformer.errors import ModelError
from consformer.families.base import Family, P, Params, by_name, entries
from consformer.families.drawing import View


class General(Family[P], registered=False):
    """Any CSP; it cannot be drawn at random and is built by `Model` or read from JSON."""

    name = "csp"
    params = Params  # type: ignore[assignment]

    def _draw(self, rng: np.random.Generator, count: int, params: P) -> list[CSP]:
        raise ModelError("general problems cannot be drawn at random; name a family")

    def _build(self, payload: Any, **options: Any) -> CSP:
        raise ModelError("a general problem is read from JSON, not built from something else")

    def fits(self, csp: CSP) -> bool:
        return True

    def view(self, csp: CSP, values: Sequence[int] | None = None) -> View:
        rows = [{"label": str(csp.name(index)), "cells": [[entry]]} for index, entry in enumerate(entries(csp, values))]
        return {"type": "table", "corner": "variable", "columns": ["value"], "rows": rows}

    def answer(self, csp: CSP, values: Sequence[int]) -> dict[str, Any]:
        return {"values": by_name(csp, values)}

    def pack(self, csp: CSP) -> Any:
        raise ModelError("general problems are not kept as data sets; write them as JSON")

    def unpack(self, data: Any) -> CSP:
        raise ModelError("general problems are not kept as data sets; read them from JSON")

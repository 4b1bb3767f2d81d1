"""Nurse rostering: who works in each slot of each shift of each day."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
import torch

from consformer.constraints.all_different import AllDifferent
from consformer.constraints.not_equal import NotEqual
from consformer.csp import CSP, check_size
from consformer.errors import ModelError
from consformer.families.base import Family, Params, entries, python_random, setting
from consformer.families.drawing import View

Shape = tuple[int, int, int, int]  # days, shifts, slots, nurses


@dataclass(frozen=True)
class NurseParams(Params):
    """How rosters are drawn."""

    days: tuple[int, int] = setting((10, 10), "range of the number of days")
    shifts: tuple[int, int] = setting((3, 3), "range of the number of shifts a day")
    slots: tuple[int, int] = setting((3, 3), "range of the number of nurses a shift needs")
    nurses: tuple[int, int] = setting((10, 10), "range of the number of nurses")

    def __post_init__(self) -> None:
        for item in fields(self):
            low, _ = getattr(self, item.name)
            if low < 1:
                raise ModelError(f"nurse parameter {item.name!r} must start from 1, not {low}")
        needed = max(self.shifts[1], 2) * self.slots[1]
        if self.nurses[0] < needed:
            raise ModelError(
                f"nurse: {self.shifts[1]} shifts of {self.slots[1]} slots need {needed} nurses or more, not {self.nurses[0]}: "
                "nobody works twice a day, nor in the first shift after a last one"
            )
        check_size(self.days[1] * self.shifts[1] * self.slots[1], self.nurses[1])


@lru_cache(maxsize=64)
def template(days: int, shifts: int, slots: int, nurses: int) -> CSP:
    """The empty roster: everybody at most once a day, and nobody in the last shift of a day and the first of the next.

    >>> csp = template(2, 3, 2, 7)
    >>> csp.n, csp.m, [len(constraint) for constraint in csp.constraints]
    (12, 7, [2, 4])
    """
    slot = torch.arange(days * shifts * slots).view(days, shifts, slots)
    late, early = slot[:-1, -1], slot[1:, 0]  # [days-1,slots]
    ends = torch.stack([late[:, :, None].expand(-1, -1, slots), early[:, None, :].expand(-1, slots, -1)], -1).reshape(-1, 2)
    daily, nightly = AllDifferent.of(slot.flatten(1)), NotEqual.of(ends)
    positions = torch.cartesian_prod(torch.arange(days), torch.arange(shifts), torch.arange(slots)).view(-1, 3)
    csp = CSP(
        domain=torch.ones(slot.numel(), nurses, dtype=torch.bool),
        given=torch.full((slot.numel(),), -1),
        positions=positions,
        constraints=(daily, nightly) if len(nightly) else (daily,),
        value_labels=tuple(range(1, nurses + 1)),
        variable_labels=_names(days, shifts, slots),
        family="nurse",
        info={"shape": [days, shifts, slots, nurses]},
    )
    _ = csp.graph, csp.soft_scale, csp.energy_weights  # made now, so that `with_given` hands them on
    return csp


def _names(days: int, shifts: int, slots: int) -> tuple[str, ...]:
    return tuple(f"day {d + 1} shift {s + 1} slot {p + 1}" for d in range(days) for s in range(shifts) for p in range(slots))


class Nurse(Family[NurseParams]):
    """Rosters in which every nurse has one fixed slot, by default the paper's 10 days of 3 shifts of 3 slots for 10 nurses.

    The fixed slots are taken from a random roster that keeps all rules, so there always is a solution.
    """

    name = "nurse"
    params = NurseParams

    def _draw(self, rng: np.random.Generator, count: int, params: NurseParams) -> list[CSP]:
        draw = python_random(rng)
        found = []
        for _ in range(count):
            shape = (draw.randint(*params.days), draw.randint(*params.shifts), draw.randint(*params.slots), draw.randint(*params.nurses))
            places: dict[int, list[int]] = {}
            for slot, nurse in enumerate(_roster(shape, draw)):
                places.setdefault(nurse, []).append(slot)
            given = [-1] * prod(shape[:3])
            for nurse, slots in places.items():  # who does not work at all has no slot to fix
                given[draw.choice(slots)] = nurse
            found.append(template(*shape).with_given(torch.tensor(given)))
        return found

    def _build(self, payload: Any, **options: Any) -> CSP:
        raise ModelError("a nurse roster is read from JSON, not built from something else")

    def fits(self, csp: CSP) -> bool:
        shape = csp.info.get("shape")
        if not isinstance(shape, list) or len(shape) != 4 or not all(isinstance(size, int) and size > 0 for size in shape):
            return False
        return csp.n == prod(shape[:3]) and csp.m == shape[3] and csp.variable_labels in (None, _names(*shape[:3]))

    def view(self, csp: CSP, values: Sequence[int] | None = None) -> View:
        days, shifts, slots, _ = csp.info["shape"]
        shown = entries(csp, values)
        cells = [shown[start : start + slots] for start in range(0, csp.n, slots)]
        rows = [{"label": str(day + 1), "cells": cells[day * shifts : (day + 1) * shifts]} for day in range(days)]
        return {"type": "table", "corner": "day", "columns": [f"shift {shift + 1}" for shift in range(shifts)], "rows": rows}

    def answer(self, csp: CSP, values: Sequence[int]) -> dict[str, Any]:
        labels = np.array(csp.value_labels, dtype=object)[np.array(values)]
        return {"roster": labels.reshape(csp.info["shape"][:3]).tolist()}

    def pack(self, csp: CSP) -> Any:
        return {"shape": csp.info["shape"], "fixed": [[slot, nurse] for slot, nurse in enumerate(csp.given.tolist()) if nurse >= 0]}

    def unpack(self, data: Any) -> CSP:
        blank = template(*data["shape"])
        given = blank.given.clone()
        for slot, nurse in data["fixed"]:
            given[slot] = nurse
        return blank.with_given(given)


def _roster(shape: Shape, draw: random.Random) -> list[int]:
    """A random roster that keeps all rules: the nurse of every slot."""
    days, shifts, slots, nurses = shape
    everyone = range(nurses)
    roster: list[int] = []
    tired: list[int] = []  # who worked in the last shift of the day before
    for _ in range(days):
        early = draw.sample([nurse for nurse in everyone if nurse not in tired], slots)
        later = draw.sample([nurse for nurse in everyone if nurse not in early], (shifts - 1) * slots)
        roster += early + later
        tired = roster[-slots:]
    return roster

"""How the share p of variables to update, and the temperature, change while solving."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from consformer.errors import ConsformerError


@dataclass(frozen=True)
class Moment:
    """Where a search is."""

    age: Tensor  # [I] iterations done on each instance
    progress: Tensor  # [I] from 0 to 1
    round: Tensor  # [K,I] how often each candidate was restarted, plus its own number
    spent: Tensor  # [K,I] iterations since each candidate was started
    free: Tensor  # [I] how many variables of each instance are free
    generator: torch.Generator


class Schedule(Protocol):
    """Numbers for the next iteration: [K,I]."""

    def __call__(self, moment: Moment) -> Tensor: ...


@dataclass(frozen=True)
class Fixed:
    """Always the same."""

    value: float

    def __call__(self, moment: Moment) -> Tensor:
        return torch.full(moment.round.shape, self.value)

    def __str__(self) -> str:
        return f"{self.value:g}"


@dataclass(frozen=True)
class Tapered:
    """The same share of up to so many variables, and of larger problems less: by the root of their size, as the best blocks do."""

    value: float
    until: int

    def __call__(self, moment: Moment) -> Tensor:
        return (self.value * (self.until / moment.free.clamp(min=self.until)).sqrt()).expand(moment.round.shape)

    def __str__(self) -> str:
        return f"{self.value:g}@{self.until}"


@dataclass(frozen=True)
class Drawn:
    """Uniformly random, anew for every candidate and iteration."""

    low: float
    high: float

    def __call__(self, moment: Moment) -> Tensor:
        return self.low + (self.high - self.low) * torch.rand(moment.round.shape, generator=moment.generator)

    def __str__(self) -> str:
        return f"{self.low:g}..{self.high:g}"


@dataclass(frozen=True)
class Annealed:
    """Geometrically from one number to another over the whole run (its iteration or time limit)."""

    start: float
    end: float

    def __call__(self, moment: Moment) -> Tensor:
        ratio = torch.tensor(self.end / self.start)
        return (self.start * ratio ** moment.progress.float()).expand(moment.round.shape)

    def __str__(self) -> str:
        return f"{self.start:g}->{self.end:g}"


@dataclass(frozen=True)
class Reheated:
    """One number, but another in every n-th iteration: shakes candidates that froze."""

    value: float
    hot: float
    every: int

    def __call__(self, moment: Moment) -> Tensor:
        return torch.where((moment.age + 1) % self.every == 0, self.hot, self.value).expand(moment.round.shape)

    def __str__(self) -> str:
        return f"{self.value:g}^{self.hot:g}/{self.every}"


@dataclass(frozen=True)
class Sawtooth:
    """Geometrically from one number to another within every n iterations of a candidate, again and again from each of its starts."""

    start: float
    end: float
    every: int

    def __call__(self, moment: Moment) -> Tensor:
        ratio = torch.tensor(self.end / self.start)
        return self.start * ratio ** ((moment.spent % self.every) / max(self.every - 1, 1))

    def __str__(self) -> str:
        return f"{self.start:g}->{self.end:g}/{self.every}"


@dataclass(frozen=True)
class InTurn:
    """One schedule until the candidate is restarted, then the next, and so on in a circle; a pool begins with all of them."""

    schedules: tuple[Schedule, ...]

    def __call__(self, moment: Moment) -> Tensor:
        each = torch.stack([schedule(moment) for schedule in self.schedules])  # [schedules,K,I]
        return each.gather(0, (moment.round % len(self.schedules))[None])[0]

    def __str__(self) -> str:
        return "|".join(map(str, self.schedules))


COLDEST = 1e-4  # logits at a lower temperature would outgrow the mark of values outside the domain
_NUMBER = r"(\d*\.?\d+(?:[eE][-+]?\d+)?)"
GRAMMAR = (
    "0.25 (fixed), 0.9@110 (a share of 0.9 of up to 110 variables, less of more: 0.45 of 440), 0.7..1 (drawn anew each time), "
    "0.5->0.1 (annealed over the run), 0.5->0.1/200 (annealed again in every 200 iterations since the candidate was started), "
    "0.25^1/25 (0.25, but 1 in every 25th iteration), "
    "or several of them as in 0.8|0.1 (the next one with every restart of a candidate)"
)


def parse_schedule(text: str | float, *, low: float = 1e-9, high: float = 1e4, what: str = "schedule", counts: bool = True) -> Schedule:
    """A schedule from its short form, with numbers from `low` to `high`; `counts`: they are shares of the variables, which may depend on
    their number.

    >>> str(parse_schedule(0.8)), str(parse_schedule("0.25^1/25|0.1"))
    ('0.8', '0.25^1/25|0.1')
    """
    parts = [_parse_one(part) for part in str(text).replace(" ", "").split("|")]
    found = [part for part in parts if part is not None]
    if len(found) < len(parts):
        raise ConsformerError(f"{what} {text!r} is not understood; it can be {GRAMMAR}")
    if not all(low <= number <= high for _, numbers in found for number in numbers):
        raise ConsformerError(f"{what} {text!r} is out of range: it must be from {low:g} to {high:g}")
    schedules = tuple(schedule for schedule, _ in found)
    if not counts and any(isinstance(schedule, Tapered) for schedule in schedules):
        raise ConsformerError(f"{what} {text!r}: what depends on the number of variables (@) is for p, the share of them that is updated")
    return schedules[0] if len(schedules) == 1 else InTurn(schedules)


def _parse_one(short: str) -> tuple[Schedule, list[float]] | None:
    """A schedule and the numbers it moves between."""
    if match := re.fullmatch(_NUMBER, short):
        value = float(match[1])
        return Fixed(value), [value]
    if match := re.fullmatch(rf"{_NUMBER}@([1-9]\d{{0,8}})", short):
        value = float(match[1])
        return Tapered(value, int(match[2])), [value]
    if match := re.fullmatch(rf"{_NUMBER}\.\.{_NUMBER}", short):
        low, high = float(match[1]), float(match[2])
        return Drawn(low, high), [low, high]
    if match := re.fullmatch(rf"{_NUMBER}->{_NUMBER}(?:/([1-9]\d{{0,8}}))?", short):
        start, end = float(match[1]), float(match[2])
        if not (start and end):  # no geometric way leads to or from 0
            return None
        return Sawtooth(start, end, int(match[3])) if match[3] else Annealed(start, end), [start, end]
    if match := re.fullmatch(rf"{_NUMBER}\^{_NUMBER}/([1-9]\d{{0,8}})", short):
        value, hot = float(match[1]), float(match[2])
        return Reheated(value, hot, int(match[3])), [value, hot]
    return None

"""How the share p of variables to update, and the temperature, change while solving."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from consformer.errors import ConsformerError


class Schedule(Protocol):
    """Numbers for the next iteration: age and progress (0..1) of each instance [I] -> [pool, I]."""

    def __call__(self, pool: int, age: Tensor, progress: Tensor, generator: torch.Generator) -> Tensor: ...


@dataclass(frozen=True)
class Fixed:
    """Always the same."""

    value: float

    def __call__(self, pool: int, age: Tensor, progress: Tensor, generator: torch.Generator) -> Tensor:
        return torch.full((pool, len(age)), self.value)

    def __str__(self) -> str:
        return f"{self.value:g}"


@dataclass(frozen=True)
class Drawn:
    """Uniformly random, anew for every candidate and iteration."""

    low: float
    high: float

    def __call__(self, pool: int, age: Tensor, progress: Tensor, generator: torch.Generator) -> Tensor:
        return self.low + (self.high - self.low) * torch.rand(pool, len(age), generator=generator)

    def __str__(self) -> str:
        return f"{self.low:g}..{self.high:g}"


@dataclass(frozen=True)
class Annealed:
    """Geometrically from one number to another over the whole run (its iteration or time limit)."""

    start: float
    end: float

    def __call__(self, pool: int, age: Tensor, progress: Tensor, generator: torch.Generator) -> Tensor:
        ratio = torch.tensor(self.end / self.start)
        return (self.start * ratio ** progress.float()).expand(pool, -1)

    def __str__(self) -> str:
        return f"{self.start:g}->{self.end:g}"


@dataclass(frozen=True)
class Reheated:
    """One number, but another in every n-th iteration: shakes candidates that froze."""

    value: float
    hot: float
    every: int

    def __call__(self, pool: int, age: Tensor, progress: Tensor, generator: torch.Generator) -> Tensor:
        return torch.where((age + 1) % self.every == 0, self.hot, self.value).expand(pool, -1)

    def __str__(self) -> str:
        return f"{self.value:g}^{self.hot:g}/{self.every}"


COLDEST = 1e-4  # logits at a lower temperature would outgrow the mark of values outside the domain
_NUMBER = r"(\d*\.?\d+(?:[eE][-+]?\d+)?)"
GRAMMAR = "0.25 (fixed), 0.7..1 (drawn anew each time), 0.5->0.1 (annealed over the run), 0.25^1/25 (0.25, but 1 in every 25th iteration)"


def parse_schedule(text: str | float, *, low: float = 1e-9, high: float = 1e4, what: str = "schedule") -> Schedule:
    """A schedule from its short form, with numbers from `low` to `high`.

    >>> str(parse_schedule(0.8)), str(parse_schedule("0.25^1/25"))
    ('0.8', '0.25^1/25')
    """
    short = str(text).replace(" ", "")
    schedule: Schedule
    if match := re.fullmatch(_NUMBER, short):
        schedule = Fixed(float(match[1]))
        numbers = [schedule.value]
    elif match := re.fullmatch(rf"{_NUMBER}\.\.{_NUMBER}", short):
        schedule = Drawn(float(match[1]), float(match[2]))
        numbers = [schedule.low, schedule.high]
    elif match := re.fullmatch(rf"{_NUMBER}->{_NUMBER}", short):
        schedule = Annealed(float(match[1]), float(match[2]))
        numbers = [schedule.start, schedule.end]
    elif match := re.fullmatch(rf"{_NUMBER}\^{_NUMBER}/([1-9]\d{{0,8}})", short):
        schedule = Reheated(float(match[1]), float(match[2]), int(match[3]))
        numbers = [schedule.value, schedule.hot]
    else:
        raise ConsformerError(f"{what} {text!r} is not understood; it can be {GRAMMAR}")
    if not all(low <= number <= high for number in numbers):
        raise ConsformerError(f"{what} {text!r} is out of range: it must be from {low:g} to {high:g}")
    return schedule

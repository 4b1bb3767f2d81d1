"""What a rival is: another way to solve the same problems, by a library of somebody else.

A rival is one small class in a file of this package; `RIVALS` in `baselines/__init__.py` lists them. They are asked in a process of their
own (`bench/apart.py`), and what they answer is looked at by the checker before anyone counts it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import ClassVar, Literal

from consformer.csp import CSP


@dataclass(frozen=True)
class Answer:
    """What a rival found."""

    values: Sequence[int] | None  # value indices
    proof: Literal["infeasible", "optimal"] | None = None
    way: tuple[tuple[float, float], ...] = ()  # (seconds, objective) of each improvement, where it tells them


@dataclass(frozen=True)
class Rival(ABC):
    """A solver; objects have settings, but no state, and can be pickled."""

    name: str  # as in a row
    title: str  # as in a table
    package: str  # on PyPI
    module: str  # that shows whether it is installed
    single: ClassVar[bool] = False  # it keeps one core busy, however many there are

    @property
    def missing(self) -> str | None:
        """What to tell where it is not installed."""
        try:
            there = find_spec(self.module) is not None
        except ModuleNotFoundError:  # not even the package that the module would be in
            there = False
        return None if there else f"not installed: pip install {self.package}"

    def declines(self, csp: CSP) -> str | None:
        """Why it is not asked for this problem; None: it is."""
        return None

    @abstractmethod
    def solve(self, csp: CSP, seconds: float, seed: int) -> Answer:
        """Its best within so many seconds, or as soon as there is nothing more to find."""

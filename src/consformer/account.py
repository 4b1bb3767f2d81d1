"""Who earned it: what each part of a solve cost and brought."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Proof:
    """That nothing better exists, and who says so."""

    of: Literal["infeasible", "optimal"]
    by: str
    words: str = ""  # what shows it, where that can be said in a line


@dataclass(frozen=True)
class Step:
    """A new best assignment."""

    seconds: float  # since the beginning
    part: str
    violations: int
    cost: float


@dataclass(frozen=True)
class PartAccount:
    """What one part cost and brought."""

    name: str
    seconds: float  # at work; of a part in another process or thread, how long it ran
    improvements: int  # how often it found the best so far
    finished: bool  # it found the final answer, or the proof
    note: str = ""  # how much it did, or why it did nothing


@dataclass(frozen=True)
class Account:
    """All parts, and the way to the answer."""

    parts: tuple[PartAccount, ...] = ()
    steps: tuple[Step, ...] = ()

    @property
    def winner(self) -> str | None:
        """The part that found the proof, or the best answer."""
        proof = next((part.name for part in self.parts if part.finished), None)
        return proof or (self.steps[-1].part if self.steps else None)

    @property
    def of_network_alone(self) -> bool:
        """Whether there was nothing but the network."""
        return [part.name for part in self.parts] == ["network"]

    def to_json(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        parts = [{**asdict(part), "seconds": round(part.seconds, 4)} for part in self.parts]
        return {"parts": parts, "steps": [{**asdict(step), "seconds": round(step.seconds, 4)} for step in self.steps]}

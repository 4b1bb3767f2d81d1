"""Who earned it: what each part of a solve cost and brought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from consformer.errors import ConsformerError


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
        """The part that found the final answer or the proof."""
        return next((part.name for part in self.parts if part.finished), None)

    def to_json(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        parts = [{**asdict(part), "seconds": round(part.seconds, 4)} for part in self.parts]
        return {"parts": parts, "steps": [{**asdict(step), "seconds": round(step.seconds, 4)} for step in self.steps]}


def plot(history: Sequence[tuple[float, int, float]], account: Account | None, title: str, path: Path) -> None:
    """Draw the best over time (seconds, violations, cost), coloured by who found it: violations, or the cost once nothing is violated."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ConsformerError('plots need matplotlib: pip install "consformer[plot]"') from error
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    finders = [step.part for step in account.steps] if account is not None else ["network"] * len(history)
    costs = [(seconds, cost, finder) for (seconds, violations, cost), finder in zip(history, finders, strict=True) if violations == 0]
    priced = len(costs) > 1 or any(cost for _, cost, _ in costs)  # something is to be optimised
    points = costs if priced else [(seconds, violations, finder) for (seconds, violations, _), finder in zip(history, finders, strict=True)]
    times = [max(seconds, 1e-3) for seconds, _, _ in points]
    axes.step(times, [height for _, height, _ in points], where="post", color="0.7", zorder=1)
    for place, name in enumerate(dict.fromkeys(finders)):
        own = [index for index, point in enumerate(points) if point[2] == name]
        axes.scatter([times[i] for i in own], [points[i][1] for i in own], s=28, color=f"C{place}", label=f"{name}: {len(own)}", zorder=2)
    axes.set_xscale("log")
    axes.set_xlabel("seconds")
    axes.set_ylabel("cost of the best" if priced else "violations of the best")
    axes.grid(alpha=0.3)
    if points:
        axes.legend(title="improvements by")
    axes.set_title(title, fontsize=9, wrap=True)
    figure.savefig(path, dpi=150)

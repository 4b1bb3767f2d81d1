"""Tables of benchmarks: what is in them, and how they look as Markdown and as JSON."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from consformer.evaluation.summary import Share, interval

NOTHING = "–"


@dataclass(frozen=True)
class Fixed:
    """A number that is shown with so many digits after the point.

    >>> print(Fixed(0.12345, 3))
    0.123
    """

    value: float
    digits: int = 2

    def __str__(self) -> str:
        return f"{self.value:,.{self.digits}f}"


@dataclass(frozen=True)
class Spread:
    """A figure of several numbers and the range that they, or half of them, lie in; one number has none.

    >>> print(Spread(0.5, 0.25, 1.0, 2), Spread(0.5, 0.5, 0.5, 2))
    0.50 [0.25–1.00] 0.50
    """

    value: float
    least: float
    most: float
    digits: int = 3

    def __str__(self) -> str:
        value, least, most = (f"{number:,.{self.digits}f}" for number in (self.value, self.least, self.most))
        return value if self.least == self.most else f"{value} [{least}–{most}]"


@dataclass(frozen=True)
class Percent:
    """A share solved, shown in per cent with its 95 % interval; `Share` itself also says of how many.

    >>> print(Percent(95, 100))
    95.0 [88.8–97.8]
    """

    solved: int
    count: int

    @property
    def bounds(self) -> tuple[float, float]:
        return interval(self.solved, self.count)

    def __str__(self) -> str:
        low, high = self.bounds
        return f"{100 * self.solved / max(self.count, 1):.1f} [{100 * low:.1f}–{100 * high:.1f}]"


@dataclass(frozen=True)
class Mean:
    """A mean with half of its 95 % interval (normal approximation; 0 where one number cannot tell).

    >>> print(Mean.of([1.0, 2.0, 3.0, 4.0]))
    2.5 ± 1.3
    """

    value: float
    half: float

    @staticmethod
    def of(numbers: Sequence[float]) -> Mean:
        half = 1.96 * statistics.stdev(numbers) / len(numbers) ** 0.5 if len(numbers) > 1 else 0.0
        return Mean(statistics.mean(numbers), half)

    def __str__(self) -> str:
        return f"{self.value:.1f} ± {self.half:.1f}"


Cell = str | int | Share | Percent | Fixed | Spread | Mean | None


@dataclass(frozen=True)
class Table:
    """A table: cells are numbers and shares, not yet text, so that JSON has the figures themselves."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""  # what one has to know to read it: limits, cores, what is published

    def __post_init__(self) -> None:
        for row in self.rows:
            assert len(row) == len(self.columns), (self.title, row)

    @property
    def filled(self) -> Table:
        """Without the columns that have nothing in them."""
        kept = [place for place in range(len(self.columns)) if place == 0 or any(row[place] is not None for row in self.rows)]
        columns = tuple(self.columns[place] for place in kept)
        return replace(self, columns=columns, rows=tuple(tuple(row[place] for place in kept) for row in self.rows))

    def text(self) -> list[list[str]]:
        """The cells as shown."""
        return [[show(cell) for cell in row] for row in self.rows]

    def markdown(self) -> str:
        """Without columns that have nothing in them.

        >>> print(Table("colours", ("solver", "gap %"), (("greedy", Fixed(1.5)), ("tabu", None)), "10 s each").markdown())
        **colours**
        <BLANKLINE>
        | solver | gap % |
        |---|---|
        | greedy | 1.50 |
        | tabu | – |
        <BLANKLINE>
        10 s each
        <BLANKLINE>
        """
        table = self.filled
        lines = [table.columns, *table.text()]
        head, *body = ["| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines]
        parts = [f"**{self.title}**", "\n".join([head, "|---" * len(table.columns) + "|", *body])]
        return "\n\n".join(parts + ([self.caption] if self.caption else [])) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Plain data: one entry per row, by column."""
        rows = [{name: plain(cell) for name, cell in zip(self.columns, row, strict=True)} for row in self.rows]
        return {"title": self.title, "columns": list(self.columns), "rows": rows, "caption": self.caption}


def show(cell: Cell) -> str:
    """A cell as people read it."""
    if cell is None:
        return NOTHING
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def plain(cell: Cell) -> Any:
    """A cell as data."""
    if isinstance(cell, Fixed):
        return cell.value
    if isinstance(cell, Spread):
        return {"value": cell.value, "range": [cell.least, cell.most]}
    if isinstance(cell, Mean):
        return {"mean": cell.value, "interval": [cell.value - cell.half, cell.value + cell.half]}
    if isinstance(cell, Share | Percent):
        share = Share(0, cell.solved, cell.count)
        return {"solved": share.solved, "count": share.count, "share": share.share, "interval": list(share.bounds)}
    return cell


def joined(tables: Sequence[Table]) -> str:
    """Several tables as one Markdown text."""
    return "\n".join(table.markdown() for table in tables)

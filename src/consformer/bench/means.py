"""Means with their intervals."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def half_interval(numbers: Sequence[float]) -> float:
    """Half of the 95 % interval of a mean (normal approximation); 0 where one number cannot tell.

    >>> round(half_interval([1.0, 2.0, 3.0, 4.0]), 3)
    1.265
    """
    return 1.96 * statistics.stdev(numbers) / len(numbers) ** 0.5 if len(numbers) > 1 else 0.0


def mean_told(numbers: Sequence[float]) -> str:
    """A mean as a cell of a table.

    >>> mean_told([1.0, 2.0, 3.0, 4.0])
    '2.5 ± 1.3'
    """
    return f"{statistics.mean(numbers):.1f} ± {half_interval(numbers):.1f}"

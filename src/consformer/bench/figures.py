"""Drawing the pictures of benchmarks: what they have in common, and writing them to files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from consformer.bench.base import Plot
from consformer.evaluation.summary import interval
from consformer.plots import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def save(plot: Plot, folder: Path) -> Path:
    """Draw it to a .png file of its name."""
    figure = new_figure(plot.size)
    plot.draw(figure)
    figure.suptitle(plot.title, fontsize=11)
    path = folder / f"{plot.name}.png"
    figure.savefig(path, dpi=150)
    return path


def share_curve(axes: Axes, costs: Sequence[float], count: int, end: float, *, label: str, color: str) -> None:
    """The share solved (of `count`) over what it cost, up to `end`, with a band: 95 % intervals."""
    xs = sorted(costs)
    steps = [*range(len(xs) + 1), len(xs)]
    xs = [min([*xs, end]) if not xs else xs[0], *xs, max([end, *xs])]
    shares = [solved / max(count, 1) for solved in steps]
    bounds = [interval(solved, count) for solved in steps]
    axes.step(xs, shares, where="post", color=color, label=label, linewidth=1.6)
    axes.fill_between(xs, [low for low, _ in bounds], [high for _, high in bounds], step="post", alpha=0.15, color=color, linewidth=0)

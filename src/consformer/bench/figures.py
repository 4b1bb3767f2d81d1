"""Drawing the pictures of benchmarks: what they have in common, and writing them to files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from consformer.bench.base import Plot
from consformer.evaluation.summary import interval
from consformer.plots import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EARLIEST = 1e-3  # seconds: what was there before is drawn there
OURS = {"hybrid": "#c1121f", "network": "#e07a1f", "local": "#b08900"}  # warm: ours; cold: everybody else
THEIRS = ("#1d3557", "#2a9d8f", "#457b9d", "#7b5ea7", "#6c757d", "#8ab17d", "#a8dadc")
BAND = 0.13  # how dense the colour of a band is
MOST_BANDS = 4  # in one panel
NETWORKS = ("#e07a1f", "#8f2d56", "#b08900", "#d98c8c")  # several of ours


def colour(variant: str, variants: Sequence[str]) -> str:
    """The colour of a curve: the same for the same solver in every picture that shows the same ones.

    >>> colour("hybrid", ["hybrid", "cpsat"]), colour("cpsat", ["hybrid", "cpsat"])
    ('#c1121f', '#1d3557')
    """
    if variant in OURS:
        return OURS[variant]
    ours = [name for name in variants if name.startswith("network:")]
    if variant in ours:
        return NETWORKS[(ours.index(variant) + ("network" in variants)) % len(NETWORKS)]
    theirs = [name for name in variants if name not in OURS and name not in ours]
    return THEIRS[theirs.index(variant) % len(THEIRS)]


def save(plot: Plot, folder: Path) -> Path:
    """Draw it to a .png file of its name."""
    figure = new_figure(plot.size)
    plot.draw(figure)
    figure.suptitle(plot.title, fontsize=11)
    path = folder / f"{plot.name}.png"
    figure.savefig(path, dpi=150)
    return path


def banded(variants: Sequence[str]) -> Sequence[str]:
    """Which of these curves have a band: all, or, where nobody could tell so many apart, our own and CP-SAT's."""
    return variants if len(variants) <= MOST_BANDS else [name for name in variants if name in (*OURS, "cpsat")]


def share_curve(
    axes: Axes, costs: Sequence[float], count: int, end: float, *, label: str, color: str, first: float = EARLIEST, band: bool = True
) -> None:
    """The share solved (of `count`) over what it cost, up to `end`, with a band: 95 % intervals."""
    found = sorted(max(cost, first) for cost in costs)
    xs = [first, *found, max([end, *found])]
    steps = [*range(len(found) + 1), len(found)]
    low, high = zip(*(interval(solved, count) for solved in steps), strict=True)
    axes.step(xs, [solved / max(count, 1) for solved in steps], where="post", color=color, label=label, linewidth=1.6)
    if band:
        axes.fill_between(xs, low, high, step="post", alpha=BAND, color=color, linewidth=0)
    top = max(high[-1] * 1.05, *([] if axes.get_autoscaley_on() else [axes.get_ylim()[1]]), 0.05)
    axes.set_ylim(0, min(top, 1.02))


def logarithmic(axes: Any, label: str, low: float, high: float) -> None:
    """A logarithmic axis to the right with plain numbers, and a quiet grid."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(label)
    quiet(axes)


def quiet(axes: Any) -> None:
    """Nothing in the picture that does not tell something."""
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def grid(figure: Any, panels: int) -> list[Any]:
    """Axes for so many panels: up to three side by side, four as two and two."""
    columns = _columns(panels)
    axes = list(figure.subplots(-(-panels // columns), columns, squeeze=False).flat)
    for spare in axes[panels:]:
        spare.remove()
    return axes[:panels]


def size_of(panels: int) -> tuple[float, float]:
    """Inches for such a picture with a legend below."""
    columns = _columns(panels)
    return max(6.0, 3.7 * columns), 1.2 + 2.7 * -(-panels // columns)


def _columns(panels: int) -> int:
    return 2 if panels == 4 else min(panels, 3)


def labelled(axes: Any) -> dict[str, Any]:
    """What a legend shows of these axes, by its words."""
    handles, labels = axes.get_legend_handles_labels()
    return dict(zip(labels, handles, strict=True))


def legend_below(figure: Any, entries: dict[str, Any]) -> None:
    """One legend for all panels, below them."""
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=min(3, len(entries)), fontsize=8, frameon=False)

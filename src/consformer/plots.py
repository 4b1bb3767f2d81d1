"""The way to an answer as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from consformer.errors import ConsformerError
from consformer.result import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EARLIEST = 1e-3  # seconds: what was found before is drawn there


def new_figure(size: tuple[float, float]) -> Figure:
    """An empty picture, so many inches wide and high."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ConsformerError('plots need matplotlib: pip install "consformer[plot]"') from error
    return Figure(figsize=size, layout="constrained")


def plot_way(result: Result, title: str, path: Path) -> None:
    """Draw the best over time, coloured by who found it: violations, or the objective once nothing is violated."""
    figure = new_figure((7, 4))
    from matplotlib.ticker import FuncFormatter

    label, points = way(result)
    axes = figure.add_subplot()
    times = [max(seconds, EARLIEST) for seconds, _, _ in points]
    heights = [height for _, height, _ in points]
    end = max([result.effort.seconds, *times, EARLIEST])
    if points:
        axes.step([*times, end], [*heights, heights[-1]], where="post", color="0.7", zorder=1)
    for place, finder in enumerate(dict.fromkeys(finder for _, _, finder in points)):
        own = [index for index, point in enumerate(points) if point[2] == finder]
        axes.scatter([times[i] for i in own], [heights[i] for i in own], s=28, color=f"C{place}", label=f"{finder} ({len(own)})", zorder=2)
    axes.set_xscale("log")
    axes.set_xlim(min([*times, end / 10]) / 1.3, end * 1.3)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda seconds, _: f"{seconds:g}"))
    axes.xaxis.set_minor_formatter(FuncFormatter(lambda seconds, _: ""))
    axes.set_xlabel("seconds")
    axes.set_ylabel(label)
    axes.grid(alpha=0.3)
    if points:
        axes.legend(title="improvements by")
    axes.set_title(title, fontsize=9, wrap=True)
    figure.savefig(path, dpi=150)


def way(result: Result) -> tuple[str, list[tuple[float, float, str]]]:
    """What is drawn: a name for the height, and (seconds, height, who found it)."""
    effort, csp = result.effort, result.csp
    finders = [step.part for step in effort.account.steps] if effort.account is not None else ["network"] * len(effort.history)
    steps = list(zip(effort.history, finders, strict=True))
    if csp.soft_weight and any(violations == 0 for (_, violations, _), _ in steps):
        priced = [
            (seconds, csp.offset - cost if csp.maximise else csp.offset + cost, who)
            for (seconds, violations, cost), who in steps
            if not violations
        ]
        return "objective of the best", priced
    return "violations of the best", [(seconds, violations, who) for (seconds, violations, _), who in steps]

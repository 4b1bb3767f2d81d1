"""What all commands of `consformer bench` share: their options, and running a benchmark from the first word to the last."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from consformer.cli.app import INTERRUPTED, app, busy, err, noting_ctrl_c, out

if TYPE_CHECKING:
    from consformer.bench import Benchmark, BenchRun, Plot, Table
    from consformer.bench.comparison import Comparison
    from consformer.evaluation import ProblemSet

bench = typer.Typer(help="Measure: tables and figures, each by one command.", no_args_is_help=True)
app.add_typer(bench, name="bench")

QuickOption = Annotated[bool, typer.Option("--quick", help="A small part with short limits: a look within three minutes.")]
CountOption = Annotated[int | None, typer.Option(min=1, help="A part of each set: so many problems.")]
SeedOption = Annotated[int, typer.Option(min=0, help="Of all searches.")]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FOLDER", help="Record every result there; the same command goes on with it.")
]
PlotOption = Annotated[Path | None, typer.Option("--plot", metavar="FOLDER", help="Draw the pictures into this folder (.png).")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the tables as one JSON document.")]
MarkdownOption = Annotated[bool, typer.Option("--markdown", help="Print the tables as Markdown.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress display.")]
JobsOption = Annotated[int, typer.Option(min=1, help="Units of work done at a time, each with its part of the cores.")]
VariantOption = Annotated[list[str] | None, typer.Option("--variant", help="Only this way to solve; may be repeated. Default: all.")]
NetworkOption = Annotated[
    list[str] | None,
    typer.Option("--network", help="A network to measure alone, beside the one that is chosen by itself; may be repeated."),
]
CoreMinutesOption = Annotated[
    float | None, typer.Option(min=0.001, help="Training of each network: minutes of one core. Default: 4 (quick: 0.1).")
]
TimeLimitOption = Annotated[float, typer.Option(min=0, help="Seconds for each problem and variant.")]


@dataclass(frozen=True)
class Shown:
    """Where results go: options that commands have in common, see `command`."""

    output: OutputOption = None
    plot: PlotOption = None
    as_json: JsonOption = False
    as_markdown: MarkdownOption = False
    quiet: QuietOption = False


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Make it a command of `consformer bench` that also has the options in `Shown`; it gets them together, as `shown`."""
    asked, common = (inspect.signature(each, eval_str=True) for each in (function, Shown))

    @wraps(function)
    def with_options(**given: Any) -> None:
        shown = Shown(**{name: given.pop(name) for name in common.parameters})
        function(**given, shown=shown)

    own = [parameter for parameter in asked.parameters.values() if parameter.name != "shown"]
    parameters = [*own, *common.parameters.values()]
    with_options.__signature__ = asked.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    bench.command()(with_options)
    return with_options


def run(make: Callable[[], Benchmark], shown: Shown, *, quick: bool = False, jobs: int = 1) -> None:
    """Run a benchmark to its end or until Ctrl-C, and show what it found; `make` prepares its problems."""
    from consformer.bench import BenchRun
    from consformer.bench.tables import joined
    from consformer.memory import keep_freed_memory

    keep_freed_memory()
    if shown.plot is not None:
        shown.plot.mkdir(parents=True, exist_ok=True)
    with busy("preparing problems"):
        started = BenchRun(make(), shown.output, quick=quick, jobs=jobs)
    waiting = len(started.waiting)
    err.print(f"{waiting} of {len(started.units)} to do, about {duration(started.seconds)} or less", style="dim")
    complete = _watch(started, show=not shown.quiet and err.is_terminal)
    tables = started.tables
    if shown.as_json:
        print(json.dumps({**started.about, "tables": [table.to_json() for table in tables]}))
    elif shown.as_markdown:
        print(joined(tables), end="")
    else:
        for table in tables:
            show_table(table)
    if shown.plot is not None:
        draw(started.plots, shown.plot)
    if not complete:
        err.print("interrupted" + ("" if shown.output is None else "; the same command goes on"))
        raise typer.Exit(INTERRUPTED)


def chosen_sets(names: Sequence[str], count: int | None) -> list[ProblemSet]:
    """Named sets, or a part of each: the same problems every time."""
    from consformer.evaluation import load_set

    found = [load_set(name) for name in names]
    return found if count is None else [problems.mixed(seed=0).first(count) for problems in found]


def variants_of(benchmark: type[Comparison], variants: Sequence[str] | None, networks: Sequence[str] | None) -> list[str]:
    """What is compared: the ways that were named, else all, and the networks that were named."""
    chosen = [*(variants or benchmark.ways), *(f"network:{name}" for name in networks or ())]
    for name in chosen:
        benchmark.way(name)  # refuses unknown ones before any work
    return chosen


def duration(seconds: float) -> str:
    """A time as one would say it.

    >>> duration(45), duration(600), duration(9000)
    ('45 seconds', '10 minutes', '2.5 hours')
    """
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def draw(plots: list[Plot], folder: Path) -> None:
    """Write pictures to a folder."""
    from consformer.bench.figures import save

    for plot in plots:
        err.print(str(save(plot, folder)), style="dim", markup=False, soft_wrap=True)


def show_table(table: Table) -> None:
    """A table on the terminal."""
    from rich.table import Table as Grid
    from rich.text import Text

    from consformer.bench.tables import NOTHING

    table = table.filled
    out.print(table.title, style="bold", markup=False)
    grid = Grid(box=None, pad_edge=False)
    texts = table.text()
    for place, name in enumerate(table.columns):
        numbers = place > 0 and all(text[place][:1].isdigit() or text[place] == NOTHING for text in texts)
        head = Text(name.replace(": ", ":\n").replace(", ", ",\n"))
        grid.add_column(head, justify="right" if numbers else "left", overflow="fold")
    for text in texts:
        grid.add_row(*map(Text, text))
    out.print(grid)
    if table.caption:
        out.print(table.caption, style="dim", markup=False)
    out.print()


def _watch(started: BenchRun, show: bool) -> bool:
    """Run to the end, or until Ctrl-C; says which."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with noting_ctrl_c() as interrupted, Progress(*columns, console=err, transient=True, disable=not show) as progress:
        done = len(started.units) - len(started.waiting)
        task = progress.add_task(started.benchmark.name, total=len(started.units), completed=done)
        for unit in started:
            progress.update(task, advance=1, description=f"{started.benchmark.name}: {unit}")
            if interrupted() and started.waiting:
                return False
    return True

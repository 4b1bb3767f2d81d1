"""`consformer evaluate`: what share of a set a network solves by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from consformer.cli.app import INTERRUPTED, app, busy, err, noting_ctrl_c, out
from consformer.cli.files import ColorsOption, FamilyOption, FormatOption, check_writable

if TYPE_CHECKING:
    from consformer.evaluation import Evaluation, ProblemSet, Summary


@app.command()
def evaluate(
    network: Annotated[str | None, typer.Argument(help="A shipped network (see `consformer models`) or a .safetensors file.")] = None,
    problems: Annotated[str | None, typer.Argument(metavar="SET", help="A named set (see --list), a file, or a folder of files.")] = None,
    count: Annotated[int | None, typer.Option(min=1, help="A part of the set: so many problems.")] = None,
    iterations: Annotated[int | None, typer.Option(min=1, help="Most iterations for each problem. Default: the set's.")] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(min=0, help="Most seconds for each problem, which are then solved one by one. Default: the set's, or 10."),
    ] = None,
    pool: Annotated[
        int | None, typer.Option(min=1, help="Candidates of each problem, refined side by side. Default: as the network likes it.")
    ] = None,
    p: Annotated[str | None, typer.Option(help="Share of variables updated in an iteration, as for solve. Default: the network's.")] = None,
    temperature: Annotated[str | None, typer.Option(help="Sampling temperature, as for solve. Default: the network's.")] = None,
    select: Annotated[str | None, typer.Option(help="Which variables are updated, as for solve. Default: the network's.")] = None,
    redraw: Annotated[str | None, typer.Option(help="Chance of redrawing, as for solve. Default: the network's.")] = None,
    decode: Annotated[str | None, typer.Option(help="How values are taken: sample or greedy. Default: the network's.")] = None,
    restart: Annotated[int | None, typer.Option(help="When candidates without progress start anew, as for solve.")] = None,
    restarts: Annotated[str | None, typer.Option(help="What they become, as for solve. Default: the network's.")] = None,
    patience: Annotated[str | None, typer.Option(help="How the time until then changes, as for solve. Default: the network's.")] = None,
    depth: Annotated[int | None, typer.Option(min=1, help="How often the layers are gone through, as for solve.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the search.")] = 0,
    cpsat: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Also have CP-SAT solve each problem, with two workers and so many seconds.")
    ] = None,
    cpsat_from: Annotated[
        Path | None,
        typer.Option(metavar="RECORD", help="Take what CP-SAT did from a record of another network on the same set, of the same day."),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option(min=1, help="Processes that solve problems at the same time, each with its part of the cores."),
    ] = 1,
    workers: Annotated[
        int,
        typer.Option(min=1, help="Processes that race on each problem with seeds of their own, each with its part of the cores."),
    ] = 1,
    best_known: Annotated[
        Path | None,
        typer.Option(help="csv file with a column `instance` and one of `recommended`, `ub`: best objectives, or numbers of colours."),
    ] = None,
    where: Annotated[
        str | None, typer.Option(metavar="COLUMN=ENTRY", help="Only the files with this entry in the table of --best-known.")
    ] = None,
    files: Annotated[str | None, typer.Option(metavar="PATTERN", help="Only files of a folder with names like this, e.g. 'qwh-*'.")] = None,
    family: FamilyOption = None,
    format: FormatOption = None,
    colors: ColorsOption = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Record every result in this .jsonl file; the same command goes on with it.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the share solved to this file (.png, .svg, .pdf).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as one JSON document.")] = False,
    list_sets: Annotated[bool, typer.Option("--list", help="List the named sets and exit.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress display.")] = False,
) -> None:
    """Measure what share of a set of problems a network solves by itself, by iteration and by second.

    No other solver helps. Shares come with 95 % confidence intervals. With --output it can be interrupted and resumed.

    [bold]Examples[/]
      consformer evaluate any sudoku --count 200 --iterations 200
      consformer evaluate any coloring-5-50 --cpsat 10 -o c5.jsonl --plot c5.png
      consformer evaluate strict-maxcut graphs --best-known best_known.csv
    """
    from consformer.errors import ConsformerError
    from consformer.evaluation import Evaluation, Limits, Rival, load_set, set_names
    from consformer.evaluation.sets import describe
    from consformer.evaluation.summary import Summary
    from consformer.evaluation.summary import plot as draw
    from consformer.memory import keep_freed_memory

    if list_sets:
        for name in set_names():
            out.print(f"{name:<18} {describe(name)}", markup=False, soft_wrap=True)
        return
    if network is None or problems is None:
        raise ConsformerError("name a network and a set: consformer evaluate any sudoku. See consformer evaluate --help")
    for path in (output, plot):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            check_writable(path)
    keep_freed_memory()
    options = {key: value for key, value in (("family", family), ("format", format), ("colors", colors)) if value is not None}
    with busy(f"preparing {problems}"):
        chosen = load_set(problems, count=count, best_known=best_known, where=where, files=files, **options)
    if iterations is None and time_limit is None:
        iterations, time_limit = chosen.iterations, chosen.seconds
        time_limit = 10.0 if iterations is None and time_limit is None else time_limit
    limits = Limits(iterations, time_limit, pool, p, temperature, select, redraw, decode, restart, restarts, patience, depth, seed)
    if cpsat_from is not None and cpsat is None:
        raise ConsformerError("--cpsat-from needs --cpsat with the seconds that CP-SAT had")
    rival = None if cpsat is None else Rival(cpsat, cpsat_from)
    evaluation = Evaluation(chosen, network, limits, output, rival, jobs, workers)
    complete = _watch(evaluation, show=not quiet and err.is_terminal)
    summary = Summary(evaluation.rows, timed=time_limit is not None)
    title = f"{evaluation.header['network']} on {chosen.name}"
    if as_json:
        print(json.dumps({"evaluation": evaluation.header} | summary.to_json()))
    else:
        _report(title, chosen, summary)
    if plot is not None:
        draw(summary, title, plot)
    if not complete:
        then = "" if output is None else "; the same command goes on"
        err.print(f"interrupted after {len(summary.rows)} of {len(chosen.problems)} problems{then}")
        raise typer.Exit(INTERRUPTED)


def _watch(evaluation: Evaluation, show: bool) -> bool:
    """Run to the end, or until Ctrl-C; says which."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    total = len(evaluation.problems.problems)
    with noting_ctrl_c() as interrupted, Progress(*columns, console=err, transient=True, disable=not show) as progress:
        task = progress.add_task("CP-SAT", total=total)
        for measured in evaluation.measure_rival():
            progress.update(task, completed=measured)
            if interrupted():
                return False
        progress.update(task, description="evaluating", completed=len(evaluation.rows))
        if len(evaluation.rows) < total:
            for _row in evaluation:
                solved = sum(row.solved for row in evaluation.rows)
                progress.update(task, completed=len(evaluation.rows), description=f"{solved} solved")
                if interrupted():
                    break
    return len(evaluation.rows) == total


def _report(title: str, problems: ProblemSet, summary: Summary) -> None:
    from rich.table import Table

    out.print(title + (f": {problems.description}" if problems.description else ""), style="bold", markup=False, soft_wrap=True)
    gaps = list(summary.gaps())
    for name, count, gap in gaps:
        out.print(f"gap to the best known, {name}: {gap:.3f} % ({count} problems)", markup=False)
    if gaps:  # an assignment that breaks nothing is no feat then
        return
    out.print(f"solved {summary.total}", markup=False)
    rival, ratio = summary.cpsat(), summary.against_cpsat()
    if rival is not None:
        out.print(f"CP-SAT {rival}" + (f"; network over CP-SAT {ratio:.3f}" if ratio is not None else ""), markup=False)
    for unit, shares in (("iterations", summary.by_iteration()), ("seconds", summary.by_second() if summary.timed else [])):
        if shares:
            table = Table("within " + unit, "solved", box=None, pad_edge=False)
            for share in shares:
                table.add_row(f"{share.mark:g}", str(share).replace("[", r"\["))
            out.print(table)

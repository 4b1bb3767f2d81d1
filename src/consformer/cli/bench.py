"""`consformer bench`: tables and figures, each by one command."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from consformer.cli.app import INTERRUPTED, app, busy, err, noting_ctrl_c, out

if TYPE_CHECKING:
    from consformer.bench.search import Line, SearchBench

bench = typer.Typer(help="Measure: tables and figures, each by one command.", no_args_is_help=True)
app.add_typer(bench, name="bench")


@bench.command()
def search(
    sets: Annotated[
        list[str], typer.Argument(metavar="SET...", help="Named sets (see `consformer evaluate --list`), files or folders of problems.")
    ],
    variants: Annotated[
        list[str] | None,
        typer.Option(
            "--variant",
            help="hybrid, network, local, cpsat (two workers), cpsat-6 (with six times the seconds), or without-PART. "
            "May be repeated. Default: all but cpsat-6.",
        ),
    ] = None,
    count: Annotated[int | None, typer.Option(min=1, help="A part of each set: so many problems.")] = None,
    time_limit: Annotated[float, typer.Option(min=0, help="Seconds for each problem and variant.")] = 10.0,
    quick: Annotated[
        bool, typer.Option("--quick", help="Four problems of each set, one second each: a look within three minutes.")
    ] = False,
    best_known: Annotated[
        Path | None, typer.Option(help="csv file with a column `instance` and one of `recommended`, `ub`, for sets that are folders.")
    ] = None,
    where: Annotated[str | None, typer.Option(metavar="COLUMN=ENTRY", help="Only the files with this entry in --best-known.")] = None,
    most: Annotated[int | None, typer.Option(metavar="N", help="Only problems with up to so many variables.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of all searches.")] = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Record every result in this folder; the same command goes on with it.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the tables as JSON, one document per set.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables as Markdown.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress display.")] = False,
) -> None:
    """Which part of the search earns its keep: network, local search and CP-SAT alone, all parts together, and all but one.

    All variants get the same problems, cores and seconds, one after the other on each problem. With --output it can be interrupted
    and continued.

    [bold]Examples[/]
      consformer bench search coloring-5-50 nurse-10 --quick
      consformer bench search coloring-10-200 --variant hybrid -o results
      consformer bench search dimacs --best-known best_known.csv --most 999
    """
    from consformer.bench.search import USUAL, VARIANTS, SearchBench, lines, markdown
    from consformer.errors import UnknownNameError
    from consformer.evaluation import load_set
    from consformer.memory import keep_freed_memory

    for name in variants or ():
        if name not in VARIANTS:
            raise UnknownNameError("variant", name, list(VARIANTS))
    keep_freed_memory()
    seconds, count = (1.0, min(count or 4, 4)) if quick else (time_limit, count)
    benches = []
    for name in sets:
        with busy(f"preparing {name}"):
            problems = load_set(name, best_known=best_known if Path(name).exists() else None, where=where)
            problems = problems.up_to(most) if most is not None else problems
            problems = problems.sample(count, seed=0) if count is not None else problems
        benches.append(SearchBench(problems, variants or USUAL, seconds, seed, output))
    longest = sum(len(each) for each in benches) * seconds / 60
    err.print(f"at most {longest:.0f} minutes", style="dim")
    complete = True
    for each in benches:
        complete = complete and _watch(each, show=not quiet and err.is_terminal)
        found = lines(each.record.rows, seconds)
        if as_json:
            print(json.dumps({"set": each.problems.name, "seconds": seconds, "lines": [asdict(line) for line in found]}))
        elif as_markdown:
            print(markdown(f"{each.problems.name}, {seconds:g} s", found))
        else:
            _report(f"{each.problems.name}, {seconds:g} s each", found)
    if not complete:
        err.print("interrupted" + ("" if output is None else "; the same command goes on"))
        raise typer.Exit(INTERRUPTED)


def _watch(bench: SearchBench, show: bool) -> bool:
    """Run to the end, or until Ctrl-C; says which."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with noting_ctrl_c() as interrupted, Progress(*columns, console=err, transient=True, disable=not show) as progress:
        done = sum(row["variant"] in bench.variants for row in bench.record.rows)
        task = progress.add_task(bench.problems.name, total=len(bench), completed=done)
        if done < len(bench):
            bench.warm_up()
        for row in bench:
            progress.update(task, advance=1, description=f"{bench.problems.name}: {row['label']}, {row['variant']}")
            if interrupted():
                return False
    return True


def _report(title: str, found: list[Line]) -> None:
    from rich.table import Table
    from rich.text import Text

    from consformer.bench.search import COLUMNS

    out.print(title, style="bold", markup=False)
    table = Table(*COLUMNS, box=None, pad_edge=False)
    for line in found:
        table.add_row(*map(Text, line.cells()))
    out.print(table)

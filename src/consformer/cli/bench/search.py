"""`consformer bench search`: which part of the search earns its keep."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from consformer.cli.bench.shared import (
    CountOption,
    JsonOption,
    MarkdownOption,
    OutputOption,
    QuickOption,
    QuietOption,
    SeedOption,
    Shown,
    TimeLimitOption,
    bench,
    run,
    variants_of,
)

if TYPE_CHECKING:
    from consformer.bench import Benchmark


@bench.command()
def search(
    sets: Annotated[
        list[str], typer.Argument(metavar="SET...", help="Named sets (see `consformer evaluate --list`), files or folders of problems.")
    ],
    variants: Annotated[
        list[str] | None,
        typer.Option(
            "--variant",
            help="hybrid, network, local, cpsat (two workers), cpsat-6 (with six times the seconds), tabucol (gcol's, for colourings), "
            "with-network (the hybrid with the network), or without-PART. May be repeated. Default: all but cpsat-6, tabucol, "
            "without-network and without-repair.",
        ),
    ] = None,
    count: CountOption = None,
    time_limit: TimeLimitOption = 10.0,
    quick: QuickOption = False,
    best_known: Annotated[
        Path | None, typer.Option(help="csv file with a column `instance` and one of `recommended`, `ub`, for sets that are folders.")
    ] = None,
    where: Annotated[str | None, typer.Option(metavar="COLUMN=ENTRY", help="Only the files with this entry in --best-known.")] = None,
    most: Annotated[int | None, typer.Option(metavar="N", help="Only problems with up to so many variables.")] = None,
    seed: SeedOption = 0,
    output: OutputOption = None,
    as_json: JsonOption = False,
    as_markdown: MarkdownOption = False,
    quiet: QuietOption = False,
) -> None:
    """Which part of the search earns its keep: network, local search and CP-SAT alone, all parts together, and all but one.

    All variants get the same problems, cores and seconds, one after the other on each problem. With --output it can be interrupted
    and continued. --quick: four problems of each set, one second each.

    [bold]Examples[/]
      consformer bench search coloring-5-50 nurse-10 --quick
      consformer bench search coloring-10-200 --variant hybrid -o results
      consformer bench search dimacs --best-known best_known.csv --most 999
    """
    from consformer.bench.search import SearchBench
    from consformer.evaluation import load_set

    chosen = variants_of(SearchBench, variants or SearchBench.usual, None)
    seconds, count = (1.0, min(count or 4, 4)) if quick else (time_limit, count)

    def make() -> Benchmark:
        found = []
        for name in sets:
            problems = load_set(name, best_known=best_known if Path(name).exists() else None, where=where)
            problems = problems.up_to(most) if most is not None else problems
            found.append(problems.mixed(seed=0).first(count) if count is not None else problems)
        known = best_known is not None and any(Path(name).exists() for name in sets)
        part = {"--best-known": best_known.name if best_known and known else None, "--where": where, "--most": most}
        told = " ".join(f"{option} {value}" for option, value in part.items() if value is not None)
        return SearchBench(found, chosen, seconds, seed, told)

    run(make, Shown(output, None, as_json, as_markdown, quiet), quick=quick)

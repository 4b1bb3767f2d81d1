"""`consformer bench maxcut`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from consformer.cli.bench.shared import (
    NetworkOption,
    QuickOption,
    SeedOption,
    Shown,
    TimeLimitOption,
    VariantOption,
    command,
    run,
    variants_of,
)

if TYPE_CHECKING:
    from consformer.bench import Benchmark


@command
def maxcut(
    graphs: Annotated[Path | None, typer.Option(help="Folder with the graphs of Gset. Default: gset/graphs in $CONSFORMER_DATA.")] = None,
    best_known: Annotated[
        Path | None,
        typer.Option(help="csv file with the columns `instance` and `recommended`. Default: gset/best_known.csv in $CONSFORMER_DATA."),
    ] = None,
    where: Annotated[
        str | None, typer.Option(metavar="COLUMN=ENTRY", help="Only the graphs with this entry in --best-known, such as weights=+1.")
    ] = None,
    most: Annotated[int | None, typer.Option(metavar="N", help="Only graphs with up to so many vertices.")] = None,
    count: Annotated[int | None, typer.Option(min=1, help="So many of the graphs.")] = None,
    variants: VariantOption = None,
    networks: NetworkOption = None,
    time_limit: TimeLimitOption = 180.0,
    quick: QuickOption = False,
    seed: SeedOption = 0,
    *,
    shown: Shown,
) -> None:
    """MAXCUT on Gset: gap to the best known cut, by size of the graph and over time.

    Variants: hybrid, network, local, cpsat, greedy, goemans-williamson (up to 1,000 vertices), dwave-tabu (up to 5,000), dwave-annealing.
    Graphs with weights of both signs have a table of their own; G23, a name of two graphs, is left out. Graphs come in a random order,
    one of each size in turn: a run that was stopped has a fair sample, and one with a larger --count goes on with it. --quick: three
    graphs of up to 1,000 vertices, five seconds each.

    [bold]Examples[/]
      consformer bench maxcut --graphs gset/graphs --best-known gset/best_known.csv --quick
      consformer bench maxcut --where weights=+1 --most 2000 -o benchmarks/results/bench
    """
    from consformer.bench.data import GSET, GSET_BEST
    from consformer.bench.maxcut import AMBIGUOUS, MaxcutBench
    from consformer.evaluation import load_set

    folder, table = GSET.need(graphs), GSET_BEST.need(best_known)

    def make() -> Benchmark:
        problems = load_set(str(folder), best_known=table, where=where).with_best()
        largest = min(most or 1000, 1000) if quick else most
        problems = problems.up_to(largest) if largest is not None else problems
        problems = problems.mixed(seed=0, kind=MaxcutBench.group).without(AMBIGUOUS).first(3 if quick else count or len(problems.problems))
        return MaxcutBench([problems], variants_of(MaxcutBench, variants, networks), 5.0 if quick else time_limit, seed)

    run(make, shown, quick=quick)

"""`consformer bench multistart`: several candidates side by side."""

from __future__ import annotations

from typing import Annotated

import typer

from consformer.cli.bench.shared import (
    JobsOption,
    QuickOption,
    SeedOption,
    Shown,
    command,
    run,
)


@command
def multistart(
    sets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SET...]",
            help="coloring-5-50, -5-100, -10-100 or -10-200. Default: -5-100 and -10-200, as in the paper.",
        ),
    ] = None,
    network: Annotated[str, typer.Option(help="Name of a shipped network, or a file.")] = "any",
    pools: Annotated[list[int] | None, typer.Option("--pool", min=1, help="May be repeated. Default: 1, 2, 5, 10, 20, 50, 100.")] = None,
    count: Annotated[int, typer.Option(min=1, help="Graphs of each set.")] = 30,
    time_limit: Annotated[float, typer.Option(min=0, help="Seconds for each graph and pool.")] = 10.0,
    seed: SeedOption = 0,
    quick: QuickOption = False,
    jobs: JobsOption = 1,
    *,
    shown: Shown,
) -> None:
    """The paper's table on multi-start: pools of candidates refined together, all pools with the same time.

    More candidates are more chances, but fewer iterations of each. The table tells the share solved and the iterations; CP-SAT has the same
    time and cores. Pools take turns on each graph. --quick: six graphs of each set, one second.

    [bold]Examples[/]
      consformer bench multistart --quick --plot pictures
      consformer bench multistart coloring-10-200 --pool 1 --pool 100 --count 20
      consformer bench multistart --jobs 2 -o results --plot pictures
    """
    from consformer.bench.multistart import POOLS, USUAL, Multistart

    run(
        lambda: Multistart(network, sets=sets or USUAL, pools=pools or POOLS, count=count, seconds=time_limit, seed=seed, quick=quick),
        shown,
        quick=quick,
        jobs=jobs,
    )

"""`consformer bench selection`: how many variables to update at once."""

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
def selection(
    network: Annotated[str, typer.Option(help="Name of a shipped network, or a file.")] = "any",
    count: Annotated[int, typer.Option(min=1, help="Problems of each set, in portions of 50.")] = 100,
    iterations: Annotated[int, typer.Option(min=1, help="For each problem.")] = 500,
    seed: SeedOption = 0,
    quick: QuickOption = False,
    jobs: JobsOption = 1,
    *,
    shown: Shown,
) -> None:
    """The paper's figure on subsets: share solved against iterations for p = 1.0, 0.9, 0.7, 0.5, 0.3, 0.1.

    p is the chance of each variable to be updated in an iteration. At p = 1 everything is proposed anew at once, which is quick and may get
    stuck; small p keeps most of what is there. Boards with 31 to 42 givens, and graphs with 50 vertices and 5 colours, where CP-SAT says
    what can be solved at all. Iterations are counted, not seconds, so other work on the machine changes nothing but the duration.
    --quick: 20 problems of each set, 50 iterations.

    [bold]Examples[/]
      consformer bench selection --quick --plot pictures
      consformer bench selection --jobs 2 -o results --plot pictures
    """
    from consformer.bench.selection import Selection

    run(
        lambda: Selection(network, count=count, iterations=iterations, seed=seed, quick=quick),
        shown,
        quick=quick,
        jobs=jobs,
    )

"""`consformer bench positions`: what a network must be told of positions and relations."""

from __future__ import annotations

from typing import Annotated

import typer

from consformer.cli.bench.shared import (
    CoreMinutesOption,
    JobsOption,
    QuickOption,
    SeedOption,
    Shown,
    command,
    run,
)


@command
def positions(
    core_minutes: CoreMinutesOption = None,
    count: Annotated[int, typer.Option(min=1, help="Problems of each set.")] = 50,
    iterations: Annotated[int, typer.Option(min=1, help="For each problem.")] = 500,
    seed: SeedOption = 0,
    quick: QuickOption = False,
    jobs: JobsOption = 1,
    *,
    shown: Shown,
) -> None:
    """The paper's tables on position encodings: absolute (none, 1-D, 2-D) by relative ones (none, learned, mask).

    Absolute encodings (APE) tell the network the index of each variable, or its row and column; relative ones (RPE) which variables share a
    constraint. Nine networks learn Sudoku, six colouring with 5 colours.

    Networks are trained one after the other (--jobs 2: two at a time, each on its core) for --core-minutes of processor time each, and
    kept in the user's cache folder, so that the same budget is spent once. A second Ctrl-C does not wait for the training that is
    running: the same command goes on with it from its last checkpoint. The budget is ours, not the paper's, and tables say so.
    --quick: nine small networks learn 4×4 boards, 6 seconds each.

    [bold]Examples[/]
      consformer bench positions --quick
      consformer bench positions --jobs 2 -o results --plot pictures
    """
    from consformer.bench.positions import Positions

    run(
        lambda: Positions(core_minutes=core_minutes, count=count, iterations=iterations, seed=seed, quick=quick),
        shown,
        quick=quick,
        jobs=jobs,
    )

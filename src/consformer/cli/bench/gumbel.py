"""`consformer bench gumbel`: how logits become soft values in training."""

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
def gumbel(
    core_minutes: CoreMinutesOption = None,
    count: Annotated[int, typer.Option(min=1, help="Problems of each set.")] = 50,
    iterations: Annotated[int, typer.Option(min=1, help="For each problem.")] = 500,
    seed: SeedOption = 0,
    quick: QuickOption = False,
    jobs: JobsOption = 1,
    *,
    shown: Shown,
) -> None:
    """The paper's table on Gumbel-softmax: with noise (gumbel) or without (softmax), at τ = 0.1 and 1.

    The paper's penalty sees soft values. Gumbel noise makes them random, a small τ makes them nearly one value each. Four networks learn
    Sudoku, four colouring with 5 colours, four cuts; all are measured on harder or larger problems, too.

    Networks are trained one after the other (--jobs 2: two at a time, each on its core) for --core-minutes of processor time each, and
    kept in the user's cache folder, so that the same budget is spent once. A second Ctrl-C does not wait for the training that is
    running: the same command goes on with it from its last checkpoint. The budget is ours, not the paper's, and tables say so.
    --quick: four small networks learn 4×4 boards, 6 seconds each.

    [bold]Examples[/]
      consformer bench gumbel --quick
      consformer bench gumbel --jobs 2 -o results --plot pictures
    """
    from consformer.bench.gumbel import Gumbel

    run(
        lambda: Gumbel(core_minutes=core_minutes, count=count, iterations=iterations, seed=seed, quick=quick),
        shown,
        quick=quick,
        jobs=jobs,
    )

"""`consformer bench sgd`: gradient descent without a network."""

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
def sgd(
    network: Annotated[str, typer.Option(help="Name of a shipped network, or a file.")] = "any",
    count: Annotated[int, typer.Option(min=1, help="Boards for each number of missing cells, in portions of 50.")] = 100,
    steps: Annotated[int, typer.Option(min=1, help="Of gradient descent.")] = 10_000,
    seed: SeedOption = 0,
    quick: QuickOption = False,
    jobs: JobsOption = 1,
    *,
    shown: Shown,
) -> None:
    """The paper's table on direct gradient descent: satisfied constraints (of 27) of Sudoku boards, by missing cells.

    The logits of every empty cell are optimised on the paper's penalty, by plain gradient descent and by Adam, with no network; the network
    is measured on the same boards. --quick: ten boards each, 1,000 steps.

    [bold]Examples[/]
      consformer bench sgd --quick --plot pictures
      consformer bench sgd --jobs 2 -o results --plot pictures
    """
    from consformer.bench.sgd import Sgd

    run(
        lambda: Sgd(network, count=count, steps=steps, seed=seed, quick=quick),
        shown,
        quick=quick,
        jobs=jobs,
    )

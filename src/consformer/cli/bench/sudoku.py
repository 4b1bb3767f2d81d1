"""`consformer bench sudoku`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from consformer.cli.app import err
from consformer.cli.bench.shared import (
    JobsOption,
    QuickOption,
    SeedOption,
    Shown,
    command,
    run,
)

if TYPE_CHECKING:
    from consformer.bench import Benchmark


@command
def sudoku(
    rrn: Annotated[
        Path | None, typer.Option(help="csv file of boards with 17 to 34 givens. Default: sudoku/rrn_style.csv in $CONSFORMER_DATA.")
    ] = None,
    networks: Annotated[
        list[str] | None, typer.Option("--network", help="A network to measure; may be repeated. Default: any, squares and strict-sudoku.")
    ] = None,
    variants: Annotated[
        list[str] | None, typer.Option("--variant", help="hybrid, cpsat, or none. May be repeated. Default: hybrid and cpsat.")
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="Boards of each set.")] = 1000,
    iterations: Annotated[int, typer.Option(min=1, help="Most iterations of a network on each board.")] = 10_000,
    jobs: JobsOption = 1,
    quick: QuickOption = False,
    seed: SeedOption = 0,
    *,
    shown: Shown,
) -> None:
    """Sudoku: the share that networks solve within 100, 500, 2,000 and 10,000 iterations, in all and by number of givens.

    The hybrid and CP-SAT are measured on the same boards with 10 s each. --quick: 32 boards of each set, 200 iterations.

    [bold]Examples[/]
      consformer bench sudoku --quick
      consformer bench sudoku --rrn rrn_style.csv --jobs 2 -o benchmarks/results/bench --plot docs/results
    """
    from dataclasses import replace

    from consformer.bench.data import RRN
    from consformer.bench.sudoku import NETWORKS, TOGETHER, SudokuBench
    from consformer.errors import UnknownNameError
    from consformer.evaluation import load_set
    from consformer.training.checkpoint import load_network

    others = [name for name in variants or SudokuBench.ways if name != "none"]
    for name in others:
        if name not in SudokuBench.ways:
            raise UnknownNameError("variant", name, [*SudokuBench.ways, "none"])
    for name in networks or ():
        load_network(name)  # refuses unknown ones before any work
    hard = RRN.find(rrn)
    if hard is None:
        err.print(f"without boards of 17 to 34 givens: {RRN.option} is not given. {RRN.help}", style="dim", markup=False, soft_wrap=True)
    boards, most = (TOGETHER, 200) if quick else (count, iterations)

    def make() -> Benchmark:
        sets = [load_set("sudoku")]
        if hard is not None:
            sets.append(replace(load_set(str(hard)), name="rrn"))
        return SudokuBench([each.mixed(seed=0).first(boards) for each in sets], networks or NETWORKS, others, most, seed=seed)

    run(make, shown, quick=quick, jobs=jobs)

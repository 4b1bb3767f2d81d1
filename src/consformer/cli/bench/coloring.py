"""`consformer bench coloring`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from consformer.cli.bench.shared import (
    CountOption,
    NetworkOption,
    QuickOption,
    SeedOption,
    Shown,
    TimeLimitOption,
    VariantOption,
    chosen_sets,
    command,
    run,
    variants_of,
)

if TYPE_CHECKING:
    from consformer.bench import Benchmark


@command
def coloring(
    sets: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SET...]", help="coloring-5-50, coloring-5-100, coloring-10-100, coloring-10-200. Default: all four."),
    ] = None,
    variants: VariantOption = None,
    networks: NetworkOption = None,
    count: CountOption = None,
    time_limit: TimeLimitOption = 10.0,
    quick: QuickOption = False,
    seed: SeedOption = 0,
    *,
    shown: Shown,
) -> None:
    """Graph colouring: the paper's tables, with greedy colouring, CP-SAT in several ways and TabuCol beside the hybrid and the network.

    Variants: hybrid, network, cpsat (with six times the seconds), greedy-largest-first, greedy-dsatur, cpsat-fj, cpsat-random, tabucol.
    --quick: two graphs of each set, one second each.

    [bold]Examples[/]
      consformer bench coloring --quick
      consformer bench coloring -o benchmarks/results/bench --plot docs/results
      consformer bench coloring coloring-10-200 --variant hybrid --variant tabucol --count 50
    """
    from consformer.bench.coloring import SETS, ColoringBench
    from consformer.errors import UnknownNameError

    known = [name for group in SETS.values() for name in group]
    for name in sets or ():
        if name not in known:
            raise UnknownNameError("set", name, known)

    def make() -> Benchmark:
        found = chosen_sets(sets or known, 2 if quick else count)
        return ColoringBench(found, variants_of(ColoringBench, variants, networks), 1.0 if quick else time_limit, seed)

    run(make, shown, quick=quick)

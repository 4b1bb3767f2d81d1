"""`consformer bench nurse`."""

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
def nurse(
    sets: Annotated[
        list[str] | None, typer.Argument(metavar="[SET...]", help="nurse-10, nurse-20, nurse-60 (days). Default: all three.")
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
    """Nurse rostering: the hybrid, the network, local search and CP-SAT.

    Variants: hybrid, network, local, cpsat. --quick: three rosters of each set, two seconds each.

    [bold]Examples[/]
      consformer bench nurse --quick
      consformer bench nurse -o benchmarks/results/bench --plot docs/results
    """
    from consformer.bench.nurse import SETS, NurseBench
    from consformer.errors import UnknownNameError

    for name in sets or ():
        if name not in SETS:
            raise UnknownNameError("set", name, SETS)

    def make() -> Benchmark:
        found = chosen_sets(sets or list(SETS), 3 if quick else count)
        return NurseBench(found, variants_of(NurseBench, variants, networks), 2.0 if quick else time_limit, seed)

    run(make, shown, quick=quick)

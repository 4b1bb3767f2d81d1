"""`consformer bench speed`: how fast it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from consformer.cli.bench.shared import (
    QuickOption,
    Shown,
    command,
    run,
)


@command
def speed(
    network: Annotated[str, typer.Option(help="Name of a shipped network, or a file.")] = "any",
    graph: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="Also an iteration on this graph file, Gset's G81 for instance."),
    ] = None,
    quick: QuickOption = False,
    *,
    shown: Shown,
) -> None:
    """Iterations and training samples per second, scaling with vertices and edges, memory, cold start.

    What the matrix products of an iteration alone take is measured in the same run, as torch does them. Run it
    on a machine that does nothing else; the fastest and the slowest try are told with the median. --quick: fewer tries, and no graph
    with 100,000 vertices.

    [bold]Examples[/]
      consformer bench speed --quick
      consformer bench speed --graph G81.txt -o results --plot pictures
    """
    from consformer.bench.speed import Speed

    run(
        lambda: Speed(network, graph, quick=quick),
        shown,
        quick=quick,
    )

"""`consformer bench report`: all results as one document."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from consformer.cli.app import err
from consformer.cli.bench.shared import bench
from consformer.cli.files import check_writable, write_text


@bench.command()
def report(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where the records are, or folders of them: what --output was for the other commands.")
    ] = Path("benchmarks/results/bench"),
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Markdown file to write; pictures go to a folder of its name beside it.")
    ] = Path("results.md"),
    remarks: Annotated[
        Path | None, typer.Option(help="TOML file with a paragraph for each benchmark, by its name, to put above its tables.")
    ] = None,
) -> None:
    """Write all tables and pictures to a document, from the records alone. What was not measured yet is named with its command.

    [bold]Example[/]
      consformer bench report -o docs/results.md --remarks benchmarks/remarks.toml
    """
    from consformer.bench.report import report as write
    from consformer.errors import InputError

    if not folder.is_dir():
        raise InputError("there is no such folder; name the one that was --output of the other commands", source=folder)
    check_writable(output)
    write_text(output, write(folder, output.with_suffix(""), remarks))
    err.print(str(output), style="dim", markup=False, soft_wrap=True)

"""`consformer solve`: read problems, refine, show or write the checked answers."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from consformer.cli.app import INTERRUPTED, LIMIT_REACHED, SOLVED, app, err, out

if TYPE_CHECKING:
    from consformer.csp import CSP
    from consformer.result import Result
    from consformer.search.refine import Event
    from consformer.solving import Run

_SCHEDULE = "a number, or a schedule: 0.7..1 (drawn), 0.5->0.1 (annealed), 0.25^1/25 (1 in every 25th iteration)"


@app.command()
def solve(
    file: Annotated[str, typer.Argument(help="Problem file, or - for standard input. May hold many problems; they are solved together.")],
    family: Annotated[
        str | None, typer.Option(help="Read it as this family: sudoku, coloring, nurse, maxcut. Default: by the format.")
    ] = None,
    format: Annotated[str | None, typer.Option(help="File format. Default: recognised from the content.")] = None,
    colors: Annotated[int | None, typer.Option(help="Graph colouring: number of colours. Default: what greedy colouring needs.")] = None,
    network: Annotated[str, typer.Option(help="A shipped network (see `consformer models`) or a .safetensors file.")] = "any",
    pool: Annotated[int, typer.Option(help="Candidates of each problem, refined side by side.")] = 1,
    iterations: Annotated[int | None, typer.Option(help="Most iterations for each problem.")] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Most seconds for the whole call. Default: 10, unless --iterations is given.")
    ] = None,
    p: Annotated[str | None, typer.Option(help=f"Share of variables updated in an iteration: {_SCHEDULE}. Default: the network's.")] = None,
    temperature: Annotated[str | None, typer.Option(help="Sampling temperature; numbers and schedules as for --p.")] = None,
    decode: Annotated[str | None, typer.Option(help="How values are taken: sample or greedy.")] = None,
    restart: Annotated[int | None, typer.Option(help="A candidate without progress for so many iterations starts anew.")] = None,
    seed: Annotated[int, typer.Option(help="Seed: the same seed and --iterations give the same answer.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: one document, or one per line for many problems.")] = False,
    output: Annotated[Path | None, typer.Option(help="Also write the answers to this file (.json/.jsonl: as JSON, else as text).")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress display.")] = False,
) -> None:
    """Solve the problems of a file.

    Formats: Sudoku lines or csv, SATNet tensors, DIMACS .col graphs, Gset graphs, JSON of any CSP; recognised from the content.

    Exit codes: 0 solved, 2 wrong usage or bad input, 3 limit reached without a solution (the best attempt is given), 130 interrupted
    (likewise).

    Examples:
      consformer solve board.txt

      consformer solve graph.col --colors 5 --pool 8 --time-limit 30

      consformer solve boards.csv --iterations 200 --json > answers.jsonl
    """
    from consformer import formats
    from consformer.memory import keep_freed_memory
    from consformer.solving import refine

    keep_freed_memory()
    options = {} if colors is None else {"colors": colors}
    problems = formats.read_problems(file, family=family, format=format, **options)
    if output is not None:
        _check_writable(output)
    run = refine(
        problems,
        network=network,
        iterations=iterations,
        time_limit=time_limit,
        pool=pool,
        p=p,
        temperature=temperature,
        decode=decode,
        restart=restart,
        seed=seed,
    )
    interrupted = _watch(run, show=not quiet and err.is_terminal)
    results = run.results()
    _report(results, as_json)
    if output is not None:
        _write(output, results, as_json)
    if interrupted:
        err.print("interrupted: this is the best that was found until then")
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(SOLVED if all(result.solved for result in results) else LIMIT_REACHED)


def _watch(run: Run, show: bool) -> bool:
    """Let it run, with a progress line on a terminal; True when the user interrupted."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[note]}"))
    with Progress(*columns, console=err, transient=True, disable=not show) as progress:
        task = progress.add_task("solving", total=1.0, note="")
        try:
            for event in run:
                progress.update(task, completed=_done(event, run), note=_note(event, run.problems))
        except KeyboardInterrupt:
            return True
    return False


def _done(event: Event, run: Run) -> float:
    settings = run.refinement.settings
    shares = [event.finished / event.total]
    if settings.time_limit:
        shares.append(event.seconds / settings.time_limit)
    if settings.iterations and event.total == 1:
        shares.append(event.iteration / settings.iterations)
    return min(1.0, max(shares))


def _note(event: Event, problems: Sequence[CSP]) -> str:
    if event.total > 1:
        return f"{event.solved}/{event.total} solved, iteration {event.iteration}"
    csp = problems[0]
    if event.violations == 0 and event.cost:
        value = csp.offset - event.cost if csp.maximise else csp.offset + event.cost
        return f"iteration {event.iteration}, objective {value:g}"
    return f"iteration {event.iteration}, {event.violations} violated"


def _report(results: list[Result], as_json: bool) -> None:
    if as_json:
        for document in documents(results):
            print(json.dumps(document))
    elif len(results) == 1:
        from consformer.cli.show import show

        show(results[0].csp, results[0].assignment)
        out.print(headline(results[0]))
    else:
        from consformer.cli.show import short_answer

        for index, result in enumerate(results):
            out.print(f"{index:>5}  {headline(result)}  {short_answer(result.csp, result.assignment)}", soft_wrap=True, markup=False)
        solved = sum(result.solved for result in results)
        out.print(f"{solved} of {len(results)} solved ({100 * solved / len(results):.1f} %)")


def headline(result: Result) -> str:
    """One line: how it ended and what it took."""
    effort = result.effort
    parts = [result.status.upper()]
    if not result.solved:
        parts.append(f"{result.violations} violated")
    if result.objective is not None:
        parts.append(f"objective {result.objective:g}")
    iterations = f"{effort.iterations} iteration{'s' if effort.iterations != 1 else ''}"
    parts.append(f"{iterations}, {effort.seconds:.2f} s, network {effort.network}, seed {effort.seed}")
    return " · ".join(parts)


def documents(results: list[Result]) -> list[dict[str, Any]]:
    """The JSON documents of `--json`."""
    from consformer import families

    found = [result.to_json() | {"answer": families.of(result.csp).answer(result.csp, result.assignment)} for result in results]
    return found if len(found) == 1 else [{"index": index, **document} for index, document in enumerate(found)]


def _check_writable(path: Path) -> None:
    """Tell before solving, not after, that the answers cannot be written."""
    from consformer.errors import InputError

    folder = path.parent
    if path.is_dir():
        raise InputError("is a directory; --output must name a file", source=path)
    if not folder.is_dir():
        raise InputError(f"cannot be written: there is no folder {folder}", source=path)
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise InputError("cannot be written: no permission", source=path)


def _write(path: Path, results: list[Result], as_json: bool) -> None:
    from consformer.cli.show import short_answer
    from consformer.errors import InputError

    if as_json or path.suffix in (".json", ".jsonl"):
        lines = [json.dumps(document) for document in documents(results)]
    else:
        lines = [short_answer(result.csp, result.assignment) for result in results]
    try:
        path.write_text("".join(f"{line}\n" for line in lines))
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", source=path) from error

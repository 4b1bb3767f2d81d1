"""`consformer solve`: read problems, refine, show or write the checked answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from consformer.cli.app import INFEASIBLE, INTERRUPTED, LIMIT_REACHED, SOLVED, app, busy, err, noting_ctrl_c, out
from consformer.cli.files import ColorsOption, FamilyOption, FormatOption, check_writable, read_problems, write_text

if TYPE_CHECKING:
    from rich.table import Table

    from consformer.account import Account
    from consformer.csp import CSP
    from consformer.hybrid import HybridRun
    from consformer.result import Result
    from consformer.search.refine import Event
    from consformer.solving import Run

_SCHEDULE = (
    "a number, or a schedule: 0.9@110 (less of more than 110 variables), 0.7..1 (drawn), 0.5->0.1 (annealed), "
    "0.5->0.1/200 (again in every 200 iterations), 0.25^1/25 (0.25, but 1 in every 25th iteration), "
    "0.8|0.1 (the next with every restart)"
)


@app.command()
def solve(
    file: Annotated[str, typer.Argument(help="Problem file, or - for standard input. May hold many problems; they are solved together.")],
    family: FamilyOption = None,
    format: FormatOption = None,
    colors: ColorsOption = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="hybrid (propagation, backtracking, local search, a SAT solver and CP-SAT together; the network where there is no local "
            "search, or when it or one of its settings is named), or network, local or cpsat alone. Default: hybrid; network with "
            "--iterations and no --time-limit."
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            help="A part to leave out: propagation, backtracking, local (search), network, repair, sat (a SAT solver) or cpsat (CP-SAT). "
            "May be repeated."
        ),
    ] = None,
    network: Annotated[
        str | None,
        typer.Option(
            help="A shipped network (see `consformer models`), a .safetensors file, or auto: the shipped one that suits, as without this "
            "option. A network that is named takes part in the hybrid."
        ),
    ] = None,
    pool: Annotated[int | None, typer.Option(help="Candidates of each problem, refined side by side. Default: the network's.")] = None,
    iterations: Annotated[int | None, typer.Option(help="Most iterations for each problem.")] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Most seconds of search, for all problems together. Default: 10, unless --iterations is given.")
    ] = None,
    p: Annotated[str | None, typer.Option(help=f"Share of variables updated in an iteration: {_SCHEDULE}. Default: the network's.")] = None,
    temperature: Annotated[
        str | None, typer.Option(help="Sampling temperature; numbers and schedules as for --p. Default: the network's.")
    ] = None,
    select: Annotated[
        str | None,
        typer.Option(
            help="Which variables are updated: uniform (any, with chance p), conflicts (all in conflict, too), worst (the more violated "
            "the likelier), gradient (the more another value would gain), unsure (where the network was least sure), related (a connected "
            "region around a conflict), each of the last four also as NAME-top (no chance: the first p of them), or bandit (learns which "
            "pays). Default: the network's."
        ),
    ] = None,
    redraw: Annotated[
        str | None,
        typer.Option(
            help="Chance (or a schedule, as for --p) that the network sees random values of the variables it updates, as in training, "
            "not their present ones. Default: the network's.",
        ),
    ] = None,
    decode: Annotated[str | None, typer.Option(help="How values are taken: sample or greedy. Default: the network's.")] = None,
    restart: Annotated[
        int | None,
        typer.Option(
            help="A candidate without progress for so many iterations starts anew (later, in proportion, beyond 50 free variables)."
        ),
    ] = None,
    restarts: Annotated[
        str | None,
        typer.Option(
            help="What it becomes then: scratch (random), elite (a good earlier one, shaken), cross (two of them, crossed) or mixed. "
            "Default: the network's."
        ),
    ] = None,
    patience: Annotated[
        str | None,
        typer.Option(
            help="How --restart changes: fixed, luby (times 1, 1, 2, 1, 1, 2, 4, ..) or adaptive (at least twice the longest time without "
            "progress that ended well). Default: the network's."
        ),
    ] = None,
    depth: Annotated[
        int | None, typer.Option(help="How often the network goes through its layers: less is faster, more is cleverer. Default: its own.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed and --iterations give the same answer.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: one document, or one per line for many problems.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", readable=False, help="Also write the answers to this file (.json or .jsonl: as JSON, else as text)."
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the best found over time, and who found it, to this file (.png, .svg, .pdf); one problem.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress display.")] = False,
) -> None:
    """Solve the problems of a file: Sudoku, graphs, or any CSP as JSON.

    Ctrl-C ends the search and gives the best that was found until then.

    [bold]Examples[/]
      consformer solve board.txt
      consformer solve graph.col --colors 5 --time-limit 30 --plot way.png
      consformer solve graph.col --colors 5 --method network --pool 8
      consformer solve boards.csv --iterations 200 --json > answers.jsonl
      consformer generate nurse | consformer solve -

    [bold]Exit codes[/]
      0    every problem is solved
      2    wrong usage or bad input
      3    limit reached without a solution (the best attempt is given)
      4    proved: some problem has no solution, and all others are solved
      130  interrupted (likewise)
    """
    from consformer.errors import ConsformerError
    from consformer.hybrid import HybridRun
    from consformer.memory import keep_freed_memory
    from consformer.solving import start

    keep_freed_memory()
    problems = read_problems(file, family, format, colors)
    if output is not None:
        _check_output(output, file)
    if plot is not None:
        check_writable(plot)
        if plot.suffix not in (".png", ".svg", ".pdf"):
            raise ConsformerError(f"--plot writes .png, .svg or .pdf, not {plot.name}")
        if len(problems) > 1:
            raise ConsformerError(f"--plot draws the way to one answer; {file} holds {len(problems)} problems")
    run = start(
        problems,
        method=method,
        without=without or (),
        network=network,
        iterations=iterations,
        time_limit=time_limit,
        pool=pool,
        p=p,
        temperature=temperature,
        select=select,
        redraw=redraw,
        decode=decode,
        restart=restart,
        restarts=restarts,
        patience=patience,
        depth=depth,
        seed=seed,
    )
    for note in run.notes:
        err.print(note, markup=False, soft_wrap=True)
    if not quiet:
        run.tell = partial(err.print, markup=False, soft_wrap=True)
    with noting_ctrl_c() as interrupted:
        if isinstance(run, HybridRun):
            run.stopped = interrupted
        _watch(run, interrupted, show=not quiet and err.is_terminal)
        run.interrupted = interrupted()
        with busy("checking the answers"):
            results = run.results()
        _report(results, as_json)
        if output is not None:
            _write(output, results, as_json)
        if plot is not None:
            _draw(results[0], plot)
        waiting = sum(not result.effort.history and result.status == "unsolved" for result in results)
        if waiting and len(results) > 1 and not interrupted() and iterations != 0:
            err.print(f"time was over before {waiting} of {len(results)} problems had a turn: give more with --time-limit")
        if interrupted():
            err.print("interrupted: this is the best that was found until then")
            raise typer.Exit(INTERRUPTED)
    raise typer.Exit(exit_code(results))


def _watch(run: Run | HybridRun, interrupted: Callable[[], bool], show: bool) -> None:
    """Let it run until it ends or is interrupted, with a progress bar on a terminal."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[note]}"))
    with Progress(*columns, console=err, transient=True, disable=not show) as progress:
        task = progress.add_task("solving", total=1.0, note="")
        for event in run:
            progress.update(task, completed=_done(event, run), note=_note(event, run.problems))
            if interrupted():
                break


def _done(event: Event, run: Run | HybridRun) -> float:
    time_limit, iterations = run.limits
    shares = [event.finished / event.total]
    if time_limit:
        shares.append(event.seconds / time_limit)
    if iterations and event.total == 1:
        shares.append(event.iteration / iterations)
    return min(1.0, max(shares))


def exit_code(results: Sequence[Result]) -> int:
    """What the command ends with."""
    if any(result.status == "unsolved" for result in results):
        return LIMIT_REACHED
    return INFEASIBLE if any(result.status == "infeasible" for result in results) else SOLVED


def _draw(result: Result, path: Path) -> None:
    from consformer.plots import plot_way

    plot_way(result, headline(result), path)


def _note(event: Event, problems: Sequence[CSP]) -> str:
    if event.total > 1:
        return f"{event.solved}/{event.total} solved, iteration {event.iteration}"
    csp = problems[0]
    if event.violations == 0 and event.cost:
        value = csp.offset - event.cost if csp.maximise else csp.offset + event.cost
        return f"iteration {event.iteration}, objective {value:.10g}"
    return f"iteration {event.iteration}, {event.violations} violated"


def _report(results: list[Result], as_json: bool) -> None:
    from consformer.cli.show import short_answer, show

    if as_json:
        for document in documents(results):
            print(json.dumps(document))
    elif len(results) == 1:
        if results[0].status != "infeasible":
            show(results[0].csp, results[0].assignment)
        out.print(headline(results[0]), markup=False, soft_wrap=True)
        account = results[0].effort.account
        if account is not None and not account.of_network_alone and (len(account.parts) > 1 or not results[0].solved):
            out.print(accounted(account))  # of a single part it may tell that it was off
    else:
        for index, result in enumerate(results):
            out.print(f"{index:>5}  {headline(result)}  {short_answer(result.csp, result.assignment)}", soft_wrap=True, markup=False)
        solved = sum(result.solved for result in results)
        out.print(f"{solved} of {len(results)} solved ({100 * solved / len(results):.1f} %)")


def headline(result: Result) -> str:
    """One line: how it ended and what it took."""
    effort, proof = result.effort, result.proof
    parts = [result.status.upper() if result.status != "unsolved" else "BEST FOUND"]
    if proof is not None:
        parts.append(f"proved by {proof.by}" + (f" ({proof.words})" if proof.words else ""))
    if not result.solved and proof is None:
        parts.append(f"{result.violations} violated")
    if result.objective is not None and result.solved:
        parts.append(f"objective {result.objective:.10g}")
    if effort.account is None or effort.account.of_network_alone:
        iterations = f"{effort.iterations} iteration{'s' if effort.iterations != 1 else ''}"
        parts.append(f"{iterations}, {effort.seconds:.2f} s, network {effort.network}, seed {effort.seed}")
    else:
        found = f"found by {effort.account.winner}, " if effort.account.winner and proof is None else ""
        parts.append(f"{found}{effort.seconds:.2f} s, seed {effort.seed}")
    return " · ".join(parts)


def accounted(account: Account) -> Table:
    """Who did what, as a table."""
    from rich.table import Table

    table = Table("part", "seconds", "improvements", "", box=None, pad_edge=False, header_style="dim", style="dim")
    for part in account.parts:
        table.add_row(part.name, f"{part.seconds:.3f}", str(part.improvements), part.note)
    return table


def documents(results: list[Result]) -> list[dict[str, Any]]:
    """The JSON documents of `--json`."""
    from consformer import families

    found = [result.to_json() | {"answer": families.of(result.csp).answer(result.csp, result.assignment)} for result in results]
    return found if len(found) == 1 else [{"index": index, **document} for index, document in enumerate(found)]


def _check_output(output: Path, file: str) -> None:
    from consformer.errors import InputError

    if str(output) == "-":
        raise InputError("the answers are on standard output anyway; leave out --output, or name a file")
    check_writable(output)
    if file != "-" and output.exists() and output.samefile(file):
        raise InputError("this is the file with the problems, which the answers would replace; name another file", source=output)


def _write(path: Path, results: list[Result], as_json: bool) -> None:
    from consformer.cli.show import short_answer

    if as_json or path.suffix in (".json", ".jsonl"):
        lines = [json.dumps(document) for document in documents(results)]
    else:
        lines = [short_answer(result.csp, result.assignment) for result in results]
    write_text(path, "".join(f"{line}\n" for line in lines))

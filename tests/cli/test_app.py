from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import NoReturn

import pytest
import typer

import consformer
from consformer import families, formats
from consformer.cli import commands
from consformer.cli.app import app, busy, err, noting_ctrl_c
from tests.cli.running import Cli, process

GROUPS = ["", "generate"]
COMMANDS = ["bench search", "solve", "train", "evaluate", "check", "models", *(f"generate {name}" for name in families.names())]


def test_version(cli: Cli) -> None:
    ran = cli("--version")
    assert (ran.code, ran.out, ran.err) == (0, f"consformer {consformer.__version__}\n", "")


@pytest.mark.parametrize("group", GROUPS)
def test_nothing_to_do_shows_the_help(cli: Cli, group: str) -> None:
    ran = cli(*group.split())
    assert ran.code == 0
    assert ran.err == ""
    assert ran.out.strip() == cli(*group.split(), "--help").out.strip()


@pytest.mark.parametrize("command", [*GROUPS, *COMMANDS])
def test_help(cli: Cli, command: str) -> None:
    ran = cli(*command.split(), "-h")
    assert ran.code == 0
    assert ran.err == ""
    assert f"Usage: consformer {command}".rstrip() in ran.out
    assert "\x1b" not in ran.out


@pytest.mark.parametrize("command", ["", "bench search", "generate", "solve", "train", "evaluate", "check", "models"])
def test_help_teaches_by_examples_that_fit_a_terminal(cli: Cli, command: str) -> None:
    shown = cli(*command.split(), "--help").out
    found = typer.main.get_command(app)
    for word in command.split():
        found = found.commands[word]  # type: ignore[attr-defined]
    assert "Examples" in shown
    examples = [line for line in (found.help or "").splitlines() if line.startswith("  ")]
    assert examples
    for line in examples:
        assert f" {line}" in shown, "wrapped, or not shown as it was written"


def test_commands_are_found_by_themselves() -> None:
    assert commands.__doc__
    assert set(typer.main.get_command(app).commands) == {"bench", "check", "evaluate", "generate", "models", "solve", "train"}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["solv"], ["No such command 'solv'", "Did you mean 'solve'?", "See consformer --help"]),
        (["generate", "sudku"], ["No such command 'sudku'", "Did you mean 'sudoku'?", "See consformer generate --help"]),
        (["solve", "x", "--itertions", "4"], ["--itertions", "Did you mean --iterations?", "See consformer solve --help"]),
        (["solve", "--output"], ["--output", "argument"]),
        (["solve"], ["Missing argument 'file'", "See consformer solve --help"]),
        (["solve", "a", "b"], ["unexpected extra argument", "b"]),
        (["solve", "x", "--pool", "many"], ["Invalid value for '--pool'"]),
        (["generate", "sudoku", "--count", "0"], ["Invalid value for '--count'"]),
        (["generate", "sudoku", "--seed", "-1"], ["Invalid value for '--seed'"]),
        (["--colour"], ["--colour"]),
    ],
)
def test_wrong_usage_is_told_in_one_line(cli: Cli, arguments: list[str], parts: list[str]) -> None:
    cli(*arguments).refused(*parts)


def test_messages_are_printed_as_they_are(cli: Cli) -> None:
    cli("solve", "[bold]x[/] :cow:.txt").refused("[bold]x[/] :cow:.txt: there is no such file")
    cli("solve", "two\nlines" + 200 * "x").refused(f"two lines{200 * 'x'}: there is no such file")


def fails_with(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> NoReturn:
        raise error

    monkeypatch.setattr(formats, "read_problems", fail)


def test_mistakes_of_the_program_are_not_hidden(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    fails_with(ZeroDivisionError(), monkeypatch)
    with pytest.raises(ZeroDivisionError):
        cli("solve", "x")


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 TB")])
def test_out_of_memory(cli: Cli, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    fails_with(error, monkeypatch)
    cli("solve", "x").refused("not enough memory", "smaller pool")


def test_files_that_fail_in_another_way(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    fails_with(OSError(5, "Input/output error", "disk.txt"), monkeypatch)
    cli("solve", "x").refused("disk.txt: Input/output error")


def test_an_interrupt_before_there_is_anything_to_give(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    fails_with(KeyboardInterrupt(), monkeypatch)
    ran = cli("solve", "x")
    assert (ran.code, ran.out, ran.err) == (130, "", "interrupted\n")


# --- Ctrl-C -------------------------------------------------------------------------------------------------------


def test_the_first_ctrl_c_is_noted_the_second_interrupts() -> None:
    usual = signal.getsignal(signal.SIGINT)
    with noting_ctrl_c() as pressed:
        assert not pressed()
        signal.raise_signal(signal.SIGINT)
        assert pressed()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert pressed()
    assert signal.getsignal(signal.SIGINT) is usual
    assert pressed()


def test_a_job_in_the_background_goes_on_ignoring_it() -> None:
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with noting_ctrl_c() as pressed:
            signal.raise_signal(signal.SIGINT)
            assert not pressed()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, usual)


def test_ctrl_c_is_left_alone_in_another_thread() -> None:
    said: list[bool] = []

    def work() -> None:
        with noting_ctrl_c() as pressed:
            said.append(pressed())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert said == [False]


def test_no_spinner_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert not err.is_terminal
    with busy("counting"):
        pass
    assert capsys.readouterr() == ("", "")


# --- as a process of its own --------------------------------------------------------------------------------------

SOLVE_AND_LIST_MODULES = """
import json, sys
from consformer.cli import main
try:
    main()
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def test_solve_starts_quickly_and_prints_one_plain_document(board: Path, network: Path) -> None:
    """Nothing heavy is imported that solving does not need, and only the answer is on standard output."""
    running = process("solve", board, "--network", network, "--iterations", 200, "--json", code=SOLVE_AND_LIST_MODULES)
    out, told = running.communicate(timeout=60)
    assert running.returncode == 0
    assert json.loads(out)["status"] == "solved"
    assert "\x1b" not in out + told
    (listed,) = told.splitlines()
    assert not {"networkx", "ortools", "pandas", "torch._dynamo", "sympy", "tensorboard", "hypothesis"} & set(json.loads(listed))


def test_a_reader_that_has_seen_enough(boards: Path, network: Path) -> None:
    """`consformer ... | head`: no traceback, and the exit code of a program that such a pipe ends."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe:
        running = process("solve", boards, "--network", network, "--iterations", 0, stdout=pipe)
        _, told = running.communicate(timeout=60)
    assert (running.returncode, told) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_standard_output_on_a_full_disk(board: Path, network: Path) -> None:
    with Path("/dev/full").open("w") as full:
        running = process("solve", board, "--network", network, "--iterations", 0, "--json", stdout=full)
        _, told = running.communicate(timeout=60)
    assert (running.returncode, told) == (2, "error: standard output: No space left on device\n")


def test_as_a_module_without_standard_input() -> None:
    command = ["sh", "-c", 'exec "$@" <&-', "sh", sys.executable, "-m", "consformer", "solve", "-"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == "error: standard input: the file is empty; it must hold at least one problem\n"

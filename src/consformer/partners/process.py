"""A process that runs a solver and can be ended at once: the solver itself may not answer for seconds while it simplifies a model."""

from __future__ import annotations

import contextlib
import importlib.util
import queue
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from consformer.partners.worker import read_frame, write_frame

WORKER = Path(__file__).with_name("worker.py")
JOIN_SECONDS = 1.0  # for the thread to see that its process is gone; it takes none

Event = tuple[dict[str, Any], bytes]  # what the worker tells: a header, and the values of a solution


@dataclass(frozen=True)
class Program:
    """A solver that runs in a process."""

    name: str  # as the worker knows it
    label: str  # as users do
    module: str  # what it is imported from
    package: str  # what is installed to have that

    @property
    def missing(self) -> str:
        """What to say where it is not installed."""
        return f"{self.label} needs the package {self.package}: pip install {self.package}"


CPSAT = Program("cpsat", "CP-SAT", "ortools", "ortools")
SAT = Program("sat", "the SAT solver", "pysat", "python-sat")


def available(program: Program = CPSAT) -> bool:
    """Whether a solver can be asked; looks for its package without importing it, which would take a second.

    >>> available()
    True
    """
    return _folder(program) is not None


def _folder(program: Program) -> str | None:
    """Where the package of a solver is installed."""
    found = importlib.util.find_spec(program.module)
    places = found.submodule_search_locations if found is not None else None
    return str(Path(places[0]).parent) if places else None


class Job(Protocol):
    """Something for a solver to do, as its worker reads it."""

    def header(self) -> dict[str, Any]: ...

    def payload(self) -> bytes: ...


@dataclass(frozen=True)
class CpSatJob:
    """A model in CP-SAT's text form, and how to solve it."""

    text: str
    shown: int  # a solution is the values of so many variables, from the first on
    workers: int = 1
    seed: int = 0
    seconds: float | None = None
    presolve: bool = True  # simplifying a model takes longer than it gains when there is but a tenth of a second

    def header(self) -> dict[str, Any]:
        parameters: dict[str, Any] = {"num_workers": self.workers, "random_seed": self.seed, "cp_model_presolve": self.presolve}
        if self.seconds is not None:
            parameters["max_time_in_seconds"] = max(self.seconds, 1e-3)
        return {"shown": self.shown, "parameters": parameters}

    def payload(self) -> bytes:
        return self.text.encode()


class SolverProcess:
    """A process that solves one job after the other, and tells what it finds.

    Nothing here raises once it has started: what goes wrong arrives as an event "failed" with a reason. The process is in a session of its
    own, so that Ctrl-C in a terminal does not reach it, and it goes when this object goes, when the interpreter exits, and when its input
    ends, which it does even if this process is killed.
    """

    def __init__(self, program: Program = CPSAT) -> None:
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._end: weakref.finalize[..., SolverProcess] | None = None
        self._kill: Callable[[], None] = lambda: None
        self.pid: int | None = None
        folder = _folder(program)
        if folder is None:
            self._events.put(failure(program.missing))
            return
        errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the process)
        try:
            process = subprocess.Popen(
                [sys.executable, "-I", str(WORKER), program.name, folder, program.missing],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        except OSError as error:
            errors.close()
            self._events.put(failure(f"the process of {program.label} cannot be started: {error}"))
            return
        # A daemon: it may be waiting when the interpreter exits, and is only freed by the end of the process.
        thread = threading.Thread(
            target=_converse, args=(program, process, errors, self._jobs, self._events), name=program.name, daemon=True
        )
        self._end = weakref.finalize(self, _end, process, thread, errors, self._jobs)
        self._kill = process.kill
        self.pid = process.pid
        thread.start()

    def send(self, job: Job) -> None:
        """Have a job solved after those sent before; returns at once."""
        self._jobs.put(job)

    def events(self) -> list[Event]:
        """What was told since the last call; returns at once."""
        found = []
        with contextlib.suppress(queue.Empty):
            while True:
                found.append(self._events.get_nowait())
        return found

    def stop(self) -> None:
        """End the process, whatever it is doing, without waiting until it is gone: it has to give its memory back."""
        self._kill()

    def close(self) -> None:
        """End the process, and wait until it is gone."""
        if self._end is not None:
            self._end()


def failure(reason: str) -> Event:
    """The event that says that no more will come."""
    return {"event": "failed", "reason": reason}, b""


def _converse(
    program: Program,
    process: subprocess.Popen[bytes],
    errors: IO[bytes],
    jobs: queue.SimpleQueue[Job | None],
    events: queue.SimpleQueue[Event],
) -> None:
    """Send jobs and receive events, in a thread, because both may have to wait. Knows nothing of the `SolverProcess`: it would keep it."""
    while (job := jobs.get()) is not None:
        if not _answered(process, job, events):
            events.put(failure(_last_words(program, process.wait(), errors)))
            return


def _answered(process: subprocess.Popen[bytes], job: Job, events: queue.SimpleQueue[Event]) -> bool:
    """Have a job done; false when the process is gone."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(OSError, ValueError):  # broken or closed pipes
        write_frame(process.stdin, job.header(), job.payload())
        while (frame := read_frame(process.stdout)) is not None:
            events.put(frame)
            if frame[0]["event"] in ("end", "failed"):
                return True
    return False


def _last_words(program: Program, code: int, errors: IO[bytes]) -> str:
    """Why a process is gone."""
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    said = ""
    with contextlib.suppress(OSError, ValueError):
        errors.seek(0)
        said = errors.read().decode(errors="replace").strip().rpartition("\n")[2]
    return f"the process of {program.label} ended by itself ({how})" + (f": {said}" if said else "")


def _end(process: subprocess.Popen[bytes], thread: threading.Thread, errors: IO[bytes], jobs: queue.SimpleQueue[Job | None]) -> None:
    process.kill()
    process.wait()
    jobs.put(None)  # for a thread that waits for one
    if thread.ident is not None:
        thread.join(JOIN_SECONDS)
    for pipe in (process.stdin, process.stdout, errors):
        with contextlib.suppress(OSError):
            if pipe is not None:
                pipe.close()

"""The script of the process in which CP-SAT or a SAT solver runs. It imports nothing but that, so it starts quickly.

It reads jobs from its input and writes events to its output, both as frames (two lengths, a JSON header, bytes). When its input ends, so
does it, at once or (a SAT solver) after a portion of its work: that is how it never outlives who started it, however that one ended. Its
arguments are which solver, the folder that its package is in, and what to say if that cannot be imported.
"""

import contextlib
import json
import os
import queue
import struct
import sys
import threading
import time
from array import array
from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import IO, Any

LENGTHS = struct.Struct(">II")  # of the header, of what follows it
PORTION = 10_000  # conflicts after which a SAT solver looks up: nothing else runs here meanwhile, and fewer make it slower


def write_frame(target: IO[bytes], header: dict[str, Any], payload: bytes) -> None:
    """Send a frame."""
    text = json.dumps(header).encode()
    target.write(LENGTHS.pack(len(text), len(payload)) + text + payload)
    target.flush()


def read_frame(source: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """The next frame, or None at the end of the input."""
    lengths = source.read(LENGTHS.size)
    if len(lengths) < LENGTHS.size:
        return None
    header, payload = LENGTHS.unpack(lengths)
    return json.loads(source.read(header)), source.read(payload)


class Events:
    """Where events go; callbacks of several threads of CP-SAT write here."""

    def __init__(self, target: IO[bytes]) -> None:
        self.target, self.lock = target, threading.Lock()

    def send(self, payload: bytes = b"", **header: Any) -> None:
        with self.lock:
            write_frame(self.target, header, payload)


def cpsat(helper: Any, job: dict[str, Any], text: bytes, events: Events) -> None:
    """Run CP-SAT on a model; a solution is the values of its first `shown` variables, as 32-bit numbers."""
    model, wrapper, parameters = helper.CpModelProto(), helper.SolveWrapper(), helper.SatParameters()

    def values(response: Any) -> bytes:
        return array("i", islice(response.solution, job["shown"])).tobytes()

    class Listener(helper.SolutionCallback):  # type: ignore[misc]
        def OnSolutionCallback(self) -> None:  # noqa: N802
            response = self.Response()
            events.send(values(response), event="solution", objective=response.objective_value)

    if not model.parse_text_format(text.decode()):
        events.send(event="failed", reason="CP-SAT cannot read this model")
        return
    for name, value in job["parameters"].items():
        setattr(parameters, name, value)
    wrapper.set_parameters(parameters)
    listener = Listener()  # must live as long as the solve
    wrapper.add_solution_callback(listener)
    wrapper.add_best_bound_callback(lambda bound: events.send(event="bound", bound=bound))
    start = time.perf_counter()
    response = wrapper.solve(model)
    wrapper.clear_solution_callback(listener)
    if response.status == helper.MODEL_INVALID:
        events.send(event="failed", reason=f"CP-SAT cannot take this model: {helper.CpSatHelper.validate_model(model)}")
        return
    seconds, bound = time.perf_counter() - start, response.best_objective_bound
    events.send(values(response), event="end", status=response.status.name, bound=bound, seconds=seconds)


def sat(make: Any, job: dict[str, Any], numbers: bytes, events: Events) -> None:
    """Run a SAT solver on clauses, 32-bit literals with a 0 after each; a solution is the variables that are true."""
    literals = array("i")
    literals.frombytes(numbers)
    start, solver, begin = time.perf_counter(), make(), 0
    for end in [place for place, literal in enumerate(literals) if literal == 0]:
        solver.add_clause(literals[begin:end].tolist())
        begin = end + 1
    answer = None
    while answer is None:
        solver.conf_budget(PORTION)
        answer = solver.solve_limited()
        time.sleep(0)  # for the thread that listens
    found = array("i", [literal for literal in solver.get_model() if literal > 0]) if answer else array("i")
    events.send(found.tobytes(), event="end", status="SATISFIED" if answer else "INFEASIBLE", seconds=time.perf_counter() - start)


def load(name: str) -> Callable[[dict[str, Any], bytes, Events], None]:
    """A solver, ready to run."""
    if name == "sat":
        from pysat.solvers import Cadical195

        return partial(sat, Cadical195)
    from ortools.sat.python import cp_model_helper  # the compiled part: all of it takes a second

    return partial(cpsat, cp_model_helper)


def main() -> None:
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is not an event
    events = Events(output)
    jobs: queue.SimpleQueue[tuple[dict[str, Any], bytes]] = queue.SimpleQueue()

    def listen() -> None:
        while (frame := read_frame(sys.stdin.buffer)) is not None:
            jobs.put(frame)
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    name, folder, missing = sys.argv[1:]
    sys.path.append(folder)
    try:
        solve = load(name)
    except ImportError as error:
        events.send(event="failed", reason=f"{missing} ({error})")
        return
    with contextlib.suppress(BrokenPipeError):
        while True:
            solve(*jobs.get(), events)


if __name__ == "__main__":
    main()

"""The script of the process in which CP-SAT runs. It imports nothing but ortools, and of that only the compiled part, so it starts quickly.

It reads jobs from its input and writes events to its output, both as frames (two lengths, a JSON header, bytes). When its input ends, so
does it, at once: that is how it never outlives who started it, however that one ended. Its one argument is the folder that ortools is in.
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
from itertools import islice
from typing import IO, Any

LENGTHS = struct.Struct(">II")  # of the header, of what follows it


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


def solve(helper: Any, job: dict[str, Any], text: bytes, events: Events) -> None:
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
    sys.path.append(sys.argv[1])
    try:
        from ortools.sat.python import cp_model_helper
    except ImportError as error:
        events.send(event="failed", reason=f"CP-SAT needs the package ortools ({error})")
        return
    with contextlib.suppress(BrokenPipeError):
        while True:
            solve(cp_model_helper, *jobs.get(), events)


if __name__ == "__main__":
    main()

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

from consformer.bench.apart import Apart


def test_calls_go_on_after_one_that_was_killed_and_nothing_is_left() -> None:
    with Apart() as apart:
        assert apart.call(max, 3, 4, seconds=30.0).value == 4
        assert apart.call(time.sleep, 60, seconds=0.1).status == "overran"
        ended = apart.call(os._exit, 3, seconds=30.0)
        assert (ended.status, ended.reason) == ("crashed", "ended with exit code 3")
        raised = apart.call(int, "x", seconds=30.0)
        assert (raised.status, raised.reason.split(":")[0]) == ("crashed", "ValueError")
        pid = apart.call(os.getpid, seconds=30.0).value
    assert pid is not None
    assert not _runs(pid)


CALLER = """
import os, time
from consformer.bench.apart import Apart

if __name__ == "__main__":
    with Apart() as apart:
        print(apart.call(os.getpid, seconds=30.0).value, flush=True)
        apart.call(time.sleep, 60, seconds=60.0)
"""


def test_the_process_ends_with_a_caller_that_is_killed_in_the_middle_of_a_call() -> None:
    caller = subprocess.Popen([sys.executable, "-c", CALLER], stdout=subprocess.PIPE, text=True)
    assert caller.stdout is not None
    with caller.stdout:
        pid = int(caller.stdout.readline())
    caller.kill()
    caller.wait()
    deadline = time.monotonic() + 30
    while _runs(pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIG_DFL)
    except ProcessLookupError:
        return False
    return True

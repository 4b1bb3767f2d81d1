"""What tests of solvers in processes of their own have in common."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TypeVar

from consformer.partners.beside import Beside

SOON = 20.0  # seconds after which a test gives up

Partner = TypeVar("Partner", bound=Beside)


def finished(partner: Partner) -> Partner:
    start = time.perf_counter()
    while partner.status == "running" and time.perf_counter() - start < SOON:
        partner.poll()
        time.sleep(0.001)
    return partner


def gone(pid: int) -> bool:
    """Whether a child is ended and reaped."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def pid_of(partner: Beside) -> int:
    pid = partner._process.pid
    assert pid is not None
    return pid


LEFT_BEHIND = """
import os, signal, time
{start}
from tests.partners.beside import pid_of
time.sleep(0.5)
print(pid_of(partner), flush=True)
{end}
"""


def is_gone_after(start: str, end: str, seconds: float) -> bool:
    """Whether the process of a `partner` is gone so many seconds after the one that started it came to such an end."""
    done = subprocess.run(
        [sys.executable, "-c", LEFT_BEHIND.format(start=start, end=end)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    pid, began = int(done.stdout), time.perf_counter()
    while not gone(pid) and time.perf_counter() - began < seconds:
        time.sleep(0.01)
    return gone(pid)

"""How much memory there is, and keeping what was freed in the process.

By default glibc gives large blocks back to the system at once, and every large tensor then costs a page fault per 4 KiB when it is made
again: measured here, up to a third of an iteration. Programs that loop (the command line, training) switch that off.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


def keep_freed_memory() -> None:
    """Tell glibc's malloc to reuse large blocks; does nothing on other systems."""
    if not sys.platform.startswith("linux"):
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another libc
        return
    mallopt(_M_MMAP_THRESHOLD, 32 << 20)  # the most glibc takes
    mallopt(_M_TRIM_THRESHOLD, 1 << 30)


def available_memory() -> int | None:
    """Bytes that can be had without others being pushed out; none where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError, IndexError):
        return None

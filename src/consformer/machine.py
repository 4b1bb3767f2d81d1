"""What figures are to be told with: the machine, and the commit of the program."""

from __future__ import annotations

import contextlib
import os
import platform
import subprocess
from pathlib import Path


def machine() -> str:
    """The processor and the number of its cores."""
    model = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
    return f"{model}, {os.cpu_count()} cores"


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def commit() -> str | None:
    """The commit of a source checkout; none in an installed package."""
    try:
        found = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], cwd=Path(__file__).parent, capture_output=True, text=True, timeout=5, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip()

"""Writing files, all or nothing."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def replace_atomically(path: Path, data: bytes) -> None:
    """Write a file beside the old one and let it take its place; on any failure (an `OSError`) the old one is as it was.

    Permissions are those of any new file. A link stays a link, and what it leads to is replaced; devices and pipes are written to.
    """
    if not is_plain(path):
        path.write_bytes(data)
        return
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".consformer-{secrets.token_hex(8)}")
    try:
        with beside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def is_plain(path: Path) -> bool:
    """Whether this is a file or may become one: no device, no pipe, no folder."""
    return path.is_file() or not path.exists()

"""The log of a training run: one JSON document per step."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


class Log:
    """`log.jsonl` in the folder of a run."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "log.jsonl"

    def add(self, step: Mapping[str, Any]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps({**step, "time": datetime.now(UTC).isoformat(timespec="seconds")}) + "\n")

    def forget_after(self, step: int) -> None:
        """Steps that were done but not saved will be done, and logged, again."""
        if self.path.exists():
            lines = [line for line in self.path.read_text().splitlines() if _step(line) <= step]
            self.path.write_text("".join(f"{line}\n" for line in lines))


def _step(line: str) -> float:
    try:
        return float(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):  # a line cut short by a crash
        return float("inf")

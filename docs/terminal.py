"""Draw docs/terminal.svg: runs the commands the README shows and records what a terminal would show.

python docs/terminal.py
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]
COMMANDS = [
    "consformer solve examples/sudoku.txt --method network",
    "consformer solve examples/graph.col --colors 5",
    "python examples/exams.py",
]


def main() -> None:
    console = Console(record=True, width=90, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": "90", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for command in COMMANDS:
        done = subprocess.run(command.split(), cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
        console.print(Text.from_ansi(done.stdout))
    console.save_svg(str(ROOT / "docs/terminal.svg"), title="consformer")


if __name__ == "__main__":
    main()

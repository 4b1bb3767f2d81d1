from __future__ import annotations

import json
from pathlib import Path

from consformer.training.log import Log


def test_steps_that_will_be_done_again_are_forgotten(tmp_path: Path) -> None:
    log = Log(tmp_path / "run")
    log.forget_after(0)  # there is none yet
    for step in (1, 2, 3):
        log.add({"step": step})
    with log.path.open("a") as file:
        file.write('{"st')  # a crash
    log.forget_after(2)
    assert [json.loads(line)["step"] for line in log.path.read_text().splitlines()] == [1, 2]

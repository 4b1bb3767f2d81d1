from __future__ import annotations

import os
import signal
import time

import pytest

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
    with pytest.raises(ProcessLookupError):
        os.kill(pid, signal.SIG_DFL)

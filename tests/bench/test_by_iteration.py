from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from consformer.bench.by_iteration import NEVER, draw_curve, dress, refined, within
from consformer.plots import new_figure
from consformer.training.checkpoint import Card, save_network
from tests.helpers import cycle, gibbs, impossible


@pytest.fixture
def network(tmp_path: Path) -> str:
    path = tmp_path / "gibbs.safetensors"
    save_network(path, gibbs(), Card("gibbs", "equivariant", gibbs().config_dict()))
    return str(path)


def test_rows_say_when_and_how_far(network: str) -> None:
    rows = refined([cycle(6, 3), impossible()], 40, network, 30, {"restart": NEVER, "seed": 1})
    assert [(row["index"], row["solved"]) for row in rows] == [(40, True), (41, False)]
    assert rows[1]["iterations"] == 30
    assert rows[1]["violations"] >= 1
    assert within(rows, 30) == 1
    assert within(rows, rows[0]["iterations"] - 1) == 0


def test_a_curve_begins_at_the_first_iteration() -> None:
    axes = new_figure((3, 2)).add_subplot()
    draw_curve(axes, [{"solved": True, "iterations": 0}, {"solved": False, "iterations": 50}], 50, label="some", color="tab:blue")
    dress(axes, 50, "title")
    (line,) = axes.get_lines()
    places, heights = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
    assert (places.min(), places.max(), heights.max()) == (1, 50, 0.5)

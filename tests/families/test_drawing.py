from __future__ import annotations

import io

import numpy as np
from rich.console import Console, RenderableType

from consformer import families
from consformer.families.coloring import problem


def plain(drawn: RenderableType) -> str:
    """What a terminal without colours shows."""
    console = Console(file=io.StringIO(), width=120, color_system=None)
    console.print(drawn)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_grid_shows_givens_blanks_and_conflicts_without_colour() -> None:
    csp = families.get("sudoku").unpack("1..." + "." * 12)
    assert "| 1' .  | .  .  |" in plain(families.get("sudoku").render(csp))
    shown = plain(families.get("sudoku").render(csp, [0, 1, 2, 0, 2, 3, 1, 2, *range(4), 1, 0, 3, 2]))
    assert "1'!" in shown
    assert "' given   ! in conflict" in shown


def test_graph_lists_vertices_by_value_and_edges_in_conflict() -> None:
    csp = problem(3, np.array([[0, 1], [1, 2]]), 2, {})
    shown = plain(families.get("coloring").render(csp, [0, 0, 1]))
    assert "colour 1 (2): 1! 2!" in shown
    assert "colour 2 (1): 3\n" in shown
    assert "edges in conflict (1): 1-2" in shown
    assert "no colour (3): 1 2 3" in plain(families.get("coloring").render(csp))


def test_large_graphs_are_cut_short() -> None:
    csp = problem(1000, np.array([[0, 1]]), 1, {})
    assert "... and 800 more" in " ".join(plain(families.get("coloring").render(csp, [0] * 1000)).split())


def test_wide_boards_are_not_wrapped() -> None:
    (csp,) = families.get("sudoku").generate(np.random.default_rng(0), 1, {"box": 5})
    lines = plain(families.get("sudoku").render(csp)).splitlines()
    assert len(lines) == 25 + 6 + 1

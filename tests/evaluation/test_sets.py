from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from consformer import families
from consformer.errors import ConsformerError, InputError, UnknownNameError
from consformer.evaluation.sets import describe, load_set, read_best_known, set_names
from tests.cli.running import clique


@pytest.mark.parametrize("name", set_names())
def test_named_sets(name: str) -> None:
    found = load_set(name, count=1)
    assert (len(found.problems), found.labels) == (1, ("0",))
    assert (found.iterations is None) != (found.seconds is None)
    assert found.description == describe(name)


def test_seeds_are_used_for_one_set_only() -> None:
    """Sets of one family with other sizes must not be made of the same random numbers."""
    drawn = [load_set(name, count=1).problems[0] for name in ("sudoku", "sudoku-hard")]
    assert drawn[0].given.tolist() != drawn[1].given.tolist()


def test_a_file(tmp_path: Path) -> None:
    boards = families.get("sudoku").generate(np.random.default_rng(0), 5, {"box": 2})
    (tmp_path / "boards.txt").write_text(families.get("sudoku").write(boards))
    found = load_set(str(tmp_path / "boards.txt"))
    assert found.labels == tuple(f"boards:{index}" for index in range(5))
    part = load_set(str(tmp_path / "boards.txt"), count=2)
    assert len(part.problems) == 2
    assert part.labels == load_set(str(tmp_path / "boards.txt"), count=2).labels
    assert set(part.labels) < set(found.labels)


def test_a_mixed_set_begins_with_one_of_each_kind(tmp_path: Path) -> None:
    for size in (3, 4, 5, 6):
        clique(tmp_path / f"k{size}.col", size)
    found = load_set(str(tmp_path))
    mixed = found.mixed(seed=0, kind=lambda csp: csp.n < 6)
    assert set(mixed.labels) == set(found.labels)
    assert "k6" in mixed.first(2).labels
    assert mixed.first(3).labels[:2] == mixed.first(2).labels
    assert mixed.first(9).labels == mixed.labels


def test_a_folder_of_graphs_with_known_numbers_of_colours(tmp_path: Path) -> None:
    for size in (3, 4):
        clique(tmp_path / f"k{size}.col", size)
    (tmp_path / "known.csv").write_text("instance,ub\nk3,3\nk4,7\n")
    found = load_set(str(tmp_path), best_known=tmp_path / "known.csv")
    assert found.labels == ("k3", "k4")
    assert [csp.m for csp in found.problems] == [3, 7]
    assert found.best == (None, None)


def test_best_known_objectives(tmp_path: Path) -> None:
    (tmp_path / "G1.txt").write_text("3 2\n1 2 1\n2 3 1\n")
    (tmp_path / "known.csv").write_text("instance,n,recommended\nG1,3,2\n")
    assert load_set(str(tmp_path), best_known=tmp_path / "known.csv").best == (2.0,)


def test_a_choice_by_the_table(tmp_path: Path) -> None:
    for name in ("G1", "G2", "G3"):
        (tmp_path / f"{name}.txt").write_text("3 2\n1 2 1\n2 3 1\n")
    table = tmp_path / "known.csv"
    table.write_text("instance,weights,recommended\nG1,+1,2\nG2,+-1,2\n")
    assert load_set(str(tmp_path), best_known=table, where="weights=+1").labels == ("G1",)
    with pytest.raises(InputError, match="there is no file in this folder that was asked for"):
        load_set(str(tmp_path), best_known=table, where="weights=7")
    with pytest.raises(UnknownNameError, match="did you mean 'weights'"):
        load_set(str(tmp_path), best_known=table, where="weight=+1")
    with pytest.raises(ConsformerError, match="needs the table"):
        load_set(str(tmp_path), where="weights=+1")


def test_a_choice_by_names(tmp_path: Path) -> None:
    for name in ("qcp-1", "qwh-1", "qwh-2"):
        (tmp_path / f"{name}.txt").write_text("3 2\n1 2 1\n2 3 1\n")
    assert load_set(str(tmp_path), files="qwh-*").labels == ("qwh-1", "qwh-2")
    with pytest.raises(InputError, match="there is no file in this folder that was asked for"):
        load_set(str(tmp_path), files="latin-*")


def test_mistakes(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'sudoku'"):
        load_set("sudko")
    with pytest.raises(InputError, match="there is no file in this folder"):
        load_set(str(tmp_path))
    (tmp_path / "known.csv").write_text("name,value\n")
    with pytest.raises(InputError, match="needs a column 'instance' and one of recommended, ub"):
        read_best_known(tmp_path / "known.csv")
    with pytest.raises(InputError, match="cannot be read"):
        read_best_known(tmp_path / "none.csv")

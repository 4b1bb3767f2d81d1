from __future__ import annotations

import random
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consformer import families, formats
from consformer.baselines import solve_cpsat
from consformer.errors import InputError, ModelError
from consformer.families.latin import random_square

latin = families.get("latin")


@given(order=st.integers(2, 12), seed=st.integers(0, 10**6))
def test_squares_are_latin(order: int, seed: int) -> None:
    square = random_square(order, random.Random(seed))
    assert all(sorted(line) == list(range(order)) for line in [*square, *zip(*square, strict=True)])


def test_small_squares_all_occur() -> None:
    found = {tuple(map(tuple, random_square(3, random.Random(seed)))) for seed in range(400)}
    assert len(found) == 12


def test_squares_are_of_more_than_one_kind() -> None:
    """The two kinds of order 4 differ in how many 2×2 Latin squares they hold; the cyclic one has 4, the other 12."""
    found = set()
    for seed in range(100):
        square = np.array(random_square(4, random.Random(seed)))
        corners = [square[np.ix_(rows, columns)] for rows in combinations(range(4), 2) for columns in combinations(range(4), 2)]
        found.add(sum(len(np.unique(corner)) == 2 for corner in corners))
    assert found == {4, 12}


@given(seed=st.integers(0, 10**6), holes=st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted))
def test_generated_squares_have_holes_in_range_and_can_be_completed(seed: int, holes: list[float]) -> None:
    (csp,) = latin.generate(np.random.default_rng(seed), 1, {"order": [4, 7], "holes": holes})
    blank = int(csp.free.sum())
    assert round(holes[0] * csp.n) <= blank <= round(holes[1] * csp.n)
    assert solve_cpsat(csp, workers=1).status == "solved"


@given(seed=st.integers(0, 10**6), order=st.integers(2, 9), share=st.floats(0, 1))
def test_balanced_holes_are_spread_over_rows_and_columns(seed: int, order: int, share: float) -> None:
    (csp,) = latin.generate(np.random.default_rng(seed), 1, {"order": order, "holes": share, "balanced": True})
    blank = csp.free.view(order, order)
    assert int(blank.sum()) == round(share * order * order)
    for counts in (blank.sum(0), blank.sum(1)):
        assert int(counts.max() - counts.min()) <= 1


def test_what_is_written_is_read_back() -> None:
    squares = latin.generate(np.random.default_rng(0), 3, {"order": [3, 12]})
    back = formats.read_problems(latin.write(squares).encode())
    assert [csp.given.tolist() for csp in back] == [csp.given.tolist() for csp in squares]
    assert {csp.family for csp in back} == {"latin"}


def test_contradicting_givens_are_told_with_both_cells() -> None:
    with pytest.raises(InputError, match="data:1: r1c2 and r3c2 are both 2, in the same column"):
        formats.read_problems(b"3\n0 2 0\n0 0 0\n0 2 0\n")


@pytest.mark.parametrize(("params", "told"), [({"order": 1}, "within 2 and 200"), ({"holes": [0.5, 1.5]}, "within 0 and 1")])
def test_impossible_parameters(params: dict[str, object], told: str) -> None:
    with pytest.raises(ModelError, match=told):
        latin.settings(params)

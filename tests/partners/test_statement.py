from __future__ import annotations

import numpy as np

from consformer.compiled.local import state as kernel
from consformer.partners.statement import LARGEST, initial_state, soft_scale
from tests.helpers import cycle, problem


def test_soft_weights_become_whole_numbers() -> None:
    def weighing(*weights: float) -> float:
        return soft_scale(problem([{"kind": "not_equal", "scope": [0, 1], "weight": w, "soft": True} for w in weights], n=2, m=2))

    assert weighing(1, 2) == 1
    assert weighing(0.25, -3) == 100
    assert weighing(1e15, 1 / 3) * 4e15 <= LARGEST * 1.01  # rounded, and nothing overflows
    assert soft_scale(cycle(3, 2)) == 1


def test_pairs_stand_with_both_their_ends() -> None:
    state = initial_state(cycle(4, 3), 0)
    for i in range(4):
        own = state.pair[state.variable[i, kernel.FIRST_PAIR] : state.variable[i + 1, kernel.FIRST_PAIR]]
        assert sorted(own[:, kernel.OTHER].tolist()) == sorted([(i + 1) % 4, (i - 1) % 4])


def test_memory_grows_with_the_scopes_and_not_with_their_pairs() -> None:
    state = initial_state(problem([{"kind": "all_different", "scope": list(range(3000))}], n=3000, m=2), 0)
    assert sum(array.nbytes for array in state) < 2_000_000
    assert all(array.flags["C_CONTIGUOUS"] for array in state)


def test_seeds_that_are_alike_begin_differently() -> None:
    starts = np.array([initial_state(cycle(3, 2), seed).random[0] for seed in range(100)])
    assert len(np.unique(starts)) == 100
    assert 0 not in starts

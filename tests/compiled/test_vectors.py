from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consformer.compiled.vectors import add, add_times, fill, get, highest, load, memory, power_of_two, put, store, times, total, totals


@pytest.mark.parametrize("size", [1, 3, 16])
def test_operations_are_those_of_numpy(size: int) -> None:
    @numba.njit  # type: ignore[untyped-decorator]
    def work(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        left, right, there = load(memory(a), size, size), load(memory(b), 0, size), memory(out)
        store(there, 0, add(left, right))
        store(there, size, times(left, right))
        store(there, 2 * size, highest(left, right))
        store(there, 3 * size, add_times(left, np.float32(2), right))
        store(there, 4 * size, fill(7, size))
        put(there, 5 * size, total(right) + get(memory(a), 0))

    rng = np.random.default_rng(size)
    a, b = rng.normal(size=(2, size)).astype(np.float32), rng.normal(size=size).astype(np.float32)
    out = np.zeros(5 * size + 2, np.float32)
    work(a, b, out)
    expected = [a[1] + b, a[1] * b, np.maximum(a[1], b), a[1] + 2 * b, np.full(size, 7), [b.sum() + a[0, 0], 0]]  # 0: not written to
    np.testing.assert_allclose(out, np.concatenate(expected), atol=1e-5)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 8, 16, 32])
def test_sums_of_eight_vectors(size: int) -> None:
    @numba.njit  # type: ignore[untyped-decorator]
    def work(x: np.ndarray, out: np.ndarray) -> None:
        there = memory(x)
        a, b, c, d = load(there, 0, size), load(there, size, size), load(there, 2 * size, size), load(there, 3 * size, size)
        e, f, g, h = load(there, 4 * size, size), load(there, 5 * size, size), load(there, 6 * size, size), load(there, 7 * size, size)
        store(memory(out), 0, totals(a, b, c, d, e, f, g, h))

    x, out = np.random.default_rng(size).normal(size=(8, size)).astype(np.float32), np.zeros(8, np.float32)
    work(x, out)
    np.testing.assert_allclose(out, x.sum(1), atol=1e-5)


@given(st.lists(st.floats(-200, 0, width=32), min_size=1, max_size=40))
def test_powers_of_two_are_those_of_numpy(numbers: list[float]) -> None:
    x = np.array(numbers, np.float32)
    np.testing.assert_allclose(_powers(x), np.exp2(x), rtol=1e-6, atol=1e-36)


@numba.njit  # type: ignore[untyped-decorator]
def _powers(x: np.ndarray) -> np.ndarray:
    out = np.empty_like(x)
    for e in range(len(x)):
        out[e] = power_of_two(x[e])
    return out

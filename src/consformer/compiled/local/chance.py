"""Random numbers, by xorshift: nothing random comes from outside the state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from consformer.compiled.local.build import part


@part(inline=True)
def following(x: np.uint64) -> np.uint64:
    """The next random number after this one."""
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    return x


@part()
def draw(random: NDArray[np.uint64], below: int) -> int:
    """A random number from 0 to below - 1."""
    x = following(random[0])
    random[0] = x
    return int((np.int64(x >> np.uint64(33)) * below) >> 31)

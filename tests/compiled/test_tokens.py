"""Open pairs and their edges as compiled code picks them, against tensor operations."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from consformer import compiled
from consformer.csp import CSP
from consformer.networks.open import Tokens
from tests.helpers import cycle, random_csp, random_inputs

pytestmark = pytest.mark.skipif(not compiled.available(), reason="there is no compiler")


@given(seeds=st.lists(st.integers(0, 10_000), min_size=1, max_size=3), pool=st.integers(1, 3))
def test_compiled_or_not_the_tokens_are_the_same(seeds: list[int], pool: int) -> None:
    csp = CSP.union([random_csp(seed) for seed in seeds])
    values, subset, _ = random_inputs(csp, pool, seeds[0])
    plain, quick = (Tokens.of(csp, values, subset, quickly) for quickly in (False, True))
    for name in ("candidate", "variable", "value", "lengths", "owner"):
        assert torch.equal(getattr(quick, name), getattr(plain, name)), name
    assert torch.equal(quick.graph.edges, plain.graph.edges)


def test_nothing_to_update() -> None:
    csp = cycle(4, 3)
    tokens = Tokens.of(csp, torch.zeros(2, 4, dtype=torch.int64), torch.zeros(2, 4, dtype=torch.bool), quickly=True)
    assert len(tokens.variable) == 0
    assert tokens.graph.edges.shape == (2, 0)

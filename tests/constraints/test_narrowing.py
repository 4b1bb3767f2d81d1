from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from consformer.constraints.narrowing import match, supported


@settings(max_examples=200)
@given(st.lists(st.integers(0, 31), min_size=1, max_size=5))
def test_matching_and_filtering_are_as_by_trying_everything(domains: list[int]) -> None:
    values = [[v for v in range(5) if domain >> v & 1] for domain in domains]
    choices = [choice for choice in itertools.product(*values) if len(set(choice)) == len(choice)]
    chosen, crowd, shared = match(domains)
    if not choices:
        assert len(crowd) == shared.bit_count() + 1  # a proof: so many variables share one value too few
        assert all(domains[x] & ~shared == 0 for x in crowd)
        assert len(set(crowd)) == len(crowd)
        return
    assert not crowd
    assert tuple(chosen) in choices
    expected = [sum({1 << choice[x] for choice in choices}) for x in range(len(domains))]
    assert supported(domains, chosen) == expected

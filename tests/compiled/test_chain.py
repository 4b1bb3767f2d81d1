"""Compiled iterations against the tensor operations they stand for."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from consformer import compiled
from consformer.csp import CSP
from consformer.networks import LayeredConfig, OpenNetwork
from tests.helpers import coloring, cycle, impossible, problem, random_csp, randomised

if not compiled.available():
    pytest.skip("there is no compiler", allow_module_level=True)

from consformer.compiled.chain import Iterations
from consformer.compiled.steps import BEST, NUMBERS, SPENT, STALE, VIOLATIONS, Chain, Trace, Wishes

SEEDS = st.integers(0, 10_000)


def network(*, layers: int = 2, repeat: int = 1, seed: int = 0) -> OpenNetwork:
    """Always of the same size, because each is compiled."""
    made = randomised(OpenNetwork(LayeredConfig(width=8, heads=2, expand=2, layers=layers, repeat=repeat)), seed)
    assert isinstance(made, OpenNetwork)
    return made


def differences(seed: int, *, fixed: bool = True) -> CSP:
    return random_csp(seed, kinds=("all_different", "not_equal"), soft=False, fixed=fixed)


def compiled_on(csp: CSP, made: OpenNetwork | None = None) -> Iterations:
    found = (made or network()).compiled().iterations(csp)
    assert found is not None
    return found


def candidate(csp: CSP, seed: int = 0) -> Chain:
    """A random one that was just started."""
    values = csp.random_values(1, torch.Generator().manual_seed(seed))[0].numpy()
    numbers = np.zeros(NUMBERS, np.int64)
    numbers[BEST] = 10**15
    return Chain(values, values.copy(), np.zeros(csp.n, np.float32), numbers, np.array([2 * seed + 1], np.uint64))


def wishes(
    count: int = 1,
    *,
    p: float = 0.6,
    temperature: float = 0.3,
    redraw: float = 0.0,
    informed: bool = False,
    greedy: bool = False,
    patience: float = float("inf"),
) -> Wishes:
    each = (np.full(count, x, np.float32) for x in (p, temperature, redraw))
    one, two, three = each
    return Wishes(one, two, three, informed, greedy, float(patience))


def in_conflict(csp: CSP, values: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[bool]:
    return csp.in_conflict(torch.from_numpy(values.copy())[None])[0].tolist()


@given(seed=SEEDS, layers=st.integers(1, 3), repeat=st.integers(1, 2), redraw=st.sampled_from([0.0, 1.0]), temperature=st.floats(0.1, 1))
def test_what_is_said_is_what_the_network_says(seed: int, layers: int, repeat: int, redraw: float, temperature: float) -> None:
    """With the values that it was shown and the variables that were chosen, on problems with domains of all sizes and fixed variables."""
    csp = differences(seed)
    if not bool(csp.free.any()):
        return
    plain = network(layers=layers, repeat=repeat, seed=seed)
    chain = candidate(csp, seed)
    if int(csp.violations(torch.from_numpy(chain.values)[None])[0]) == 0:
        return
    before = chain.values.copy()
    done, trace = compiled_on(csp, plain).run(chain, wishes(redraw=redraw, temperature=temperature))
    assert done == 1
    chosen, seen = torch.from_numpy(trace.chosen)[None], torch.from_numpy(trace.seen)[None]
    with torch.no_grad():
        expected = plain(csp, seen, chosen, torch.tensor([[temperature]]))[0][chosen[0]]
    found = torch.from_numpy(trace.said)[chosen[0]]
    closed = found.isinf()
    torch.testing.assert_close(found[~closed], expected[~closed], atol=2e-4, rtol=2e-4)
    assert bool((expected[closed] < -1e8).all())
    assert bool((trace.seen == before)[~trace.chosen].all())
    if redraw == 0:
        assert trace.seen.tolist() == before.tolist()


@given(seed=SEEDS, count=st.integers(1, 12), informed=st.booleans(), redraw=st.sampled_from([0.0, 0.5]))
def test_what_is_known_of_a_candidate_is_true(seed: int, count: int, informed: bool, redraw: float) -> None:
    """Violations are counted as the problem does, nothing leaves its domain, and what is fixed stays."""
    csp = differences(seed)
    if not bool(csp.free.any()):
        return
    chain, iterations, best = candidate(csp, seed), compiled_on(csp), 10**15
    spent = 0
    for _ in range(count):
        done, _ = iterations.run(chain, wishes(informed=informed, redraw=redraw))
        spent += done
        now = int(csp.violations(torch.from_numpy(chain.values)[None])[0])
        best = min(best, now) if done or now == 0 else best
        assert chain.numbers[VIOLATIONS] == now
        assert chain.numbers[BEST] == best
        assert chain.numbers[SPENT] == spent
        assert csp.domain[torch.arange(csp.n), torch.from_numpy(chain.values)].all()
        assert (torch.from_numpy(chain.values) == csp.given)[~csp.free].all()
        assert int(csp.violations(torch.from_numpy(chain.peak)[None])[0]) == (best if best < 10**15 else now)
        assert done == (0 if now == 0 and done == 0 else 1)
        if now == 0:
            break


def test_runs_go_on_as_one() -> None:
    """Ten iterations are the same as ten times one: everything that matters is in the candidate."""
    csp = coloring([(i, j) for i in range(9) for j in range(i) if (i + j) % 3], n=9, m=3)
    one, ten = candidate(csp), candidate(csp)
    iterations = compiled_on(csp)
    done, _ = iterations.run(ten, wishes(10, temperature=1.0))
    for _ in range(done):
        iterations.run(one, wishes(temperature=1.0))
    assert all(np.array_equal(getattr(one, name), getattr(ten, name)) for name in Chain._fields)
    assert len({tuple(run_of(csp, seed)) for seed in range(5)}) > 1  # and others are drawn with another seed


def run_of(csp: CSP, seed: int) -> list[int]:
    chain = candidate(csp)
    chain.random[0] = seed + 1
    compiled_on(csp).run(chain, wishes(3, temperature=1.0))
    found: list[int] = chain.values.tolist()
    return found


@given(seed=SEEDS, p=st.floats(0, 1), informed=st.booleans())
def test_who_is_chosen(seed: int, p: float, informed: bool) -> None:
    csp = differences(seed)
    chain = candidate(csp, seed)
    wrong = in_conflict(csp, chain.values)
    if not bool(csp.free.any()) or not any(wrong):
        return
    trace = chosen_of(csp, chain, p, informed)
    assert not trace.chosen[~csp.free.numpy()].any()
    assert trace.chosen.any()
    if informed:
        assert all(trace.chosen[i] for i in range(csp.n) if wrong[i] and bool(csp.free[i]))
    if p == 0 and informed and any(wrong[i] and bool(csp.free[i]) for i in range(csp.n)):
        assert trace.chosen.tolist() == [w and bool(f) for w, f in zip(wrong, csp.free, strict=True)]


def chosen_of(csp: CSP, chain: Chain, p: float, informed: bool) -> Trace:
    return compiled_on(csp).run(chain, wishes(p=p, informed=informed))[1]


def test_a_share_p_is_chosen() -> None:
    csp = impossible(n=400, m=2)
    share = [chosen_of(csp, candidate(csp, seed), 0.3, False).chosen.mean() for seed in range(10)]
    assert 0.27 < np.mean(share) < 0.33


def test_values_are_drawn_as_likely_as_the_network_says() -> None:
    csp, made = cycle(3, 3), network()
    start = np.array([0, 0, 1])
    counts, expected = np.zeros((3, 3)), np.zeros((3, 3))
    iterations = compiled_on(csp, made)
    for seed in range(3000):
        chain = candidate(csp, seed)
        chain.values[:] = start
        _, trace = iterations.run(chain, wishes(p=1.0, temperature=1.0))
        counts[np.arange(3), chain.values] += 1
        expected = np.exp(trace.said - trace.said.max(1, keepdims=True))  # the same every time: all are chosen, none is redrawn
    np.testing.assert_allclose(counts / 3000, expected / expected.sum(1, keepdims=True), atol=0.04)


def test_greedy_takes_the_likeliest() -> None:
    csp = impossible(n=5, m=3)
    chain = candidate(csp)
    _, trace = compiled_on(csp).run(chain, wishes(p=1.0, greedy=True))
    assert chain.values.tolist() == trace.said.argmax(1).tolist()
    ordered = np.sort(trace.said, 1)
    np.testing.assert_allclose(chain.margin, ordered[:, -1] - ordered[:, -2], rtol=1e-5)


def test_patience_ends() -> None:
    csp = impossible(n=4, m=2)  # two violations are the fewest that are possible
    chain = candidate(csp)
    done, _ = compiled_on(csp).run(chain, wishes(500, patience=7))
    assert done < 500
    assert chain.numbers[STALE] == 7
    assert compiled_on(csp).run(chain, wishes(500, patience=7))[0] == 0


def test_a_solution_stays() -> None:
    """Also one that came by chance: it is the best of the candidate, without an iteration."""
    csp = cycle(4, 2)
    chain = candidate(csp)
    chain.values[:] = [0, 1, 0, 1]
    assert compiled_on(csp).run(chain, wishes(50))[0] == 0
    assert chain.peak.tolist() == [0, 1, 0, 1]
    assert chain.numbers[BEST] == chain.numbers[VIOLATIONS] == 0


def test_nothing_is_free() -> None:
    csp = problem([{"kind": "not_equal", "scope": [0, 1]}], n=2, m=2, given={0: 0, 1: 0})
    chain = candidate(csp)
    assert compiled_on(csp).run(chain, wishes(5))[0] == 0
    assert chain.values.tolist() == [0, 0]


def test_a_variable_without_a_value_left() -> None:
    csp = problem([{"kind": "all_different", "scope": [0, 1, 2]}], n=3, m=2, given={0: 0, 1: 1})
    chain = candidate(csp)
    assert compiled_on(csp).run(chain, wishes(5))[0] == 5
    assert chain.numbers[BEST] == 1


@pytest.mark.parametrize(
    "record",
    [
        {"kind": "cardinality", "scope": [0, 1], "value": 0, "count": 1, "compare": "=="},
        {"kind": "not_equal", "scope": [0, 1], "soft": True, "weight": 1.0},
    ],
)
def test_there_is_none_for_other_problems(record: dict[str, object]) -> None:
    assert network().compiled().iterations(problem([record], n=2, m=2)) is None


def test_there_is_none_before_it_is_compiled() -> None:
    assert network().iterations(cycle(3, 3)) is None


def test_weights_are_shared_by_problems() -> None:
    made = network().compiled()
    one, other = (compiled_on(csp, made) for csp in (cycle(3, 3), cycle(4, 3)))
    assert one.stack is other.stack

"""Whole iterations of an open network on a problem of differences: select, propose, decode and judge, many of them in one call.

An iteration on a small problem takes less time than the calls that it is made of otherwise. The twin is `Refinement` with `OpenNetwork` as
tensor operations: what is proposed is the same, what is drawn is drawn from other random numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numba
import numpy as np

from consformer.compiled.attention import Floats, kernel
from consformer.compiled.layers import Layers
from consformer.compiled.pieces import TOGETHER, add_products, answered, asked, attended, fed, sizes
from consformer.compiled.steps import (
    BEST,
    DROUGHT,
    SPENT,
    STALE,
    VIOLATIONS,
    Chain,
    Ground,
    Trace,
    Wishes,
    better,
    choose,
    coin,
    count,
    drawn,
    ground,
    link,
    open_values,
    take,
    tell,
)
from consformer.compiled.vectors import add, fill, hold, load, memory, store
from consformer.csp import CSP
from consformer.networks.open import FEATURES

if TYPE_CHECKING:
    from consformer.networks.open import OpenNetwork

# What the code on disk depends on.
_SOURCES = [Path(__file__).parent / name for name in ("pieces.py", "steps.py", "local/build.py", "local/chance.py")]
_SOURCES += [Path(__file__).parents[1] / "networks" / name for name in ("inputs.py", "open.py")]
_OF_LAYERS = ("norm1", "qkv", "out", "norm2", "others", "up", "down")  # in a `Stack`


class Stack(NamedTuple):
    """The weights of a network; those of its layers [L, ...] as in `layers.Weights`."""

    told: Floats  # [features,c] the map of the inputs
    shift: Floats  # [c]
    skip: Floats  # [2]
    norm1: Floats
    qkv: Floats
    out: Floats
    norm2: Floats
    others: Floats
    up: Floats
    down: Floats
    head: Floats  # [1,c]

    @staticmethod
    def of(network: OpenNetwork, layers: Layers) -> Stack:
        told = np.array(network.inputs.weight.detach().numpy().T, np.float32, order="C")
        shift, skip = (np.array(weight.detach().numpy(), np.float32) for weight in (network.inputs.bias, network.skip))
        each = {name: np.stack([getattr(layer, name) for layer in layers.layers]) for name in _OF_LAYERS}
        return Stack(told=told, shift=shift, skip=skip, head=layers.head, **each)


class Iterations:
    """A network on a problem: iterations of one candidate at a time."""

    def __init__(self, network: OpenNetwork, stack: Stack, csp: CSP) -> None:
        config = network.config
        self.ground, self.stack, self.turns = ground(csp), stack, config.repeat
        # About what an iteration takes: attention is cheap until there are many to attend to.
        degree = np.diff(self.ground.first)
        tokens = int((self.ground.may.sum(1) * (1 + degree / (4 * config.width))).sum())
        self.work = max(1, tokens) * config.repeat * config.layers * config.width
        self._iterate = iterations(*network.sizes)

    def run(self, chain: Chain, wishes: Wishes) -> tuple[int, Trace]:
        """As many iterations as there are wishes, or until the candidate is a solution or was without progress for too long.

        How many there were, and what the last one was about.
        """
        size = self.ground.chance.shape
        trace = Trace(np.zeros(size[0], np.bool_), chain.values.copy(), np.full(size, -np.inf, np.float32))
        return self._iterate(self.ground, self.stack, wishes, chain, trace, self.turns), trace


def _blank(kind: type[Any], **scalars: Any) -> Any:
    """The type of a tuple of arrays, for the compiler: that of one with as little in it as possible."""
    made = {"Floats": np.float32, "Places": np.int64, "Marks": np.bool_, "Random": np.uint64}
    axes = dict.fromkeys(("chance", "may", "said", "told", "head"), 2) | dict.fromkeys(_OF_LAYERS, 3)
    fields = {
        name: scalars[name] if name in scalars else np.zeros((1,) * axes.get(name, 1), made[hint.__forward_arg__])
        for name, hint in kind.__annotations__.items()
    }
    return numba.typeof(kind(**fields))


@lru_cache
def iterations(width: int, heads: int, hidden: int) -> Callable[..., int]:
    """The code of iterations of networks of this size."""
    head, some, wide, wider = sizes(width, heads, hidden)
    kinds = (
        _blank(Ground, alike=True),
        _blank(Stack),
        _blank(Wishes, informed=True, greedy=True, patience=1.0),
        _blank(Chain),
        _blank(Trace),
    )

    @kernel(numba.int64(*kinds, numba.int64), *_SOURCES)
    def iterate(ground: Ground, stack: Stack, wishes: Wishes, chain: Chain, trace: Trace, turns: int) -> int:
        """As many iterations as there are wishes, or until the candidate is a solution or was without progress for too long; how many."""
        numbers, wrong, number = chain.numbers, np.empty(len(chain.values), np.int64), np.full(ground.chance.shape, -1)
        group = np.empty(len(ground.free) + 1, np.int64)
        numbers[VIOLATIONS] = count(ground, chain.values, wrong)
        if len(ground.free) == 0:
            return 0
        if numbers[VIOLATIONS] == 0:  # by chance, before it was looked at
            better(chain)
        for done in range(len(wishes.p)):
            if numbers[VIOLATIONS] == 0 or numbers[STALE] >= wishes.patience:
                return done
            temperature = wishes.temperature[done]
            choose(ground, wrong, wishes.p[done], wishes.informed, chain.random, trace.chosen)
            hidden_values = coin(chain.random) < wishes.redraw[done]
            for i in range(len(chain.values)):
                trace.seen[i] = chain.values[i]
            if hidden_values:
                for i in ground.free:
                    if trace.chosen[i]:
                        trace.seen[i] = drawn(chain.random, ground.chance, i)
            many, variables, edges = open_values(ground, chain.values, trace.chosen, number, group)
            first, degree, source = np.empty(many + 1, np.int64), np.empty(many, np.int64), np.empty(edges, np.int64)
            widest = link(ground, trace.chosen, number, first, degree, source)
            x, plain = np.empty((many, FEATURES), np.float32), np.empty(many, np.float32)
            tell(ground, trace.seen, trace.chosen, number, degree, temperature, stack.skip, x, plain)

            told, h = np.empty(many * width, np.float32), np.empty(many * width, np.float32)
            told_, h_ = memory(told), memory(h)
            for t in range(many):
                store(told_, t * width, load(memory(stack.shift), 0, width))
                store(h_, t * width, fill(0, width))
            add_products(memory(x), many, FEATURES, memory(stack.told), width, wide, told_, 0)
            longest = 0
            for g in range(variables):
                longest = max(longest, group[g + 1] - group[g])
            longest = max(longest, TOGETHER)
            qkv, share, mixed = np.empty(3 * many * width, np.float32), np.empty(widest + 8, np.float32), np.empty(many * width, np.float32)
            state, normed = np.empty(longest * width, np.float32), np.empty(longest * width, np.float32)
            inner, made = np.empty(longest * hidden, np.float32), np.empty(3 * TOGETHER * width, np.float32)
            others, heard = np.empty(longest * 2 * width, np.float32), np.empty(longest * hidden, np.float32)
            tokens, allowed = np.arange(many), np.ones(many, np.bool_)
            qkv_, share_, mixed_, source_ = memory(qkv), memory(share), memory(mixed), memory(source)
            state_, normed_, inner_, made_ = memory(state), memory(normed), memory(inner), memory(made)
            others_, heard_ = memory(others), memory(heard)
            for _ in range(turns):
                for t in range(many):
                    store(h_, t * width, add(load(h_, t * width, width), load(told_, t * width, width)))
                for layer in range(len(stack.norm1)):
                    norm_, weight_ = memory(stack.norm1[layer]), memory(stack.qkv[layer])
                    asked(h_, qkv_, many, 1, norm_, weight_, normed_, made_, 0, many, width, head, wide)
                    out_ = memory(stack.out[layer])
                    attended(h_, qkv_, many, 1, first, source_, degree, out_, share_, mixed_, 0, many, width, head, some, wide)
                    norm_, from_others_ = memory(stack.norm2[layer]), memory(stack.others[layer])
                    up_, down_ = memory(stack.up[layer]), memory(stack.down[layer])
                    fed(
                        h_,
                        group,
                        tokens,
                        allowed,
                        norm_,
                        from_others_,
                        up_,
                        down_,
                        state_,
                        normed_,
                        inner_,
                        others_,
                        heard_,
                        0,
                        variables,
                        width,
                        hidden,
                        wide,
                        wider,
                    )
            said = np.empty(many, np.float32)
            answered(h_, many, memory(stack.head), said, width)
            hold((told, h, qkv, share, mixed, state, normed, inner, made, others, heard))
            hold((x, source))
            for t in range(many):
                said[t] -= plain[t]
            numbers[VIOLATIONS] += take(ground, number, said, temperature, wishes, chain, trace, wrong)
            numbers[SPENT] += 1
            numbers[STALE] += 1
            if numbers[VIOLATIONS] < numbers[BEST]:
                if numbers[SPENT] > 1:  # the first step from a random assignment tells nothing
                    numbers[DROUGHT] = max(numbers[DROUGHT], numbers[STALE] - 1)
                better(chain)
        return len(wishes.p)

    return iterate

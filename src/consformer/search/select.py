"""Which variables are updated in an iteration: strategies with one signature, in `SELECTORS`.

Each takes the problem, the candidates [K,n], p, the share asked for of each candidate and instance [K,I], a generator, and the `Context`:
what a search knows beyond that. It gives [K,n] bool, never True for a fixed variable, and never all False for a candidate of an
instance that has a free one.

Most of them weigh the variables. `NAME` then draws about p of the free ones, the heavier the likelier, and `NAME-top` takes the heaviest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from consformer.csp import CSP
from consformer.search.decode import with_gumbel_noise
from consformer.search.region import region
from consformer.search.share import per_instance, top, wanted

FLOOR = 0.1  # added to every weight before drawing: what looks right may be wrong, and must not stay out for ever
RAGGED = 0.5  # the chance by which drawn regions grow


@dataclass(frozen=True)
class Context:
    """What a search knows beyond problem and candidates."""

    margin: Tensor | None = None  # [K,n] see `margin`; none: nothing is known of any variable
    arms: Tensor | None = None  # [K,I] for `bandit`: which of the `ARMS` each candidate is to use


UNKNOWN = Context()
Weigher = Callable[[CSP, Tensor, Context], Tensor]


class Selector(Protocol):
    """Which variables to update: [K,n] bool."""

    def __call__(self, csp: CSP, values: Tensor, p: Tensor, generator: torch.Generator, context: Context = UNKNOWN) -> Tensor: ...


def uniform(csp: CSP, values: Tensor, p: Tensor, generator: torch.Generator, context: Context = UNKNOWN) -> Tensor:
    """Each free variable with probability p, as in the paper."""
    coins = torch.rand(values.shape, generator=generator)
    return _filled(csp, _below(csp, coins, p), coins, generator)


def conflicts(csp: CSP, values: Tensor, p: Tensor, generator: torch.Generator, context: Context = UNKNOWN) -> Tensor:
    """Each free variable with probability p, and all that are in conflict: what stays as it is, is what may be right."""
    coins = torch.rand(values.shape, generator=generator)
    return _filled(csp, _below(csp, coins, p) | (csp.in_conflict(values) & csp.free), coins, generator)


def _below(csp: CSP, coins: Tensor, p: Tensor) -> Tensor:
    return (coins < p[:, csp.instance]) & csp.free


def _filled(csp: CSP, subset: Tensor, coins: Tensor, generator: torch.Generator) -> Tensor:
    """The subset, with the variable of the lowest coin where chance chose nobody: an iteration without any is wasted."""
    empty = per_instance(csp, subset) == 0  # [K,I]
    if not bool((empty[:, csp.instance] & csp.free).any()):
        return subset
    return subset | top(csp, -coins, wanted(csp, torch.zeros(empty.shape)) * empty, generator)


# --- weights: what speaks for updating a variable, [K,n], none negative --------------------------------------------


def cost(csp: CSP, values: Tensor, context: Context = UNKNOWN) -> Tensor:
    """What the violated constraints of a variable weigh."""
    return _charges(csp, values).gather(2, values[..., None])[..., 0]


def regret(csp: CSP, values: Tensor, context: Context = UNKNOWN) -> Tensor:
    """What a variable's value costs above its cheapest one: the steepest way down of the expected violation at an assignment."""
    charges = _charges(csp, values)
    return charges.gather(2, values[..., None])[..., 0] - charges.masked_fill(~csp.domain, torch.inf).amin(2)


def doubt(csp: CSP, values: Tensor, context: Context = UNKNOWN) -> Tensor:
    """How likely the second best value was in the network's last answer, compared with the best: 1 where it was not asked yet."""
    return torch.ones(values.shape) if context.margin is None else torch.exp(-context.margin)


def _charges(csp: CSP, values: Tensor) -> Tensor:
    return csp.conflicts(csp.one_hot(values))


def margin(logits: Tensor) -> Tensor:
    """By how much the best value leads the second best: [K,n,m] -> [K,n].

    >>> margin(torch.tensor([[[0.5, 2.0, 1.0]]])).tolist()
    [[1.0]]
    """
    if logits.shape[2] < 2:
        return torch.zeros(logits.shape[:2])
    best, second = logits.topk(2, -1).values.unbind(-1)
    return best - second


# --- strategies by weight -------------------------------------------------------------------------------------------


def drawn(weigh: Weigher) -> Selector:
    """A share p of the free variables, drawn one after the other with chances in proportion to their weights."""

    def select(csp: CSP, values: Tensor, p: Tensor, generator: torch.Generator, context: Context = UNKNOWN) -> Tensor:
        score = with_gumbel_noise((weigh(csp, values, context) + FLOOR).log(), generator)
        return top(csp, score, wanted(csp, p), generator)

    return select


def heaviest(weigh: Weigher) -> Selector:
    """The share p of the free variables with the highest weights."""

    def select(csp: CSP, values: Tensor, p: Tensor, generator: torch.Generator, context: Context = UNKNOWN) -> Tensor:
        return top(csp, weigh(csp, values, context), wanted(csp, p), generator)

    return select


def related(csp: CSP, values: Tensor, p: Tensor, generator: torch.Generator, context: Context = UNKNOWN) -> Tensor:
    """A ragged region around a random variable in conflict, or around any when none is."""
    seeds = top(csp, (cost(csp, values) > 0).float(), wanted(csp, torch.zeros_like(p)), generator)
    return region(csp, seeds, wanted(csp, p), generator, chance=RAGGED)


def related_top(csp: CSP, values: Tensor, p: Tensor, generator: torch.Generator, context: Context = UNKNOWN) -> Tensor:
    """The nearest neighbours of the variable that costs most."""
    seeds = top(csp, cost(csp, values), wanted(csp, torch.zeros_like(p)), generator)
    return region(csp, seeds, wanted(csp, p), generator)


# --- one strategy here, another there -------------------------------------------------------------------------------

BASIC: dict[str, Selector] = {
    "uniform": uniform,
    "conflicts": conflicts,
    "worst": drawn(cost),
    "worst-top": heaviest(cost),
    "related": related,
    "related-top": related_top,
    "unsure": drawn(doubt),
    "unsure-top": heaviest(doubt),
    "gradient": drawn(regret),
    "gradient-top": heaviest(regret),
}
ARMS = ("uniform", "conflicts", "worst", "related", "unsure", "gradient")  # what a bandit chooses from: few, so that it learns soon


def bandit(csp: CSP, values: Tensor, p: Tensor, generator: torch.Generator, context: Context = UNKNOWN) -> Tensor:
    """Each candidate of each instance by the strategy that the context names for it; the search learns which pays (`search/bandit.py`)."""
    arms = torch.zeros(p.shape, dtype=torch.int64) if context.arms is None else context.arms
    subset = torch.zeros(values.shape, dtype=torch.bool)
    for arm in sorted(set(arms.flatten().tolist())):
        chosen = BASIC[ARMS[arm]](csp, values, p, generator, context)
        subset |= chosen & (arms == arm)[:, csp.instance]
    return subset


SELECTORS: dict[str, Selector] = {**BASIC, "bandit": bandit}
REMEMBERING = frozenset({"unsure", "unsure-top", "bandit"})  # those that live on what happened before: only a search can use them

"""Starting anew: how long a candidate may go without progress, and what it becomes then.

Shapes: K candidates, n variables, I instances, E elites of each instance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from consformer.csp import CSP
from consformer.search.region import region
from consformer.search.share import per_instance, top, wanted

ELITES = 8  # of each instance
NEAR = 0.1  # elites that differ in less than this share of the free variables are one and the same for us
SHAKEN = (0.05, 0.3)  # share of the free variables that is drawn anew in an elite
HANDED = (0.25, 0.75)  # share of the free variables that the second parent hands on
LONGEST = 16.0  # times the patience asked for: no candidate is waited for longer than that
PACES = ("fixed", "luby", "adaptive")


# --- how long -----------------------------------------------------------------------------------------------------


def luby(turn: Tensor) -> Tensor:
    """Luby's sequence, from turn 0: no other is much better for all distributions of the time that a try needs.

    >>> luby(torch.arange(15)).tolist()
    [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]
    """
    rest = turn + 1
    while True:
        length = 2 ** torch.log2(rest.double() + 0.5).floor().long()  # the highest power of two that is not above it
        whole = rest == 2 * length - 1
        if bool(whole.all()):
            return length
        rest = torch.where(whole, rest, rest - length + 1)


def pace(name: str, patience: Tensor, turn: Tensor, drought: Tensor) -> Tensor:
    """How long candidates may go without progress, [K,I]: the `patience` [I], at the pace asked for.

    `fixed`: no more; `luby`: times Luby's sequence, by the restarts [K,I] of a candidate so far; `adaptive`: at least twice the longest
    `drought` [I] that ended well.
    """
    if name == "luby":
        return patience * luby(turn).clamp(max=int(LONGEST))
    if name == "adaptive":
        patience = torch.maximum(patience, (2.0 * drought).minimum(LONGEST * patience))
    return patience.expand(turn.shape)


# --- elites -------------------------------------------------------------------------------------------------------


@dataclass
class Elites:
    """The best assignments that candidates came to before they were given up, unlike one another."""

    values: Tensor  # [E,n]
    key: Tensor  # [E,I] smaller is better, infinite where there is none yet

    @staticmethod
    def none(csp: CSP) -> Elites:
        return Elites(
            torch.zeros(ELITES, csp.n, dtype=torch.int64), torch.full((ELITES, len(csp.instances)), torch.inf, dtype=torch.float64)
        )

    def admit(self, csp: CSP, values: Tensor, key: Tensor, asking: Tensor) -> None:
        """Let candidates [K,n] with keys [K,I] in where they ask for it [K,I]: one near to an elite in its place, if it is better, others
        in the place of the worst, likewise.
        """
        free = per_instance(csp, csp.free[None])[0].clamp(min=1)
        for one, worth, asks in zip(values, key, asking, strict=True):
            apart = per_instance(csp, self.values != one) / free  # [E,I]
            apart = apart.masked_fill(self.key.isinf(), torch.inf)
            distance, nearest = apart.min(0)
            place = torch.where(distance < NEAR, nearest, self.key.argmax(0))  # [I]
            enters = asks & (worth < self.key.gather(0, place[None])[0])
            slot = torch.arange(ELITES)[:, None] == place  # [E,I]
            self.key = torch.where(slot & enters, worth, self.key)
            self.values = torch.where((slot & enters)[:, csp.instance], one, self.values)

    def drawn(self, csp: CSP, pool: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Two random elites for every candidate of every instance, [K,n] each, and whether they are two [K,I]; else they are the same."""
        coins = torch.rand(pool, *self.key.shape, generator=generator).masked_fill(self.key.isinf(), -1.0)  # [K,E,I]
        (first, second), two = coins.topk(2, 1).indices.unbind(1), (~self.key.isinf()).sum(0) > 1
        second = torch.where(two, second, first)
        one, other = (self.values.gather(0, index[:, csp.instance]) for index in (first, second))
        return one, other, two.expand(pool, -1)


# --- what a candidate becomes -------------------------------------------------------------------------------------


def scratch(csp: CSP, elites: Elites, pool: int, generator: torch.Generator) -> Tensor:
    """A random assignment: [K,n]."""
    return csp.random_values(pool, generator)


def elite(csp: CSP, elites: Elites, pool: int, generator: torch.Generator) -> Tensor:
    """An elite with some variables drawn anew."""
    return shaken(csp, elites.drawn(csp, pool, generator)[0], generator)


def cross(csp: CSP, elites: Elites, pool: int, generator: torch.Generator) -> Tensor:
    """An elite with a connected region of another: what either got right together stays together. As `elite` where there is only one."""
    one, other, two = elites.drawn(csp, pool, generator)
    return torch.where(two[:, csp.instance], crossed(csp, one, other, generator), shaken(csp, one, generator))


def mixed(csp: CSP, elites: Elites, pool: int, generator: torch.Generator) -> Tensor:
    """One of the other three, drawn for every candidate and instance."""
    which = torch.randint(3, (pool, len(csp.instances)), generator=generator)[:, csp.instance]
    each = torch.stack([origin(csp, elites, pool, generator) for origin in (scratch, elite, cross)])  # [3,K,n]
    return each.gather(0, which[None])[0]


def shaken(csp: CSP, values: Tensor, generator: torch.Generator) -> Tensor:
    """Assignments [K,n] with a random share of the free variables drawn anew."""
    share = _between(SHAKEN, csp, len(values), generator)
    anew = torch.rand(values.shape, generator=generator) < share[:, csp.instance]
    return torch.where(anew, csp.random_values(len(values), generator), values)


def crossed(csp: CSP, one: Tensor, other: Tensor, generator: torch.Generator) -> Tensor:
    """Assignments [K,n] that are `other` in a connected region around a random variable, and `one` elsewhere."""
    count = wanted(csp, _between(HANDED, csp, len(one), generator))
    seeds = top(csp, torch.zeros(one.shape), torch.ones_like(count), generator)  # all are equal, so chance decides
    return torch.where(region(csp, seeds, count, generator), other, one)


def _between(span: tuple[float, float], csp: CSP, pool: int, generator: torch.Generator) -> Tensor:
    low, high = span
    return low + (high - low) * torch.rand(pool, len(csp.instances), generator=generator)


Origin = Callable[[CSP, Elites, int, torch.Generator], Tensor]
ORIGINS: dict[str, Origin] = {"scratch": scratch, "elite": elite, "cross": cross, "mixed": mixed}

"""A bandit learns, while a problem is solved, which strategy of selection pays."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from consformer.search.select import ARMS

PRIOR = 2.0  # an arm of which nothing is known counts as tried so often, with as much success as all together
MEMORY = 0.99  # of what was learnt, so much still counts an iteration later: what pays at first is not what pays at last


class Bandit:
    """Thompson sampling over `ARMS`, for each problem by itself and for all of its candidates together.

    An arm pays when the candidate that used it becomes better than it ever was. The share of times it will pay is drawn for every arm
    from what is known of it, and the arm with the highest draw is used: rarely tried ones have their chance. The normal
    distribution stands in for the Beta distribution of the same mean and variance, which cannot be drawn from a generator of one's own.
    """

    def __init__(self, problems: int) -> None:
        self.used = torch.zeros(problems, len(ARMS), dtype=torch.int64)  # how often, over the whole run
        self.paid = torch.zeros(problems, len(ARMS), dtype=torch.int64)
        self._hits = torch.zeros(problems, len(ARMS))  # recently, see `MEMORY`
        self._misses = torch.zeros(problems, len(ARMS))

    def draw(self, members: Sequence[int], pool: int, generator: torch.Generator) -> Tensor:
        """Which arm each candidate of these problems is to use: [K,I]."""
        rows = torch.tensor(members)
        hits, misses = self._hits[rows], self._misses[rows]  # [I,A]
        usual = (hits.sum(1, keepdim=True) + 1) / ((hits + misses).sum(1, keepdim=True) + 2)  # [I,1]
        hits, misses = hits + PRIOR * usual, misses + PRIOR * (1 - usual)
        total = hits + misses
        spread = (hits * misses / (total.square() * (total + 1))).sqrt()
        noise = torch.randn(pool, *hits.shape, generator=generator)  # [K,I,A]
        return (hits / total + noise * spread).argmax(-1)

    def learn(self, members: Sequence[int], arms: Tensor, paid: Tensor, counts: Tensor) -> None:
        """Whether the arms [K,I] paid [K,I]; only where it counts [K,I]."""
        rows = torch.tensor(members)
        chosen = torch.nn.functional.one_hot(arms, len(ARMS)) * counts[..., None]  # [K,I,A]
        used, won = chosen.sum(0), (chosen * paid[..., None]).sum(0)  # [I,A]
        self.used[rows] += used
        self.paid[rows] += won
        self._hits[rows] = self._hits[rows] * MEMORY + won
        self._misses[rows] = self._misses[rows] * MEMORY + (used - won)

    def account(self, problem: int) -> dict[str, dict[str, int]]:
        """How often each strategy was used on a problem, and how often it paid.

        >>> bandit = Bandit(1)
        >>> bandit.learn([0], torch.tensor([[1], [1]]), torch.tensor([[True], [False]]), torch.tensor([[True], [True]]))
        >>> bandit.account(0)["conflicts"]
        {'used': 2, 'paid': 1}
        """
        rows = zip(ARMS, self.used[problem].tolist(), self.paid[problem].tolist(), strict=True)
        return {name: {"used": used, "paid": paid} for name, used, paid in rows}

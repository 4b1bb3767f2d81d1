from __future__ import annotations

import torch
from torch import Tensor

from consformer.search.bandit import Bandit
from consformer.search.select import ARMS

EVERYWHERE = torch.ones(1, 1, dtype=torch.bool)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def play(bandit: Bandit, chances: Tensor, rounds: int, source: torch.Generator) -> Tensor:
    """Arms pay by chance; gives how often each was drawn in the second half."""
    drawn = torch.zeros(len(ARMS), dtype=torch.int64)
    for turn in range(rounds):
        arms = bandit.draw([0], 1, source)
        paid = torch.rand(1, 1, generator=source) < chances[arms]
        bandit.learn([0], arms, paid, EVERYWHERE)
        if turn >= rounds // 2:
            drawn += torch.bincount(arms.flatten(), minlength=len(ARMS))
    return drawn


def test_it_comes_to_use_what_pays() -> None:
    for best in range(len(ARMS)):
        chances = torch.full((len(ARMS),), 0.02)
        chances[best] = 0.4
        drawn = play(Bandit(1), chances, 400, generator(best))
        assert int(drawn.argmax()) == best
        assert int(drawn[best]) > 100
        assert bool((drawn > 0).sum() > 1)  # the others are still tried now and then


def test_it_follows_when_another_begins_to_pay() -> None:
    bandit, source, first, second = Bandit(1), generator(), torch.full((len(ARMS),), 0.02), torch.full((len(ARMS),), 0.02)
    first[1], second[4] = 0.5, 0.5
    play(bandit, first, 300, source)
    assert int(play(bandit, second, 300, source).argmax()) == 4


def test_all_are_tried_at_first() -> None:
    arms = Bandit(3).draw([0, 2], 200, generator())
    assert arms.shape == (200, 2)
    assert bool((torch.bincount(arms[:, 0], minlength=len(ARMS)) > 10).all())


def test_problems_learn_by_themselves() -> None:
    bandit = Bandit(3)
    arms = torch.tensor([[0, 3], [0, 5]])  # [K,I] of problems 2 and 0
    bandit.learn([2, 0], arms, torch.tensor([[True, False], [False, True]]), torch.tensor([[True, True], [True, False]]))
    assert bandit.account(2)[ARMS[0]] == {"used": 2, "paid": 1}
    assert bandit.account(0)[ARMS[3]] == {"used": 1, "paid": 0}
    assert bandit.account(0)[ARMS[5]] == {"used": 0, "paid": 0}  # it did not count
    assert list(bandit.account(1)) == list(ARMS)
    assert not any(sum(counts.values()) for counts in bandit.account(1).values())


def test_it_follows_the_generator() -> None:
    bandit = Bandit(1)
    assert torch.equal(bandit.draw([0], 50, generator(1)), bandit.draw([0], 50, generator(1)))
    assert not torch.equal(bandit.draw([0], 50, generator(1)), bandit.draw([0], 50, generator(2)))

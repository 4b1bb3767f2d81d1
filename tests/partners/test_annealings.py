from __future__ import annotations

import numpy as np

from consformer.partners.annealings import HEATS, HOT, SHARES, SHORTEST, WARM, Annealing, Annealings

VARIABLES = 100


def played(gains: dict[bool, float], count: int = 2000) -> list[Annealing]:
    """Those that come when long (False) and short ones (True) gain so much for each move."""
    annealings = Annealings(np.random.default_rng(0), VARIABLES)
    found, done, cost = [annealings.first()], 0, 1e9
    while len(found) < count:
        moves = found[-1].sweeps * VARIABLES
        done += moves
        cost -= moves * gains[len(found) > 1 and annealings.short]
        found.append(annealings.following(done, cost))
    return found


def share_of_short(found: list[Annealing]) -> float:
    long = [each for each in found if each.sweeps > 8 * SHORTEST]  # no short one takes as many
    return 1 - sum(each.sweeps for each in long) / sum(each.sweeps for each in found)


def test_the_first_is_short_and_hot_and_later_ones_take_longer() -> None:
    found = played({False: 1.0, True: 1.0})
    assert found[0].sweeps == SHORTEST
    assert HOT[0] <= found[0].heat <= HOT[1]
    assert not found[0].from_best
    total = 0
    for each in found:
        assert each.sweeps <= max(8 * SHORTEST, total / 4)
        total += each.sweeps
    assert max(each.sweeps for each in found) >= total / 64


def test_those_that_begin_at_the_best_do_not_forget_it() -> None:
    for each in played({False: 1.0, True: 1.0}):
        assert each.heat <= (max(HEATS[1], WARM[1]) if each.from_best else HOT[1])


def test_the_kind_that_gains_more_has_more_moves() -> None:
    few, many = (share_of_short(played(gains)) for gains in ({False: 1.0, True: 0.1}, {False: 0.1, True: 1.0}))
    assert SHARES[0] - 0.1 <= few < 0.6 < many


def test_short_ones_are_as_hot_as_those_that_were_of_use() -> None:
    annealings = Annealings(np.random.default_rng(0), VARIABLES)
    done, cost, heats = 0, 1e9, list[float]()
    following = annealings.first()
    for _ in range(3000):
        done += following.sweeps * VARIABLES
        cost -= 0.2 < following.heat < 0.3 and annealings.short
        following = annealings.following(done, cost)
        if annealings.short:
            heats.append(following.heat)
    assert np.mean([0.15 < heat < 0.35 for heat in heats]) > 0.6

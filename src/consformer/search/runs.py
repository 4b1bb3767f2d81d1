"""Runs of iterations as compiled code, where the network has such for all problems of a batch: what is proposed is the same, and nothing
is lost between one iteration and the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from consformer.csp import CSP
from consformer.networks.base import Network
from consformer.search.pool import Batch
from consformer.search.schedule import Moment, Schedule

if TYPE_CHECKING:
    from consformer.compiled.chain import Iterations
    from consformer.search.refine import SearchSettings

SELECTIONS = {"uniform": False, "conflicts": True}  # that there is compiled code for: whether all in conflict are updated
LONGEST = 32  # iterations in a run
NOTHING = 10**15  # more violations than there can be: of a candidate that was just started
WORK = 10_000_000  # of all candidates in a run (see `Iterations.work`): ten or twenty milliseconds


class Runs:
    """The compiled iterations of a network on the problems of a search, and their random numbers."""

    def __init__(self, network: Network, settings: SearchSettings) -> None:
        """`network` is compiled."""
        self.network, self.settings = network, settings
        self.informed, self.greedy = SELECTIONS.get(settings.select), settings.decode == "greedy"
        self._known: dict[CSP, Iterations | None] = {}  # of the problems in work
        self._random: dict[tuple[int, int], NDArray[np.uint64]] = {}  # of each problem and candidate

    def of(self, problems: Sequence[CSP]) -> list[Iterations] | None:
        """Compiled iterations on each of these problems; none unless there are for all."""
        if self.informed is None:
            return None
        self._known = {csp: self._known[csp] if csp in self._known else self.network.iterations(csp) for csp in problems}
        found = [each for csp in problems if (each := self._known[csp]) is not None]
        return found if len(found) == len(problems) else None

    def run(self, batch: Batch, each: Sequence[Iterations], moment: Moment) -> int:
        """Take all candidates a few iterations further, as many as are left to their problem at most; how many it were."""
        from consformer.compiled.attention import in_parts
        from consformer.compiled.steps import BEST, DROUGHT, NUMBERS, SPENT, STALE, Chain, Wishes

        settings, pool = self.settings, len(batch.values)
        length = max(1, min(LONGEST, WORK // (pool * sum(iterations.work for iterations in each))))
        most = torch.full_like(batch.age, length)
        if settings.iterations is not None:
            most = most.minimum(settings.iterations - batch.age)
        limit = batch.limit(settings.restart, settings.patience)
        if pool > 1:  # nobody waits for others in order to be restarted
            most = most.minimum((limit - batch.stale).amin(0).ceil().clamp(1, length).long())
        schedules = settings.p, settings.temperature, settings.redraw
        p, temperature, redraw = (over(schedule, moment, length, settings.iterations) for schedule in schedules)
        values, peak, margin = (x.clone() for x in (batch.values, batch.peak, batch.margin))
        numbers = torch.zeros(pool, len(each), NUMBERS, dtype=torch.int64)
        numbers[..., BEST] = batch.candidate_key.clamp(max=NOTHING).long()
        numbers[..., STALE], numbers[..., SPENT] = batch.stale, batch.spent
        done = torch.zeros(pool, len(each), dtype=torch.int64)
        waiting = [(k, i) for i in torch.nonzero(~batch.done)[:, 0].tolist() for k in range(pool)]

        def work(begin: int, end: int) -> None:
            for k, i in waiting[begin:end]:
                there, now = (k, slice(*batch.spans[i])), (k, i, slice(int(most[i])))
                random = self._chance(batch.members[i], k)
                chain = Chain(values[there].numpy(), peak[there].numpy(), margin[there].numpy(), numbers[k, i].numpy(), random)
                asked = bool(self.informed), self.greedy, float(limit[k, i])
                done[k, i], _ = each[i].run(chain, Wishes(p[now].numpy(), temperature[now].numpy(), redraw[now].numpy(), *asked))

        in_parts(len(waiting), work)
        batch.values, batch.peak, batch.margin = values, peak, margin
        best, batch.stale, batch.spent = (numbers[..., place].clone() for place in (BEST, STALE, SPENT))
        batch.violations = torch.where(best < NOTHING, best, batch.violations)
        batch.candidate_key = torch.where(best < NOTHING, best.double(), batch.candidate_key)
        batch.drought = batch.drought.maximum(numbers[..., DROUGHT].amax(0))
        # A problem is solved when the first of its candidates is.
        solved = best == 0
        first = torch.where(solved, done, NOTHING).amin(0)
        age = torch.where(solved.any(0), first, done.amax(0)).masked_fill(batch.done, 0)
        batch.age = batch.age + age
        return int(age.max())

    def _chance(self, member: int, candidate: int) -> NDArray[np.uint64]:
        """The state of the random numbers of a candidate, never 0."""
        if (member, candidate) not in self._random:
            seeds = np.random.SeedSequence([self.settings.seed, member, candidate])
            self._random[member, candidate] = seeds.generate_state(1, np.uint64) | np.uint64(1)
        return self._random[member, candidate]


def over(schedule: Schedule, moment: Moment, length: int, limit: int | None) -> torch.Tensor:
    """What a schedule says of so many iterations from now on, of `limit` on each problem: [K,I,length]."""
    steps = torch.arange(length)
    count = moment.round.shape[1]

    def along(x: torch.Tensor) -> torch.Tensor:
        return x.repeat_interleave(length, -1)

    age, progress = along(moment.age) + steps.repeat(count), along(moment.progress)
    later = Moment(
        age=age,
        progress=progress if limit is None else progress.maximum((age / limit).clamp(max=1.0)),
        round=along(moment.round),
        spent=along(moment.spent) + steps.repeat(count),
        free=along(moment.free),
        generator=moment.generator,
    )
    return schedule(later).float().view(len(moment.round), count, length).contiguous()

"""The pool: candidates of the problems in work, what they are worth, and who comes and goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from consformer.csp import CSP
from consformer.search.restart import ORIGINS, Elites, pace

QUICK = 50  # problems with up to so many free variables are restarted after the patience asked for, larger ones later


@dataclass
class Batch:
    """The problems in work as one union, with K candidates of each."""

    csp: CSP
    members: list[int]  # which problem each instance is
    values: Tensor  # [K,n]
    age: Tensor  # [I] iterations done
    best_key: Tensor  # [I] of the incumbent
    candidate_key: Tensor  # [K,I] best of each candidate since it started
    peak: Tensor  # [K,n] its values then
    stale: Tensor  # [K,I] iterations since then
    spent: Tensor  # [K,I] iterations since it started
    drought: Tensor  # [I] the longest time without progress that ended well, of any candidate
    margin: Tensor  # [K,n] how sure the network was of each variable when it was last asked (see `select.margin`); 0: not yet
    elites: Elites
    round: Tensor  # [K,I] how often each candidate was restarted, plus its own number
    violations: Tensor  # [K,I] of each candidate at its best
    cost: Tensor  # [K,I]
    done: Tensor  # [I]
    optimising: Tensor  # [I] has soft constraints
    heavy: Tensor  # [I] more than all soft constraints together: what one hard violation weighs in a key
    movable: Tensor  # [I] has a free variable
    slowness: Tensor  # [I] free variables over `QUICK`, at least 1: how much longer progress may take
    spans: list[tuple[int, int]]

    @staticmethod
    def start(problems: Sequence[CSP], members: list[int], pool: int, generator: torch.Generator) -> Batch:
        csp = CSP.union(problems)
        values = csp.random_values(pool, generator)
        count = len(csp.instances)
        batch = Batch(
            csp=csp,
            members=members,
            values=values,
            peak=values,
            margin=torch.zeros(values.shape),
            elites=Elites.none(csp),
            age=torch.zeros(count, dtype=torch.int64),
            drought=torch.zeros(count, dtype=torch.int64),
            best_key=torch.full((count,), float("inf"), dtype=torch.float64),
            candidate_key=torch.full((pool, count), float("inf"), dtype=torch.float64),
            stale=torch.zeros(pool, count, dtype=torch.int64),
            spent=torch.zeros(pool, count, dtype=torch.int64),
            round=torch.arange(pool)[:, None].repeat(1, count),
            violations=torch.zeros(pool, count, dtype=torch.int64),
            cost=torch.zeros(pool, count, dtype=torch.float64),
            done=torch.zeros(count, dtype=torch.bool),
            **_facts(csp),
        )
        batch.judge()
        return batch

    def judge(self) -> None:
        """Evaluate the candidates and how long ago each improved."""
        violations = self.csp.violations(self.values)
        cost = self.csp.cost(self.values) if bool(self.optimising.any()) else torch.zeros(violations.shape, dtype=torch.float64)
        key = violations * self.heavy + cost  # hard violations first, then soft cost
        improved = key < self.candidate_key
        ended = torch.where(improved & (self.spent > 1), self.stale, 0)  # the first step from a random assignment tells nothing
        self.drought = torch.maximum(self.drought, ended.amax(0))
        self.peak = torch.where(improved[:, self.csp.instance], self.values, self.peak)
        self.candidate_key = torch.where(improved, key, self.candidate_key)
        self.violations, self.cost = torch.where(improved, violations, self.violations), torch.where(improved, cost, self.cost)
        self.stale = torch.where(improved, 0, self.stale + 1)

    def best(self) -> tuple[Tensor, Tensor]:
        """[I] the candidate of each instance that was best since it started, and its key, smaller is better."""
        key, index = self.candidate_key.min(0)
        return index, key

    def limit(self, patience: int | None, pacing: str) -> Tensor:
        """[K,I] iterations without progress after which candidates start anew; larger problems are given more time, in proportion."""
        turn = self.round - torch.arange(len(self.values))[:, None]
        if patience is None:
            return torch.full(turn.shape, torch.inf)
        return pace(pacing, patience * self.slowness, turn, self.drought)

    def restart(self, patience: int, generator: torch.Generator, origin: str = "scratch", pacing: str = "fixed") -> None:
        """Candidates without progress start anew (see `search/restart.py`)."""
        frozen = self.stale >= self.limit(patience, pacing)
        if not bool(frozen.any()):
            return
        everywhere = frozen[:, self.csp.instance]
        if origin != "scratch":
            self.elites.admit(self.csp, self.peak, self.candidate_key, frozen)
        fresh = ORIGINS[origin](self.csp, self.elites, len(self.values), generator)
        self.values = torch.where(everywhere, fresh, self.values)
        self.margin = self.margin.masked_fill(everywhere, 0.0)
        self.candidate_key[frozen] = float("inf")
        self.stale[frozen] = self.spent[frozen] = 0
        self.round[frozen] += 1

    def only(self, keep: list[int]) -> Batch:
        """The batch without the other instances."""
        if len(keep) == len(self.members):
            return self
        csp = CSP.union([self.csp.instances[i] for i in keep])
        pick = torch.tensor(keep)
        stay = torch.cat([torch.arange(*self.spans[i]) for i in keep])
        return Batch(
            csp=csp,
            members=[self.members[i] for i in keep],
            elites=Elites(self.elites.values[:, stay], self.elites.key[:, pick]),
            **{name: getattr(self, name)[pick] for name in _PER_INSTANCE},
            **{name: getattr(self, name)[:, pick] for name in _PER_CANDIDATE},
            **{name: getattr(self, name)[:, stay] for name in _PER_VARIABLE},
            **_facts(csp),
        )

    def joined(self, other: Batch) -> Batch:
        """Two batches as one."""
        csp = CSP.union([self.csp, other.csp])
        elites = [torch.cat(pair, 1) for pair in ((self.elites.values, other.elites.values), (self.elites.key, other.elites.key))]
        joint: dict[str, Any] = {name: torch.cat([getattr(self, name), getattr(other, name)]) for name in _PER_INSTANCE}
        joint |= {name: torch.cat([getattr(self, name), getattr(other, name)], 1) for name in _PER_CANDIDATE + _PER_VARIABLE}
        return Batch(csp=csp, members=self.members + other.members, elites=Elites(*elites), **joint, **_facts(csp))


_PER_INSTANCE = ("age", "best_key", "drought", "done")  # [I]
_PER_CANDIDATE = ("candidate_key", "stale", "spent", "round", "violations", "cost")  # [K,I]
_PER_VARIABLE = ("values", "peak", "margin")  # [K,n]


def _facts(csp: CSP) -> dict[str, Any]:
    """What a batch needs to know of its instances."""
    optimising, heavy, free, spans, end = [], [], [], [], 0
    for part in csp.instances:
        soft = sum(float((c.weight * c.soft * c.sizes**2).sum()) for c in part.constraints)
        optimising.append(soft > 0)
        heavy.append(soft + 1)
        free.append(int(part.free.sum()))
        spans.append((end, end + part.n))
        end += part.n
    return {
        "optimising": torch.tensor(optimising),
        "heavy": torch.tensor(heavy, dtype=torch.float64),
        "movable": torch.tensor(free) > 0,
        "slowness": (torch.tensor(free) / QUICK).clamp(min=1),
        "spans": spans,
    }

"""What share of its validation problems a network solves in training."""

from __future__ import annotations

import torch
import torch.distributed as dist

from consformer import datasets
from consformer.checker import check
from consformer.csp import CSP
from consformer.networks import Network
from consformer.search.refine import Refinement, SearchSettings
from consformer.search.schedule import parse_schedule
from consformer.training.checkpoint import WEIGHT
from consformer.training.recipe import Recipe, section

SEED = 7_777_777  # apart from every training seed: fresh instances in training come from (seed, step, ...) sequences


def shares_solved(recipe: Recipe, network: Network, rank: int = 0, world: int = 1) -> dict[str, float]:
    """By validation set, the share that is solved, by the checker's word (of optimisation problems: the share of the soft weight that is
    satisfied); the processes share the work.
    """
    found = {}
    for index, chosen in enumerate(recipe.validation):
        problems = datasets.load(chosen.family, chosen.count, SEED + index, chosen.params)
        for csp in problems:
            network.check_fit(csp)
        search = getattr(recipe, section(problems)) or recipe.search
        settings = SearchSettings(
            iterations=chosen.iterations,
            pool=search.pool,
            p=parse_schedule(search.p),
            temperature=parse_schedule(search.temperature),
            select=search.select,
            redraw=parse_schedule(search.redraw, low=0.0),
            decode=search.decode,
            restart=search.restart,
            restarts=search.restarts,
            patience=search.patience,
            seed=index,
        )
        refinement = Refinement(problems[rank::world], network.with_depth(search.depth), settings)
        for _event in refinement:
            pass
        pairs = zip(refinement.problems, refinement.incumbents, strict=True)
        total = torch.tensor([sum(score(csp, best.values) for csp, best in pairs if best is not None)], dtype=torch.float64)
        if world > 1:
            dist.all_reduce(total)
        metric = WEIGHT if any(csp.soft_weight for csp in problems) else ""
        found[f"{chosen.family}/{index}{metric}"] = float(total) / len(problems)
    return found


def score(csp: CSP, values: list[int]) -> float:
    """1 for a solved problem, 0 for an unsolved one; with soft constraints, the share of their weight that holds."""
    verdict, weight = check(csp, values), csp.soft_weight
    if not verdict.solved:
        return 0.0
    return 1.0 if verdict.objective is None or not weight else 1 - abs(verdict.objective - csp.offset) / weight

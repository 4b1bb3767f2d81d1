"""Rivals: other ways to solve a CSP, for comparison and for reference answers."""

from consformer.baselines.base import Answer, Rival
from consformer.baselines.cpsat import FEASIBILITY_JUMP, RANDOM_SEARCH, CpSat, CpSatResult, solve_cpsat
from consformer.baselines.cuts import DWaveAnnealing, DWaveTabu, GoemansWilliamson, GreedyCut
from consformer.baselines.graphs import Greedy, TabuCol

CPSAT = CpSat()
LARGEST_FIRST = Greedy()
DSATUR = Greedy("greedy-dsatur", "NetworkX greedy, DSATUR", strategy="DSATUR")
COLOURING = (LARGEST_FIRST, DSATUR, CPSAT, FEASIBILITY_JUMP, RANDOM_SEARCH, TabuCol())
CUTTING = (GreedyCut(), GoemansWilliamson(), CPSAT, DWaveTabu(), DWaveAnnealing())

__all__ = ["COLOURING", "CPSAT", "CUTTING", "Answer", "CpSatResult", "Rival", "solve_cpsat"]

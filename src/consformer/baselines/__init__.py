"""Rivals: other ways to solve a CSP, for comparison and for reference answers."""

from consformer.baselines.base import Answer, Rival
from consformer.baselines.cpsat import CpSat, CpSatResult, solve_cpsat

__all__ = ["Answer", "CpSat", "CpSatResult", "Rival", "solve_cpsat"]

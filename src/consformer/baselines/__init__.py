"""Rivals: other ways to solve a CSP, for comparison and for reference answers."""

from consformer.baselines.cpsat import CpSatResult, solve_cpsat

__all__ = ["CpSatResult", "solve_cpsat"]

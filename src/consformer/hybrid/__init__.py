"""Solving by several parts together: propagation, backtracking, local search, CP-SAT, and the network, with an account of who did what."""

from consformer.hybrid.run import METHODS, PARTS, HybridRun, NetworkSearch

__all__ = ["METHODS", "PARTS", "HybridRun", "NetworkSearch"]

"""Symbolic partners of the network: what reasoning settles before it starts, and local search beside it."""

from consformer.partners.local import Best, LocalSearch
from consformer.partners.propagation import Contradiction, Propagation, propagate

__all__ = ["Best", "Contradiction", "LocalSearch", "Propagation", "propagate"]

"""Symbolic partners of the network: what reasoning settles before it starts, and local search beside it."""

from consformer.partners.propagation import Contradiction, Propagation, propagate

__all__ = ["Contradiction", "Propagation", "propagate"]

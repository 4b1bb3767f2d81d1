"""Partners: symbolic solvers that work beside the network."""

from consformer.partners.cpsat import Found, Prover
from consformer.partners.neighbourhood import neighbourhood
from consformer.partners.process import MISSING, available
from consformer.partners.repair import Repair, Repairer

__all__ = ["MISSING", "Found", "Prover", "Repair", "Repairer", "available", "neighbourhood"]

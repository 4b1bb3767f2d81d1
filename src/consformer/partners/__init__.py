"""Partners: symbolic solvers that work beside the network."""

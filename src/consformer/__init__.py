"""consformer: constraint problems solved by a Transformer that repairs assignments."""

from consformer.csp import CSP

__version__ = "0.1.0"

__all__ = ["CSP"]

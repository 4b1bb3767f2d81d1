"""consformer: constraint problems solved by a Transformer that repairs assignments."""

from consformer.csp import CSP
from consformer.errors import ConsformerError
from consformer.modeling import Model, all_different, cardinality, not_equal
from consformer.result import Result
from consformer.solving import refine, solve

__version__ = "0.1.0"

__all__ = ["CSP", "ConsformerError", "Model", "Result", "all_different", "cardinality", "not_equal", "refine", "solve"]

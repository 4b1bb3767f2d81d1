"""State a problem in Python: arrays of variables, constraints over them, `Model.compile` to get the `CSP`.

Each module builds on those before it: `table` (what is known of variables, by number), `expressions` (constraints, not yet added),
`variables` (arrays of them, indexed and compared), `statements` (constraints by name), `model` (all of it, for the user).
"""

from consformer.modeling.expressions import Expression
from consformer.modeling.model import Model
from consformer.modeling.statements import all_different, cardinality, constraint, not_equal
from consformer.modeling.variables import VariableArray

__all__ = ["Expression", "Model", "VariableArray", "all_different", "cardinality", "constraint", "not_equal"]

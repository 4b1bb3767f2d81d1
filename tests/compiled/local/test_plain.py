from __future__ import annotations

from types import FunctionType

from consformer.compiled.local import moves
from consformer.compiled.local.plain import PARTS, plain


def test_twins_of_all_functions_that_call_each_other_and_nothing_compiled() -> None:
    twins = plain(moves)
    compiled = {name for module in (*PARTS, moves) for name, function in vars(module).items() if hasattr(function, "py_func")}
    assert compiled <= set(twins)
    for name, function in twins.items():
        assert isinstance(function, FunctionType)
        assert all(function.__globals__[called] is twins[called] for called in function.__code__.co_names if called in compiled), name

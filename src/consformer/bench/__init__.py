"""Benchmarks: one file per table or figure, each a command of `consformer bench`; results are recorded instance by instance.

`base.py` is the contract; benchmarks are found by importing this package's modules (adding one is adding a file).
"""

from __future__ import annotations

import importlib
import pkgutil

from consformer.bench.base import Benchmark, Plot, Row, Unit
from consformer.bench.run import BenchRun
from consformer.bench.tables import Cell, Fixed, Percent, Table

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")


def benchmarks() -> list[type[Benchmark]]:
    """All of them, in the order of the report.

    >>> "search" in [benchmark.name for benchmark in benchmarks()]
    True
    """
    return sorted(Benchmark.registry.values(), key=lambda benchmark: benchmark.place)


__all__ = ["BenchRun", "Benchmark", "Cell", "Fixed", "Percent", "Plot", "Row", "Table", "Unit", "benchmarks"]

"""`consformer bench`: tables and figures, each by one command. One file per command, shared.py what they share."""

from __future__ import annotations

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

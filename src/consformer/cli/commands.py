"""All commands: importing their modules registers them with the app."""

from __future__ import annotations

import importlib
import pkgutil

from consformer import cli

for _module in pkgutil.iter_modules(cli.__path__):
    importlib.import_module(f"consformer.cli.{_module.name}")

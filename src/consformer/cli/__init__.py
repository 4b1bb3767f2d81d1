"""The `consformer` command."""

from consformer.cli.app import main

__all__ = ["main"]

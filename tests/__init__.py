"""Tests, as a package of its own: some installed packages bring a module `tests`, too."""

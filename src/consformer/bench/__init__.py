"""Benchmarks: one file per table or figure, each a command of `consformer bench`; results are recorded instance by instance."""

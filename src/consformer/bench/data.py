"""Where benchmark data is that cannot be generated: a path that is given, or a place in the folder that CONSFORMER_DATA names."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from consformer.errors import InputError

VARIABLE = "CONSFORMER_DATA"


@dataclass(frozen=True)
class Source:
    """Data of others."""

    option: str  # of the command that reads it
    place: str  # in the folder that the environment variable names
    expected: str  # which files, in which format
    origin: str  # where it can be had

    def find(self, given: Path | None) -> Path | None:
        """The path that was given, or the place in the folder of the environment variable; none where neither is said.

        What is said but not there is an error that tells where the data can be had.
        """
        folder = os.environ.get(VARIABLE)
        path = given if given is not None else Path(folder) / self.place if folder else None
        if path is not None and not path.exists():
            raise InputError(f"is not there. {self.help}", source=path)
        return path

    def need(self, given: Path | None) -> Path:
        """The same, where nothing can be done without it."""
        path = self.find(given)
        if path is None:
            raise InputError(f"{self.option} is missing. {self.help}")
        return path

    @property
    def help(self) -> str:
        return (
            f"Expected: {self.expected}. To be had from {self.origin}. "
            f"Name it with {self.option}, or a folder that has it as {self.place} in the environment variable {VARIABLE}"
        )


RRN = Source(
    "--rrn",
    "sudoku/rrn_style.csv",
    "a csv file with lines quiz,solution of 81 digits each, 0 for a blank, 17 to 34 givens",
    "github.com/rasmusbergpalm/recurrent-relational-networks",
)
GSET = Source(
    "--graphs",
    "gset/graphs",
    "a folder with files G1.txt, G2.txt, ...: '<vertices> <edges>', then '<u> <v> <weight>', vertices from 1",
    "web.stanford.edu/~yyye/yyye/Gset",
)
GSET_BEST = Source(
    "--best-known",
    "gset/best_known.csv",
    "a csv file with the columns instance (G1, ...) and recommended (the best known cut)",
    "papers on MAXCUT, such as Matsuda, Benchmarking the MAX-CUT problem on the Simulated Bifurcation Machine (2019)",
)

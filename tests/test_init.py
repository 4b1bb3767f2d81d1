from __future__ import annotations

import re
from pathlib import Path

import consformer

ROOT = Path(__file__).parents[1]


def test_public_names_are_there() -> None:
    assert all(hasattr(consformer, name) for name in consformer.__all__)


def test_the_version_to_cite_is_the_one_there_is() -> None:
    (cited,) = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), flags=re.MULTILINE)
    assert cited == consformer.__version__

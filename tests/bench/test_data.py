from __future__ import annotations

from pathlib import Path

import pytest

from consformer.bench.data import GSET, RRN, VARIABLE
from consformer.errors import InputError


def test_given_or_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert RRN.find(None) is None
    assert GSET.need(tmp_path) == tmp_path
    (tmp_path / "gset/graphs").mkdir(parents=True)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert GSET.need(None) == tmp_path / "gset/graphs"
    with pytest.raises(InputError, match=r"rrn_style\.csv: is not there.*quiz,solution.*recurrent-relational-networks"):
        RRN.find(None)


def test_what_is_missing_is_told_with_its_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(
        InputError, match=r"--graphs is missing\. Expected: a folder.*<u> <v> <weight>.*To be had from.*Gset.*CONSFORMER_DATA"
    ):
        GSET.need(None)

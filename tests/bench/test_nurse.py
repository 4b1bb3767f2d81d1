from __future__ import annotations

from typing import Any

from consformer.bench.figures import banded
from consformer.bench.nurse import NurseBench

ABOUT = {"seconds": 10.0, "cores": 2, "seed": 0}


def row(variant: str, seconds: float, status: str = "solved") -> dict[str, Any]:
    return {"set": "nurse-10", "label": str(seconds), "variant": variant, "status": status, "seconds": seconds}


def test_times_stand_beside_shares() -> None:
    rows = [row("hybrid", 0.1), row("hybrid", 0.3), row("hybrid", 0.2), row("cpsat", 0.0, "missing")]
    shares, medians = NurseBench.tables(ABOUT, rows)
    assert [line[0] for line in shares.rows] == ["ours: hybrid", "CP-SAT", "the paper's network"]
    assert medians.text()[0][:2] == ["ours: hybrid", "0.200 [0.150–0.250]"]
    assert "Problems: 4 (10 days)." in shares.caption
    assert NurseBench.tables(ABOUT, []) == []


def test_many_curves_have_bands_only_where_one_looks() -> None:
    assert banded(["hybrid", "greedy"]) == ["hybrid", "greedy"]
    assert banded(["hybrid", "greedy", "tabucol", "cpsat", "cpsat-fj"]) == ["hybrid", "cpsat"]

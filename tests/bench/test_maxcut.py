from __future__ import annotations

from typing import Any

import pytest

from consformer.bench.maxcut import MaxcutBench, gap_at

ABOUT = {"seconds": 10.0, "seed": 0, "cores": 2, "threads": 2}


def row(variant: str, variables: int, objective: float | None, best: float = 100, signed: bool = False, **entries: Any) -> dict[str, Any]:
    return {
        "set": "graphs",
        "label": f"G{variables}",
        "variant": variant,
        "variables": variables,
        "status": "solved" if objective is not None else "declined",
        "objective": objective,
        "best": best,
        "signed": signed,
        "seconds": 10.0,
        **entries,
    }


def test_gaps_by_size_and_sign() -> None:
    rows = [
        row("hybrid", 800, 99),
        row("hybrid", 3000, 95),
        row("goemans-williamson", 800, 97),
        row("goemans-williamson", 3000, None, reason="not run: more than 1,000 vertices"),
        row("hybrid", 2000, 50, signed=True),
    ]
    unit, signed, published = MaxcutBench.tables(ABOUT, rows)
    lines = {line[""]: line for line in unit.to_json()["rows"]}
    assert lines["ours: hybrid"]["|V| = 800: gap %"]["value"] == pytest.approx(1.0)
    assert lines["ours: hybrid"]["|V| ≥ 3,000: gap %"]["value"] == pytest.approx(5.0)
    sdp = lines["Goemans–Williamson SDP (SCS)"]
    assert (sdp["|V| ≥ 3,000: gap %"], sdp["notes"]) == (None, "not run: more than 1,000 vertices: 1")
    assert signed.to_json()["rows"][0]["|V| = 2,000: gap %"]["value"] == pytest.approx(50.0)
    assert "Published" in published.title
    assert ("ANYCSP", "0.02", "0.05", "0.12", "0.42") in published.rows


def test_both_signs_are_asked_for_apart_and_declined_graphs_are_told() -> None:
    rows = [row("hybrid", 3000, 99), row("hybrid", 3001, 97), row("hybrid", 800, 100, signed=True)]
    rows += [row("dwave-tabu", 3000, 98), row("dwave-tabu", 3001, None, reason="not run: more than 3,000 vertices")]
    command = MaxcutBench.asked(ABOUT, rows)
    assert "--where weights=+1 --count 2 --time-limit 10 --variant hybrid --variant dwave-tabu && consformer bench maxcut" in command
    assert command.endswith("--where weights=+-1 --count 1 --time-limit 10 --variant hybrid")
    unit = MaxcutBench.tables(ABOUT, rows)[0]
    lines = {line[""]: line for line in unit.to_json()["rows"]}
    assert lines["ours: hybrid"]["|V| ≥ 3,000: gap %"] == {"value": pytest.approx(2.0), "range": [pytest.approx(1.0), pytest.approx(3.0)]}
    assert lines["dwave-samplers tabu (1 thread)"]["notes"].startswith("|V| ≥ 3,000: 1 of 2 graphs only")
    assert "Graphs: 2 (|V| ≥ 3,000)." in unit.caption


def test_gap_over_time() -> None:
    found = row("hybrid", 800, 99, way=[[0.5, 80], [2.0, 90]])
    assert [gap_at(found, seconds) for seconds in (0.1, 1.0, 3.0, 10.0)] == [None, 20.0, 10.0, 1.0]

from __future__ import annotations

import json

from consformer.bench.tables import Fixed, Percent, Table, joined
from consformer.evaluation.summary import Share

TABLE = Table(
    "solvers",
    ("who", "share", "of", "seconds", "published", "notes"),
    (("a|b", Percent(9, 10), Share(0, 9, 10), Fixed(1234.5, 1), "98.3", None), ("c", None, None, None, None, None)),
    "10 s each",
)


def test_people_read_text_without_empty_columns() -> None:
    lines = TABLE.markdown().splitlines()
    assert lines[0] == "**solvers**"
    assert lines[2] == "| who | share | of | seconds | published |"
    assert lines[4] == r"| a\|b | 90.0 [59.6–98.2] | 9 of 10 = 90.0 % [59.6, 98.2] | 1,234.5 | 98.3 |"
    assert lines[5] == "| c | – | – | – | – |"
    assert lines[-1] == "10 s each"
    assert joined([TABLE, TABLE]).count("**solvers**") == 2


def test_programs_read_figures() -> None:
    first, second = json.loads(json.dumps(TABLE.to_json()))["rows"]
    assert (first["share"]["solved"], first["share"]["count"], first["seconds"], first["published"]) == (9, 10, 1234.5, "98.3")
    assert second["share"] is None

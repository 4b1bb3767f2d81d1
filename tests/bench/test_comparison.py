from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from consformer.bench.coloring import ColoringBench
from consformer.bench.comparison import Comparison, Line, share_solved, shown, solved_table, trouble
from consformer.bench.identity import weights
from consformer.bench.run import BenchRun
from consformer.bench.search import SearchBench
from consformer.bench.tables import Percent
from consformer.errors import InputError, UnknownNameError
from consformer.evaluation import ProblemSet
from tests.helpers import cycle

CYCLES = ProblemSet("coloring-5-50", (cycle(4, 2), cycle(5, 2)), ("c4", "c5"))


def row(status: str, seconds: float = 1.0, **entries: object) -> dict[str, object]:
    return {"set": "a", "label": "1", "variant": "x", "status": status, "seconds": seconds, **entries}


@pytest.mark.usefixtures("here")
def test_who_cannot_prove_is_spared_what_has_no_solution(tmp_path: Path) -> None:
    first = BenchRun(ColoringBench([CYCLES], ("cpsat",), 1.0), tmp_path)
    assert len(list(first)) == 2
    again = BenchRun(ColoringBench([CYCLES], ("greedy-dsatur", "cpsat"), 1.0), tmp_path)  # also after an interruption
    assert len(list(again)) == 2
    assert {(each["variant"], each["label"]): each["status"] for each in again.record.rows} == {
        ("cpsat", "c4"): "solved",
        ("cpsat", "c5"): "infeasible",
        ("greedy-dsatur", "c4"): "solved",
        ("greedy-dsatur", "c5"): "hopeless",
    }
    (table,) = again.tables
    text = {line[0]: line for line in table.rows}
    assert text["NetworkX greedy, DSATUR"][1] == Percent(1, 2)
    assert text["CP-SAT, 6 s"][1] == Percent(1, 2)
    assert text["CP-SAT, 1 s"][3:5] == ("83.08", "57.16")  # in columns of their own
    assert text["ANYCSP"][1:3] == (None, None)


def test_shares_count_who_was_there_in_time() -> None:
    rows = [row("solved", 9.0), row("optimal", 11.0), row("overran"), row("hopeless")]
    assert share_solved(rows) == Percent(2, 4)
    assert share_solved(rows, 10.0) == Percent(1, 4)
    assert share_solved([row("missing")]) is None


def test_what_went_wrong_is_told() -> None:
    rows = [row("missing", reason="not installed: pip install gcol"), row("missing", reason="not installed: pip install gcol")]
    assert trouble(rows) == "not installed: pip install gcol"
    assert trouble([row("declined", reason="not run: more than 9 vertices")]) == "not run: more than 9 vertices: 1"
    table = solved_table("t", {"a": "A"}, [Line("x", "x"), Line("y", "y"), Line("p", published={"a": "1"})], rows, "")
    assert table.rows == (("x", None, None, "not installed: pip install gcol"), ("p", None, "1", None))


def test_names_of_ways() -> None:
    assert ColoringBench.way("network:any").network == "any"
    with pytest.raises(UnknownNameError, match="did you mean 'tabucol'"):
        ColoringBench.way("tabucoll")
    rows = [row("solved", variant=name) for name in ("cpsat", "network:any", "hybrid")]
    assert shown(rows, ColoringBench.ways) == ["hybrid", "network:any", "cpsat"]


def test_abstract_ones_are_not_registered() -> None:
    assert Comparison not in Comparison.registry.values()
    assert "coloring" in Comparison.registry


def test_the_command_is_what_was_measured() -> None:
    rows = [{"set": name, "label": str(i), "variant": "hybrid"} for name, count in (("a", 2), ("b", 3)) for i in range(count)]
    some = [{**each, "set": "coloring-5-50"} for each in rows]
    told = "consformer bench coloring coloring-5-50 --count 3 --time-limit 2.5 --seed 7 --variant hybrid"
    assert ColoringBench.asked({"seconds": 2.5, "seed": 7}, some) == told
    all_sets = [{**each, "set": name} for each in rows for name in ColoringBench.known]
    assert ColoringBench.asked({"seconds": 2.5}, all_sets) == "consformer bench coloring --count 3 --time-limit 2.5 --variant hybrid"
    apart = [f"consformer bench search {name} --count {count} --time-limit 60 --variant hybrid" for name, count in (("a", 2), ("b", 3))]
    assert SearchBench.asked({"seconds": 60.0}, rows) == " && ".join(apart)
    usual = [{**each, "set": name, "variant": variant} for each in rows for name in "ab" for variant in SearchBench.usual]
    assert SearchBench.asked({"seconds": 10.0}, usual) == "consformer bench search a b --count 3 --time-limit 10"


def test_a_record_of_other_problems_or_networks_is_refused(tmp_path: Path) -> None:
    def measured(*colors: int, variants: Sequence[str] = ("hybrid", "network:any")) -> BenchRun:
        problems = tuple(cycle(5, m) for m in colors)
        chosen = ProblemSet("cycles", problems, tuple(map(str, range(len(problems)))))
        return BenchRun(ColoringBench([chosen], variants, 5.0), tmp_path)

    assert len(list(measured(3))) == 2
    assert len(measured(3, 4).waiting) == 2  # one problem more: it goes on
    with pytest.raises(InputError, match=r"another problem under the same name \(cycles 0 hybrid\)"):
        measured(4)
    path = tmp_path / "coloring.jsonl"
    path.write_text(path.read_text().replace(weights("any"), "others"))
    with pytest.raises(InputError, match="other weights under the same name"):
        measured(3)
    path.write_text(path.read_text().replace("network:any", "network:gone").replace("others", weights("any")))
    assert len(measured(3, 4, variants=["hybrid"]).waiting) == 1  # nobody asks for the one that is gone


def test_who_was_measured_on_less_is_told() -> None:
    rows = [row("solved", label=label, variant=variant) for label, variant in (("1", "x"), ("2", "x"), ("1", "y"))]
    table = solved_table("t", {"a": "A"}, [Line("x", "x"), Line("y", "y")], rows, "")
    assert [line[-1] for line in table.rows] == [None, "A: 1 of 2 problems only"]

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from consformer import families
from tests.cli.running import Cli, clique, no_permission

BOARD = "1432321423414123"  # solves all boards of the fixtures
VALUES = list(map(int, BOARD))
GRID = [VALUES[start : start + 4] for start in range(0, 16, 4)]
NAMED = {f"r{row + 1}c{column + 1}": value for row, values in enumerate(GRID) for column, value in enumerate(values)}
WRONG = [1, 3, 4, 2, *VALUES[4:]]  # two cells changed, one of them given

RULES = {
    "format": "consformer-csp",
    "version": 1,
    "values": ["red", "green", "[i]1[/]"],
    "variables": {"count": 2, "names": ["[b]WA[/]", "NT"], "domains": {"0": ["red", "green"]}, "fixed": {"1": "red"}},
    "constraints": [{"kind": "not_equal", "scope": [0, 1]}],
}


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """A problem with names that look like markup, a smaller domain and a fixed value."""
    path = tmp_path / "rules.json"
    path.write_text(json.dumps(RULES))
    return path


@pytest.fixture
def triangle(tmp_path: Path) -> Path:
    return clique(tmp_path / "triangle.col", 3)


def lines(*answers: object) -> str:
    return "".join(f"{json.dumps(answer)}\n" for answer in answers)


# --- right answers, in every form ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    {
        "a line": BOARD,
        "a row a line": "1432\n3214\n2341\n4123\n",
        "a drawn grid": "+----+----+\n| 14 | 32 |\n| 32 | 14 |\n+----+----+\n| 23 | 41 |\n| 41 | 23 |\n+----+----+\n",
        "a list": json.dumps(VALUES),
        "a list in a list": json.dumps([VALUES]),
        "a list of rows": json.dumps(GRID),
        "values as texts": json.dumps(list(BOARD)),
        "a table": json.dumps(NAMED),
        "a table under another key": json.dumps({"cells": NAMED}),
        "rows under another key": json.dumps({"board": BOARD, "grid": GRID}),
        "a document of solve": json.dumps({"status": "solved", "values": VALUES, "answer": {"grid": GRID}}),
        "a document in a list": json.dumps([{"values": VALUES}]),
        "one of many documents": json.dumps({"index": 7, "values": VALUES}),
        "on several lines": json.dumps({"values": VALUES}, indent=2),
        "with a byte order mark": "\ufeff" + json.dumps(VALUES),
        "after blank lines": "\n\n" + json.dumps(VALUES),
    }.items(),
    ids=lambda named: named[0],
)
def test_an_answer_may_be_given_as(cli: Cli, board: Path, answer: tuple[str, str]) -> None:
    ran = cli("check", board, "-", input=answer[1])
    assert (ran.code, ran.out, ran.err) == (0, "all constraints hold\n", "")


@pytest.mark.parametrize(
    "answers",
    {
        "lines of text": f"{BOARD}\r\n{BOARD}\r\n{BOARD}\r\n",
        "lines of JSON": lines(VALUES, {"values": VALUES}, NAMED),
        "a list": json.dumps([VALUES, {"values": VALUES}, NAMED]),
        "documents on several lines": "\n".join(json.dumps({"values": VALUES}, indent=2) for _ in range(3)),
    }.items(),
    ids=lambda named: named[0],
)
def test_many_answers_may_be_given_as(cli: Cli, boards: Path, answers: tuple[str, str]) -> None:
    ran = cli("check", boards, "-", input=answers[1])
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "".join(f"    {index}  all constraints hold\n" for index in range(3))


@pytest.mark.parametrize("family", families.names())
@pytest.mark.parametrize("count", [1, 3])
def test_check_agrees_with_solve(cli: Cli, network: Path, tmp_path: Path, family: str, count: int) -> None:
    """On whatever it writes, and whether it is a solution or, after a single iteration, most likely not."""
    problems, plain, listed = tmp_path / "problems.txt", tmp_path / "answers.txt", tmp_path / "answers.jsonl"
    cli("generate", family, "--count", count, "--output", problems)
    solve = ["solve", problems, "--network", network, "--iterations", 1]
    solved = cli(*solve, "--output", listed, "--json")
    cli(*solve, "--output", plain)
    checked = cli("check", problems, listed, "--json")
    assert checked.code == solved.code
    for mine, theirs in zip(checked.documents, solved.documents, strict=True):
        assert mine == {key: theirs[key] for key in mine}
    assert cli("check", problems, plain, "--json") == checked
    assert cli("check", problems, "-", "--json", input=solved.out) == checked


def test_solutions_of_a_csv_file(cli: Cli, tmp_path: Path) -> None:
    path, half = tmp_path / "boards.csv", BOARD[:8] + "0" * 8
    path.write_text(f"quiz,solution\n{half},{BOARD}\n{half},{BOARD[:12]}3214\n")
    ran = cli("check", path, path, "--json")
    assert (ran.code, [document["status"] for document in ran.documents]) == (3, ["solved", "unsolved"])
    path.write_text(f"quiz,solution\n{half},{BOARD}\n{half},\n")
    cli("check", path, path).refused(f"error: {path}:3: there is no solution in this row")


def test_labels_of_satnet(cli: Cli, tmp_path: Path) -> None:
    labels = torch.nn.functional.one_hot(torch.tensor(GRID) - 1).float()[None]
    features = labels.clone()
    features[:, 2:] = 0
    torch.save(features, tmp_path / "features.pt")
    torch.save(labels, tmp_path / "labels.pt")
    assert cli("check", tmp_path / "features.pt", tmp_path / "labels.pt").code == 0
    cli("check", tmp_path / "features.pt", tmp_path / "features.pt").refused("0, the value of r3c1, is none of the values")


def test_problems_on_standard_input(cli: Cli, board: Path, tmp_path: Path) -> None:
    (tmp_path / "answer.txt").write_text(BOARD)
    assert cli("check", "-", tmp_path / "answer.txt", input=board.read_text()).code == 0


def test_answers_are_put_in_the_order_of_their_index(cli: Cli, tmp_path: Path) -> None:
    problems = tmp_path / "boards.txt"
    problems.write_text(f"{BOARD[:8]}{'.' * 8}\n{BOARD[::-1]}\n")
    answers = [{"index": 1, "values": VALUES[::-1]}, {"index": 0, "values": VALUES}]
    assert cli("check", problems, "-", input=lines(*answers)).code == 0
    assert cli("check", problems, "-", input=lines(*({"values": answer["values"]} for answer in answers))).code == 3


def test_how_the_problems_are_read(cli: Cli, triangle: Path) -> None:
    answer = json.dumps([1, 2, 4])
    cli("check", triangle, "-", input=answer).refused("none of the values 1, 2, 3")
    assert cli("check", triangle, "-", "--colors", 4, input=answer).code == 0
    ran = cli("check", triangle, "-", "--family", "maxcut", "--format", "dimacs_col", "--json", input="[0, 1, 1]")
    assert ran.document == {"status": "solved", "violations": 0, "objective": 2, "broken": []}
    assert '"objective": 2,' in ran.out
    assert cli("check", triangle, "-", "--family", "maxcut", input="[0, 1, 1]").out == "all constraints hold, objective 2\n"


# --- wrong answers ------------------------------------------------------------------------------------------------


def test_violated_constraints_are_named(cli: Cli, triangle: Path) -> None:
    ran = cli("check", triangle, "-", input="[1, 2, 2]")
    assert (ran.code, ran.out, ran.err) == (3, "1 violated\n  not_equal of 2, 3\n", "")
    ran = cli("check", triangle, "-", "--json", input="[1, 2, 2]")
    assert (ran.code, ran.err) == (3, "")
    assert ran.document == {"status": "unsolved", "violations": 1, "objective": None, "broken": ["not_equal of 2, 3"]}


def test_at_most_ten_are_named(cli: Cli, tmp_path: Path) -> None:
    graph = clique(tmp_path / "k6.col", 6)
    ran = cli("check", graph, "-", "--json", input=json.dumps([1] * 6))
    assert ran.document["violations"] == 15
    assert len(ran.document["broken"]) == 10


def test_an_answer_that_changes_a_given(cli: Cli, board: Path) -> None:
    ran = cli("check", board, "-", input=json.dumps(WRONG))
    assert (ran.code, ran.out) == (3, "1 violated\n  r1c3 differs from its fixed value\n")


def test_a_value_outside_the_domain_of_its_variable(cli: Cli, rules: Path) -> None:
    ran = cli("check", rules, "-", input='["[i]1[/]", "red"]')
    assert (ran.code, ran.out, ran.err) == (3, "1 violated\n  [b]WA[/] has a value outside its domain\n", "")
    assert cli("check", rules, "-", input='{"[b]WA[/]": "green", "NT": "red"}').code == 0


def test_one_wrong_answer_among_many(cli: Cli, boards: Path) -> None:
    answers = lines(VALUES, VALUES, WRONG)
    ran = cli("check", boards, "-", input=answers)
    assert ran.code == 3
    held, held_too, violated, *broken = ran.out.splitlines()
    assert [held, held_too] == ["    0  all constraints hold", "    1  all constraints hold"]
    assert violated == "    2  4 violated"
    assert [line[:9] for line in broken] == [" " * 9] * len(broken)
    ran = cli("check", boards, "-", "--json", input=answers)
    assert (ran.code, ran.err) == (3, "")
    assert [(document["index"], document["status"]) for document in ran.documents] == [(0, "solved"), (1, "solved"), (2, "unsolved")]
    assert [line.strip() for line in broken] == ran.documents[2]["broken"]


# --- answers that are none ----------------------------------------------------------------------------------------

BAD_ANSWERS: dict[str, tuple[str | bytes, list[str]]] = {
    "nothing": (b"", [": ", "empty", "an answer for every problem"]),
    "blanks": (" \n\n", [": ", "empty", "an answer for every problem"]),
    "a binary file": (b"\x00\xff\xfe" * 50, [": ", "not a text file"]),
    "too few values": ("[1, 2, 3]", [": ", "there must be 16 values", "list", "table"]),
    "too many values": (json.dumps([*VALUES, 1]), [": ", "there must be 16 values"]),
    "no values": ("[]", [": ", "there must be 16 values"]),
    "an empty table": ("{}", [": ", "there must be 16 values"]),
    "a table that lacks a name": (json.dumps(dict(list(NAMED.items())[1:])), [": ", "there must be 16 values"]),
    "a table with an unknown name": (json.dumps({**NAMED, "r5c1": 1}), [": ", "there must be 16 values"]),
    "two answers": (f"{BOARD}\n{BOARD}\n", [": ", "answers: 2, problems: 1", "one answer for each"]),
    "two documents": (json.dumps([{"values": VALUES}] * 2), [": ", "answers: 2, problems: 1"]),
    "a value there is none of": (json.dumps([9, *VALUES[1:]]), [": ", "9, the value of r1c1, is none of the values 1, 2, 3, 4"]),
    "a blank": (BOARD.replace("4", ".", 1), [": ", "0, the value of r1c2, is none of the values"]),
    "a fraction": (json.dumps([1.5, *VALUES[1:]]), [": ", "1.5, the value of r1c1"]),
    "true": (json.dumps([True, *VALUES[1:]]), [": ", "True, the value of r1c1"]),
    "null": (json.dumps([None, *VALUES[1:]]), [": ", "None, the value of r1c1"]),
    "a letter in a board": (BOARD.replace("4", "x", 1), [":1: ", "'x'", "r1c2", "1 to 4"]),
    "a poem": ("Shall I compare thee\nto a summer's day?\n", [":1: "]),
    "a mistake in JSON": ('\n{"values":\n [1, 2,, 3]}', [":3: ", "not valid JSON: ", "column"]),
    "something after JSON": (json.dumps(VALUES) + "\nthe end\n", [":2: ", "not valid JSON: "]),
    "a number of 5000 digits": (f"[{'9' * 5000}]", [": ", "too many digits"]),
    "JSON that is too deep": ("[" * 100_000, [": ", "nested too deeply"]),
    "lists that are too deep": ("[" * 980 + "]" * 980, [": "]),
}


@pytest.mark.parametrize("name", BAD_ANSWERS)
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_bad_answers(cli: Cli, board: Path, tmp_path: Path, name: str, as_json: bool) -> None:
    content, (place, *parts) = BAD_ANSWERS[name]
    path = tmp_path / "answers.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    option = ["--json"] if as_json else []
    cli("check", board, path, *option).refused(f"error: {path}{place}", *parts)
    cli("check", board, "-", *option, input=content).refused(f"error: standard input{place}", *parts)


BAD_LISTS: dict[str, tuple[str, list[str]]] = {
    "too few": (lines(VALUES, VALUES), ["answers: 2, problems: 3"]),
    "a single list": (lines(VALUES), ["answers: 16, problems: 3"]),
    "a single document": (lines({"values": VALUES}), ["answers: 1, problems: 3"]),
    "too few values in one": (lines(VALUES, [1, 2], VALUES), ["answer 1: there must be 16 values"]),
    "an unknown value in one": (lines(VALUES, VALUES, [9, *VALUES[1:]]), ["answer 2: 9, the value of r1c1"]),
    "cut short": (lines(VALUES, VALUES) + "[1, 2\n", [":4: ", "not valid JSON"]),
    "an index twice": (lines(*({"index": index, "values": VALUES} for index in (0, 1, 1))), ["no answer has the index 2", "from 0 to 2"]),
    "indices from 1": (lines(*({"index": index, "values": VALUES} for index in (1, 2, 3))), ["no answer has the index 0", "from 0 to 2"]),
}


@pytest.mark.parametrize("name", BAD_LISTS)
def test_bad_answers_to_many_problems(cli: Cli, boards: Path, name: str) -> None:
    answers, parts = BAD_LISTS[name]
    cli("check", boards, "-", input=answers).refused("error: standard input", *parts)


def test_answers_as_text_are_boards(cli: Cli, triangle: Path) -> None:
    for text in ("1 2 3", '"1"', "3"):
        cli("check", triangle, "-", input=text).refused("standard input: answers to these problems are JSON", "solve --json")


def test_files_that_cannot_be_read(cli: Cli, board: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("check", board, tmp_path).refused(f"error: {tmp_path}: this is a directory")
    cli("check", tmp_path, board).refused(f"error: {tmp_path}: this is a directory")
    cli("check", board, tmp_path / "nowhere").refused("nowhere: there is no such file")
    cli("check", tmp_path / "nowhere", board).refused("nowhere: there is no such file")
    cli("check", "-", "-", input=BOARD).refused("cannot both come from the standard input", "put one of them in a file")
    cli("check", "-", board, input="12\n").refused("error: standard input: ")
    cli("check", board).refused("Missing argument 'answers'", "See consformer check --help")
    monkeypatch.setattr(Path, "read_bytes", no_permission)
    cli("check", "-", board, input=board.read_text()).refused(f"error: {board}: ", "no permission", "chmod +r")
    cli("check", board, "-").refused(f"error: {board}: ", "no permission", "chmod +r")


def test_ctrl_c(cli: Cli, board: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("consformer.checker.check", interrupt)
    ran = cli("check", board, "-", input=BOARD)
    assert (ran.code, ran.out, ran.err) == (130, "", "interrupted\n")

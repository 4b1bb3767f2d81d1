"""What the shipped networks reach: from the records of `consformer evaluate` into the files of the networks and the README's table.

consformer evaluate any sudoku -o benchmarks/results/any-sudoku.jsonl
python benchmarks/shipped.py [--write]

Reads all records in `benchmarks/results`, prints the table, and with --write puts every figure into the file of its network, the table
into the README, and what training cost into docs/networks.md. Records of weights or settings that are not the shipped ones are refused.
Paths of data are as below a folder of benchmark data; the number of processes is that of the record.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from consformer.evaluation.run import Row, fingerprint, read_record
from consformer.evaluation.summary import Summary
from consformer.training.checkpoint import load_network, network_names, read_card, save_network

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "benchmarks/results"
RESULTS, COSTS = "results", "costs"  # what is written, between comments of that name


@dataclass(frozen=True)
class Line:
    """A line of the table: a set, how it is called, and what the paper reached."""

    set: str
    title: str
    paper: str
    options: str = ""  # of `consformer evaluate`, beyond the network and the set
    path: str = ""  # of a set that is a file or a folder: it has no limit of its own
    sampled: bool = False  # a random part of it was taken


RIVAL = "--cpsat 10"
GSET = "--best-known gset/best_known.csv --where weights=+1"
LINES = [
    Line("sudoku", "Sudoku, 31–42 givens", "100 %"),
    Line(
        "rrn_style.csv",
        "Sudoku, 17–34 givens (RRN)",
        "65.9 %; in 10,000 iterations 77.7 %, by softmax 85.7 %",
        path="sudoku/rrn_style.csv",
        sampled=True,
    ),
    Line("coloring-5-50", "colouring-5, 50 vertices", "0.975 of CP-SAT's", RIVAL),
    Line("coloring-5-100", "colouring-5, 100 vertices", "0.83 of CP-SAT's; pool of 100: 0.97", RIVAL),
    Line("coloring-10-100", "colouring-10, 100 vertices", "1.00 of CP-SAT's", RIVAL),
    Line("coloring-10-200", "colouring-10, 200 vertices", "1.16 of CP-SAT's; pool of 50: 1.46", RIVAL),
    Line("coloring-10-200-more", "colouring-10, 200 vertices, 300 more", "1.16 of CP-SAT's; pool of 50: 1.46", RIVAL),
    Line("nurse-10", "rosters of 10 days", "100 %", RIVAL),
    Line("nurse-20", "rosters of 20 days", "100 %", RIVAL),
    Line("nurse-60", "rosters of 60 days", "–", RIVAL),
    Line("graphs", "MAXCUT, Gset, weights 1", "gap 0.31 / 0.34 / 0.43 / 1.27 %", GSET, "gset/graphs"),
    Line("gecode_16x16.txt", "Sudoku 16×16 (Gecode)", "–", "--cpsat 60", "sudoku/gecode_16x16.txt"),
    Line("qcp", "Latin squares of order 30 (qwh)", "–", "--files 'qwh-o30-*' --cpsat 60", "qcp"),
    Line("dimacs_col", "DIMACS graphs at best known k", "–", "--best-known dimacs_col/best_known.csv --cpsat 60", "dimacs_col"),
]


def command(header: dict[str, Any], line: Line) -> str:
    seconds, iterations = (header["limits"][name] for name in ("seconds", "iterations"))
    limit = "" if not line.path else f"--time-limit {seconds:g}" if seconds is not None else f"--iterations {iterations}"
    processes = " ".join(f"--{name} {header[name]}" for name in ("jobs", "workers") if header.get(name, 1) > 1)
    part = f"--count {header['count']}" if line.sampled else ""
    parts = ("consformer evaluate", header["network"], line.path or line.set, line.options, part, limit, processes)
    return " ".join(part for part in parts if part)


def measured(line: Line, header: dict[str, Any], rows: list[Row]) -> dict[str, Any]:
    """A figure as it is kept in the file of a network."""
    limits = header["limits"]
    summary = Summary(rows, timed=limits["seconds"] is not None)
    total, rival = summary.total, summary.cpsat()
    gaps = [f"{gap:.2f}" for _, _, gap in summary.gaps()]
    return {
        "set": line.title,
        "limit": (f"{limits['seconds']:g} s" if limits["seconds"] is not None else f"{limits['iterations']:,} iterations")
        + (f", {header['workers']} processes" if header.get("workers", 1) > 1 else ""),
        "solved": total.solved,
        "count": total.count,
        "result": f"gap {' / '.join(gaps)} %" if gaps else str(total),
        "cpsat": None if rival is None else f"{rival.solved} in {header['cpsat']:g} s",
        "ratio": None if rival is None or gaps or not rival.solved else f"{total.solved / rival.solved:.3f}",
        "paper": line.paper,
        "command": command(header, line),
        **{key: header[key] for key in ("date", "commit", "machine")},
    }


def table(figures: dict[str, list[dict[str, Any]]]) -> str:
    """Markdown: a line per set and network."""
    head = "| set | network | limit | solved, 95 % interval | CP-SAT | ratio | paper |\n|---|---|---|---|---|---|---|\n"
    order = {line.title: index for index, line in enumerate(LINES)}
    rows = sorted(((row, name) for name, found in figures.items() for row in found), key=lambda pair: (order[pair[0]["set"]], pair[1]))
    return head + "".join(markdown(name, row) + "\n" for row, name in rows)


def markdown(network: str, row: dict[str, Any]) -> str:
    cells = [row["set"], f"`{network}`", row["limit"], row["result"], row["cpsat"] or "–", row["ratio"] or "–", row["paper"]]
    return "| " + " | ".join(cells) + " |"


def costs() -> str:
    """Markdown: what training the shipped networks cost."""
    rows = "| network | architecture | parameters | command | samples | core-minutes | machine |\n|---|---|---|---|---|---|---|\n"
    for name in network_names():
        card = read_card(name)
        made = card.training
        cells = [f"`{name}`", card.architecture, f"{card.parameters:,}", f"`consformer train {name}`", f"{made['samples']:,}"]
        rows += "| " + " | ".join([*cells, f"{made['core_minutes']:.0f}", made["machine"]]) + " |\n"
    return rows


def put(path: Path, name: str, text: str) -> None:
    """Replace what stands between the comments of that name."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, rest = path.read_text().split(begin)
    path.write_text(before + begin + "\n" + text + end + rest.split(end)[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the figures into the networks' files and into the README")
    options = parser.parse_args()
    lines = {line.set: line for line in LINES}
    figures: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for path in sorted(RECORDS.glob("*.jsonl")):
        header, _, rows = read_record(path)
        name = header["network"]
        if name not in network_names() or header["weights"] != fingerprint(*load_network(name)):
            raise SystemExit(f"{path}: is not of the shipped network {name}; evaluate it again, or remove the record")
        if len(rows) < header["count"]:
            raise SystemExit(
                f"{path}: {header['count'] - len(rows)} problems are missing; go on with: {command(header, lines[header['set']])}"
            )
        figures[name].append(measured(lines[header["set"]], header, rows))
    print(table(figures), end="")
    if options.write:
        for name, found in figures.items():
            network, card = load_network(name)
            path = ROOT / "src/consformer/weights" / f"{name}.safetensors"
            save_network(path, network, replace(card, results={**card.results, "measured": found}))
        put(ROOT / "README.md", RESULTS, table(figures))
        put(ROOT / "docs/networks.md", COSTS, costs())


if __name__ == "__main__":
    main()

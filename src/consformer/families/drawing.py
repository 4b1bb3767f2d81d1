"""Views: what a problem or a solution looks like, as plain JSON data, and how a terminal draws it.

- grid: `{"type": "grid", "box": 3, "rows": [[entry, ...], ...]}`
- graph: `{"type": "graph", "value": "colour", "summary": "...", "vertices": [entry with "label"], "edges": [{"ends": [i, k], "weight": 1.0,
  "mark": "" | "conflict" | "cut"}]}`, ends being indices of vertices
- table: `{"type": "table", "corner": "day", "columns": ["shift 1", ...], "rows": [{"label": "1", "cells": [[entry, ...], ...]}]}`

An entry is `{"text": "5", "given": true, "conflict": false}`, its text empty when there is no value. In a terminal the meaning is in
characters (`'` given, `!` in conflict), colour only adds to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

View = dict[str, Any]
Entry = dict[str, Any]

_MOST = 200  # vertices listed for one value; who wants all of them takes the JSON


def terminal(view: View) -> RenderableType:
    """Something that rich prints.

    >>> from rich.console import Console
    >>> cells = [{"text": text, "given": text == "1", "conflict": False} for text in "1234"]
    >>> Console().print(terminal({"type": "grid", "box": 2, "rows": [cells, cells[2:] + cells[:2]]}))
    +-------+-------+
    | 1' 2  | 3  4  |
    | 3  4  | 1' 2  |
    +-------+-------+
    ' given
    """
    drawers: dict[str, Callable[[View], tuple[RenderableType, list[Entry]]]] = {"grid": _grid, "graph": _graph, "table": _table}
    drawn, shown = drawers[view["type"]](view)
    legend = _legend(shown)
    return Group(drawn, legend) if legend else Group(drawn)


def _mark(entry: Entry, text: str | None = None) -> str:
    shown = (entry["text"] if text is None else text) or "."
    return shown + ("'" if entry["given"] else "") + ("!" if entry["conflict"] else "")


def _style(entry: Entry) -> str:
    return "bold red" if entry["conflict"] else "bold" if entry["given"] else ""


def _legend(entries: list[Entry]) -> Text | None:
    marks = [
        ("' given", any(entry["given"] for entry in entries)),
        ("! in conflict", any(entry["conflict"] for entry in entries)),
        (". blank", any(not entry["text"] for entry in entries)),
    ]
    used = [name for name, is_used in marks if is_used]
    return Text("   ".join(used), style="dim") if used else None


def _grid(view: View) -> tuple[RenderableType, list[Entry]]:
    rows: list[list[Entry]] = view["rows"]
    box = view["box"]
    entries = [entry for row in rows for entry in row]
    width = max(len(_mark(entry)) for entry in entries) + 1
    rule = "+" + "+".join("-" * (width * box + 1) for _ in range(0, len(rows[0]), box)) + "+"
    text = Text(no_wrap=True, overflow="ignore")
    for r, row in enumerate(rows):
        if r % box == 0:
            text.append(rule + "\n")
        for c, entry in enumerate(row):
            if c % box == 0:
                text.append("| ")
            text.append(_mark(entry), style=_style(entry))
            text.append(" " * (width - len(_mark(entry))))
        text.append("|\n")
    text.append(rule)
    return text, entries


def _graph(view: View) -> tuple[RenderableType, list[Entry]]:
    vertices: list[Entry] = view["vertices"]
    by_value: dict[str, list[Entry]] = {}
    for vertex in vertices:
        by_value.setdefault(vertex["text"], []).append(vertex)
    text = Text(view["summary"])
    for value in sorted(by_value, key=lambda v: (not v, len(v), v)):
        members = by_value[value]
        title = f"{view['value']} {value}" if value else f"no {view['value']}"
        text.append(f"\n{title} ({len(members)}):")
        for vertex in members[:_MOST]:
            text.append(" ")
            text.append(_mark(vertex, vertex["label"]), style=_style(vertex))
        if len(members) > _MOST:
            text.append(f" ... and {len(members) - _MOST} more")
    broken = [edge["ends"] for edge in view["edges"] if edge["mark"] == "conflict"]
    if broken:
        pairs = [f"{vertices[one]['label']}-{vertices[two]['label']}" for one, two in broken[:_MOST]]
        text.append(f"\nedges in conflict ({len(broken)}): " + " ".join(pairs) + (" ..." if len(broken) > _MOST else ""))
    return text, [{**vertex, "text": vertex["text"] or "-"} for vertex in vertices]


def _table(view: View) -> tuple[RenderableType, list[Entry]]:
    table = Table(box=None, pad_edge=True)
    for column in (view["corner"], *view["columns"]):
        table.add_column(Text(column), overflow="fold")
    entries = []
    for row in view["rows"]:
        cells = []
        for cell in row["cells"]:
            text = Text()
            for entry in cell:
                text.append(" " if len(text) else "")
                text.append(_mark(entry), style=_style(entry))
            cells.append(text)
            entries += cell
        table.add_row(Text(row["label"]), *cells)
    return table, entries

"""All results as one document, written from the records alone; what people say about them comes from a file of its own."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from consformer.bench.base import Benchmark
from consformer.bench.figures import save
from consformer.bench.record import Content, Sitting, read_record
from consformer.bench.tables import joined
from consformer.errors import InputError, UnknownNameError

HEAD = """# Results

<!-- Written by `consformer bench report` from the records of `consformer bench`; what stands between a heading and its tables comes from
the file of remarks. Do not edit. -->

Every table is measured by the command that stands below it and can be measured again by it. *Published* figures were measured by others, on
other machines, and stand in columns or tables of their own. Shares solved come with 95 % intervals (Wilson). Generated sets are drawn
from seeds that nothing else uses: no network was trained on them. Settings are chosen on other problems; where a set was looked at before
a choice was made, its section says so.
"""


def report(folder: Path, pictures: Path, remarks: Path | None = None) -> str:
    """The document as Markdown, from the records in a folder and below it: a benchmark may have several, with other limits, say. Pictures
    are drawn into a folder that lies beside the document.
    """
    known = sorted(Benchmark.registry.values(), key=lambda benchmark: benchmark.place)
    said = {} if remarks is None else read_remarks(remarks, [benchmark.name for benchmark in known])
    parts = [HEAD]
    for benchmark in known:
        contents = {path: _own(benchmark, path) for path in sorted(folder.rglob(f"{benchmark.name}.jsonl"))}
        measured = {path: content for path, content in contents.items() if content.rows}
        parts.append(f"## {benchmark.heading}\n")
        if not measured:
            parts.append(f"Not measured yet. The command: `{benchmark.command}`\n")
            continue
        if benchmark.name in said:
            parts.append(said[benchmark.name].strip() + "\n")
        parts += [_section(benchmark, content, pictures, path.parent.relative_to(folder)) for path, content in measured.items()]
    return "\n".join(parts)


def read_remarks(path: Path, names: Sequence[str]) -> Mapping[str, str]:
    """A paragraph for each benchmark, by its name: a TOML file with a string for each."""
    try:
        found: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", source=path) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"is no TOML file: {error}", source=path) from error
    for name, words in found.items():
        if name not in names:
            raise UnknownNameError(f"benchmark in {path}", name, names)
        if not isinstance(words, str):
            raise InputError(f"the entry {name} must be a text", source=path)
    return found


def _own(benchmark: type[Benchmark], path: Path) -> Content:
    content = read_record(path)
    if content.header.get("bench_version") != benchmark.version:
        raise InputError(f"is of another version of this benchmark; measure again with `{benchmark.command}`", source=path)
    return content


def _section(benchmark: type[Benchmark], content: Content, pictures: Path, place: Path) -> str:
    """`place`: where the record lies below the folder of records, and its pictures below theirs."""
    parts = [joined(benchmark.tables(content.header, content.rows))]
    plots = benchmark.plots(content.header, content.rows)
    if plots:
        (pictures / place).mkdir(parents=True, exist_ok=True)
    drawn = [(plot.title, save(plot, pictures / place).relative_to(pictures.parent)) for plot in plots]
    parts += [f"![{title}]({path.as_posix()})\n" for title, path in drawn]
    return "\n".join([*parts, told(benchmark, content)])


def told(benchmark: type[Benchmark], content: Content) -> str:
    """By which command, where, when and with what it was measured."""
    sittings = [each for each in content.sittings if each.rows]
    dates = sorted({str(each.circumstances["date"]) for each in sittings})
    versions: dict[str, set[str]] = {}
    for each in sittings:
        for package, number in each.circumstances["versions"].items():
            versions.setdefault(package, set()).add(number)
    words = [
        f"`{benchmark.asked(content.header, content.rows)}`",
        _shared_out(sittings, "machine"),
        f"commit {_shared_out(sittings, 'commit')}",
        " to ".join(dict.fromkeys((dates[0], dates[-1]))),
        ", ".join(f"{package} {' and '.join(sorted(numbers))}" for package, numbers in versions.items()),
    ]
    return "<sub>" + "; ".join(words) + ".</sub>\n"


def _shared_out(sittings: Sequence[Sitting], name: str) -> str:
    """Machines or commits, and how many rows are of each where there are several."""
    counts: dict[str, int] = {}
    for each in sittings:
        counts[str(each.circumstances[name])] = counts.get(str(each.circumstances[name]), 0) + len(each.rows)
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{value} ({count:,} row{'s' if count > 1 else ''})" for value, count in counts.items())

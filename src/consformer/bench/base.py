"""The contract of a benchmark: units of work that give rows, and tables and pictures made from the rows alone.

A benchmark is one file in this package with one subclass of `Benchmark`, and one command in `cli/bench/`. Subclassing registers it. What
it has in common with all others (the record on disk, going on after an interruption, progress, rendering) is in `run.py`, `record.py`,
`tables.py` and `report.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from consformer.bench.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = dict[str, Any]  # plain data, as it stands in the record
Rows = Sequence[Mapping[str, Any]]
About = Mapping[str, Any]  # the header of a record
SIDE_BY_SIDE = "side_by_side"  # entry of a row: how many units were done at the same time, each with a core of its own


@dataclass(frozen=True)
class Unit:
    """A piece of work that is done whole or not at all, such as one problem with one solver."""

    key: tuple[str | int, ...]  # entries of its rows under the names in `Benchmark.key`
    seconds: float  # what it takes, about or at most
    single: bool = False  # it keeps one core busy, however many there are: another such unit can be done beside it

    def __str__(self) -> str:
        return " ".join(map(str, self.key))


@dataclass(frozen=True)
class Plot:
    """A picture: a name, which becomes that of its file, what it shows, and how it is drawn."""

    name: str
    title: str
    draw: Callable[[Figure], None]
    size: tuple[float, float] = (7.0, 4.2)  # inches


class Benchmark(ABC):
    """What is measured for a table or a figure. Objects must be picklable where `jobs` may be more than one."""

    registry: ClassVar[dict[str, type[Benchmark]]] = {}
    name: ClassVar[str]  # of the command and of the record
    heading: ClassVar[str]  # of the section in the report
    place: ClassVar[int]  # of that section among the others
    command: ClassVar[str]  # that fills it
    key: ClassVar[tuple[str, ...]]  # names of the entries of a row that tell its unit
    usually: ClassVar[Mapping[str, Any]] = {}  # entries of `about` that are options of the command, and what they are if not given
    usual_count: ClassVar[int | None] = None  # problems of each set if `--count` is not given, where rows have an `index`
    version: ClassVar[int] = 1  # raised when rows of earlier records mean something else

    about: Mapping[str, Any]
    """What all rows have in common (time limit, seed, ...): records about something else are refused. What may differ between two
    commands that fill one record (which sets, which solvers, how many problems) belongs into the key instead."""

    def __init_subclass__(cls, registered: bool = True, **options: Any) -> None:
        super().__init_subclass__(**options)
        if registered:
            Benchmark.registry[cls.name] = cls

    @abstractmethod
    def units(self) -> Sequence[Unit]:
        """All work, in the order in which it is done; whoever is compared takes turns, so that noise meets all of them."""

    @abstractmethod
    def measure(self, unit: Unit) -> list[Row]:
        """Do it: one row per instance, without the entries of the key, which are added."""

    def differing(self, row: Mapping[str, Any]) -> str | None:
        """What this would measure otherwise than a row of a record was: another problem or network under the same name; None: nothing."""
        return None

    def recall(self, rows: Rows) -> None:  # noqa: B027
        """Take note of what is in the record already, in each process that measures, before anything else."""

    def prepare(self) -> None:  # noqa: B027  (most need nothing)
        """Load, compile and start what should not be measured; called once in each process that measures."""

    def close(self) -> None:  # noqa: B027
        """End what `prepare` and `measure` started."""

    @classmethod
    @abstractmethod
    def tables(cls, about: About, rows: Rows) -> list[Table]:
        """What the rows say; of any part of them, as a run may have been interrupted."""

    @classmethod
    def plots(cls, about: About, rows: Rows) -> list[Plot]:
        """Pictures of the rows."""
        return []

    @classmethod
    def asked(cls, about: About, rows: Rows) -> str:
        """The command that measures these rows: with those options that are not as usual."""
        own = [f"--{name.replace('_', '-')} {about[name]}" for name, value in cls.usually.items() if about.get(name, value) != value]
        if rows and cls.usual_count is not None:
            count = 1 + max(int(row["index"]) for row in rows)
            own += [f"--count {count}"] if count != cls.usual_count else []
        return " ".join([cls.command, *own])

"""Running a benchmark: unit after unit, each recorded as soon as it is done, so that it can be stopped and continued."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from multiprocessing import get_context
from pathlib import Path

import torch

from consformer.bench.base import Benchmark, Plot, Row, Unit
from consformer.bench.record import Record
from consformer.bench.tables import Table
from consformer.memory import keep_freed_memory


class BenchRun:
    """Iterate over it for a `Unit` at a time, done and recorded; `record.rows` are all rows there are, earlier ones among them."""

    def __init__(self, benchmark: Benchmark, folder: Path | None = None, *, quick: bool = False, jobs: int = 1) -> None:
        """Without a folder nothing is kept. `jobs` units are done at a time, each with its part of the cores."""
        self.benchmark, self.jobs = benchmark, jobs
        self.about = {"bench": benchmark.name, "bench_version": benchmark.version, "quick": quick, **benchmark.about, "jobs": jobs}
        path = None if folder is None else folder / f"{benchmark.name}{'-quick' if quick else ''}.jsonl"
        self.record = Record(path, self.about, benchmark.key)
        self.units = benchmark.units()

    @property
    def waiting(self) -> list[Unit]:
        done = self.record.done
        return [unit for unit in self.units if unit.key not in done]

    @property
    def seconds(self) -> float:
        """What is left to do takes about so long, or less."""
        return sum(unit.seconds for unit in self.waiting) / self.jobs

    @property
    def tables(self) -> list[Table]:
        return self.benchmark.tables(self.about, self.record.rows)

    @property
    def plots(self) -> list[Plot]:
        return self.benchmark.plots(self.about, self.record.rows)

    def __iter__(self) -> Iterator[Unit]:
        waiting = self.waiting
        if not waiting:
            return
        for unit, rows in self._measured(waiting):
            named = dict(zip(self.benchmark.key, unit.key, strict=True))
            self.record.add([named | row for row in rows])
            yield unit

    def _measured(self, waiting: Sequence[Unit]) -> Iterator[tuple[Unit, list[Row]]]:
        if self.jobs == 1:
            try:
                self.benchmark.prepare()
                for unit in waiting:
                    yield unit, self.benchmark.measure(unit)
            finally:
                self.benchmark.close()
            return
        threads = max(1, torch.get_num_threads() // self.jobs)
        with get_context("spawn").Pool(self.jobs, _prepare, (self.benchmark, threads)) as processes:
            yield from processes.imap_unordered(_measure, waiting)


# --- in a process of its own --------------------------------------------------------------------------------------


_benchmark: Benchmark | None = None


def _prepare(benchmark: Benchmark, threads: int) -> None:
    global _benchmark
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that gave the order stops this one
    keep_freed_memory()
    torch.set_num_threads(threads)
    benchmark.prepare()
    _benchmark = benchmark


def _measure(unit: Unit) -> tuple[Unit, list[Row]]:
    assert _benchmark is not None
    return unit, _benchmark.measure(unit)

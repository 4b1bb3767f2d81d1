"""Running a benchmark: unit after unit, each recorded as soon as it is done, so that it can be stopped and continued."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed, wait
from itertools import islice
from multiprocessing import active_children, get_context
from pathlib import Path

import torch

from consformer.bench.base import SIDE_BY_SIDE, Benchmark, Plot, Row, Unit
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
        self.record = Record(path, self.about, benchmark.key, benchmark.differing)
        self.units = benchmark.units()

    @property
    def waiting(self) -> list[Unit]:
        done = self.record.done
        return [unit for unit in self.units if unit.key not in done]

    @property
    def seconds(self) -> float:
        """What is left to do takes about so long, or less."""
        return sum(max(unit.seconds for unit in group) for group in self._groups(self.waiting)) / self.jobs

    def _groups(self, units: Sequence[Unit]) -> list[list[Unit]]:
        """Units that are done at the same time: neighbours that keep one core busy each, as many as there are cores."""
        groups: list[list[Unit]] = []
        most = torch.get_num_threads() if self.jobs == 1 else 1
        for unit in units:
            if groups and unit.single and groups[-1][0].single and len(groups[-1]) < most:
                groups[-1].append(unit)
            else:
                groups.append([unit])
        return groups

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
        if self.jobs > 1:
            yield from self._together(waiting)
            return
        try:
            self.benchmark.recall(self.record.rows)
            self.benchmark.prepare()
            for group in self._groups(waiting):
                yield from self._measured(group)
        finally:
            self.benchmark.close()

    def _measured(self, group: Sequence[Unit]) -> Iterator[Unit]:
        if len(group) == 1:
            yield self._keep(group[0], self.benchmark.measure(group[0]))
            return
        pool = ThreadPoolExecutor(len(group))
        under_way = {pool.submit(self.benchmark.measure, unit): unit for unit in group}
        try:
            for future in as_completed(under_way):
                yield self._keep(under_way[future], [row | {SIDE_BY_SIDE: len(group)} for row in future.result()])
        finally:
            if not all(future.done() for future in under_way):  # nobody waits for them any more
                self.benchmark.close()
            pool.shutdown()

    def _keep(self, unit: Unit, rows: Sequence[Row]) -> Unit:
        named = dict(zip(self.benchmark.key, unit.key, strict=True))
        self.record.add([named | row for row in rows])
        return unit

    def _together(self, waiting: Sequence[Unit]) -> Iterator[Unit]:
        """Several at a time. When nobody asks for more, those under way are still done and kept, as with one at a time."""
        threads = max(1, torch.get_num_threads() // self.jobs)
        left, under_way, others = iter(waiting), set[Future[tuple[Unit, list[Row]]]](), set(active_children())
        pool = ProcessPoolExecutor(self.jobs, get_context("spawn"), _prepare, (self.benchmark, self.record.rows, threads))
        try:
            try:
                under_way = {pool.submit(_measure, unit) for unit in islice(left, self.jobs)}
                while under_way:
                    done, _ = wait(under_way, return_when=FIRST_COMPLETED)
                    for future in done:
                        unit = self._keep(*future.result())
                        under_way.remove(future)
                        under_way |= {pool.submit(_measure, each) for each in islice(left, 1)}
                        yield unit
            except GeneratorExit:
                for future in under_way:
                    self._keep(*future.result())
        except BaseException:  # also while it waits for those under way
            for process in set(active_children()) - others:
                process.kill()
            raise
        finally:
            pool.shutdown()


# --- in a process of its own --------------------------------------------------------------------------------------


_benchmark: Benchmark | None = None


def _prepare(benchmark: Benchmark, rows: list[Row], threads: int) -> None:
    global _benchmark
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that gave the order stops this one
    keep_freed_memory()
    torch.set_num_threads(threads)
    benchmark.recall(rows)
    benchmark.prepare()
    _benchmark = benchmark


def _measure(unit: Unit) -> tuple[Unit, list[Row]]:
    assert _benchmark is not None
    return unit, _benchmark.measure(unit)

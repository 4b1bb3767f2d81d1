"""How fast it is, and how far from what the matrix products alone would take: iterations, training, large graphs, memory, cold start.

Ratios are told beside seconds, because machines are noisy: whatever is compared is measured in the same run.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from consformer import families
from consformer.bench.apart import Apart
from consformer.bench.base import About, Benchmark, Plot, Row, Rows, Unit
from consformer.bench.figures import quiet
from consformer.bench.identity import identified
from consformer.bench.tables import Fixed, Table
from consformer.csp import CSP
from consformer.errors import ConsformerError
from consformer.families.maxcut import problem
from consformer.formats import read_problems
from consformer.memory import keep_freed_memory
from consformer.networks import EquivariantNetwork, Network
from consformer.search.refine import PAIRS_FOR_COMPILER, Refinement, SearchSettings
from consformer.training.checkpoint import load_network
from consformer.training.loop import Trainer
from consformer.training.recipe import load_recipe

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POOLS = (1, 64)
SIDES = ((40, 25), (100, 50), (200, 100), (400, 250))  # tori: 1,000 to 100,000 vertices with four neighbours each
DEGREES = (4, 16, 64, 256)  # of random graphs with as many vertices as VERTICES
VERTICES = 2000
PATIENCE = 900.0  # seconds for one large graph, then it is given up
EASY = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79\n"


class Speed(Benchmark):
    """Each unit is one measurement; several tries of each, of which the median counts."""

    name = "speed"
    heading = "Speed"
    place = 100
    command = "consformer bench speed"
    usually = {"network": "any"}
    key = ("what", "case")

    def __init__(self, network: str = "any", graph: Path | None = None, *, quick: bool = False) -> None:
        self.network, self.graph, self.quick = network, graph, quick
        if not isinstance(load_network(network)[0], EquivariantNetwork):
            raise ConsformerError(f"the matrix products of {network!r} are not known: name a network of the any-CSP kind, such as any")
        self.about = {**identified(network), "threads": torch.get_num_threads()}

    @classmethod
    def asked(cls, about: About, rows: Rows) -> str:
        """With the graph that was named."""
        return " ".join([super().asked(about, rows), *(f"--graph {Path(row['case']).name}" for row in rows if row["what"] == "graph")])

    def units(self) -> Sequence[Unit]:
        quick, tries = self.quick, self._tries
        found = [Unit(("iteration", f"{pool} {code}"), 4.0 + 0.4 * tries) for pool in POOLS for code in ("plain", "compiled")]
        found.append(Unit(("training", "any"), 2.5 * (tries // 3 + 2)))
        found += [Unit(("vertices", f"{side}x{height}"), 10 + side * height / 5000) for side, height in SIDES[: 3 if quick else None]]
        found += [Unit(("edges", str(degree)), 10 + degree / 10) for degree in DEGREES[: 3 if quick else None]]
        if self.graph is not None:
            found.append(Unit(("graph", str(self.graph)), 20))
        return [*found, Unit(("cold start", ""), 4.0 * (tries // 3 + 1))]

    @property
    def _tries(self) -> int:
        return 6 if self.quick else 15

    def measure(self, unit: Unit) -> list[Row]:
        what, case = unit.key[0], str(unit.key[1])
        if what == "iteration":
            pool, code = case.split()
            return [iteration(self.network, int(pool), self._tries, compiled=code == "compiled")]
        if what == "training":
            return [training(self._tries // 3)]
        if what == "cold start":
            return [cold_start(self.network, self._tries // 3)]
        return [self._large(str(what), case)]

    def _large(self, what: str, case: str) -> Row:
        """One measurement in a process of its own, so that peak memory is its own."""
        with Apart() as apart:
            called = apart.call(large, what, case, self.network, torch.get_num_threads(), seconds=PATIENCE)
        return called.value if called.value is not None else {"failed": f"{called.status}: {called.reason}"}

    @classmethod
    def tables(cls, about: About, rows: Rows) -> list[Table]:
        on = f"`{about['network']}`, threads: {about['threads']}; the median of several tries, in brackets the fastest and the slowest."
        return [table for table in (_iterations(rows, on), _scaling(rows, on), _others(rows, about)) if table.rows]

    @classmethod
    def plots(cls, about: About, rows: Rows) -> list[Plot]:
        plots = []
        if any(row["what"] == "iteration" for row in rows):
            title = "An iteration, and what its matrix products alone take"
            plots.append(Plot("speed-iteration", title, partial(_draw_iterations, rows), (7.0, 3.2)))
        if any(row["what"] in LARGE and "seconds" in row for row in rows):
            plots.append(Plot("speed-scaling", "An iteration on large graphs", partial(_draw_scaling, rows), (9.0, 3.8)))
        return plots


# --- measuring ----------------------------------------------------------------------------------------------------


def timed(run: Callable[[], object], tries: int) -> list[float]:
    """Seconds of each try, after one that is not counted."""
    times = []
    for _ in range(tries + 1):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return times[1:]


def spread(times: Sequence[float]) -> Row:
    """Median, fastest and slowest, as they go into a row."""
    return {"seconds": statistics.median(times), "fastest": min(times), "slowest": max(times), "tries": len(times)}


def iteration(name: str, pool: int, tries: int, *, compiled: bool) -> Row:
    """Whole iterations (select, propose, decode, judge) on a Sudoku board, and the matrix products of one forward pass."""
    network, _ = load_network(name)
    assert isinstance(network, EquivariantNetwork)
    board = unsolvable()
    times = iteration_times(board, network.compiled() if compiled else network, pool, tries * (10 if pool == 1 else 1))
    products = statistics.median(timed(Products(network, board.n, board.m, pool), tries))
    return {"pool": pool, "compiled": compiled, **spread(times), "products": products}


def iteration_times(csp: CSP, network: Network, pool: int, tries: int) -> list[float]:
    """Seconds of so many iterations. A search is begun anew before it would go on with compiled code; its first is not counted."""
    most = max(2, PAIRS_FOR_COMPILER // (csp.n * csp.m * pool))
    times: list[float] = []
    while len(times) < tries:
        steps = iter(Refinement([csp], network, SearchSettings(pool=pool)))
        next(steps)  # the random start
        marks = [time.perf_counter() for _ in islice(steps, min(most, tries + 1 - len(times)))]
        times += np.diff(marks).tolist()
    return times[:tries]


def unsolvable() -> CSP:
    """A board that no search ends on: two equal givens in a row, the others as in a board with 31 of them."""
    (board,) = families.get("sudoku").generate(np.random.default_rng(0), 1, {"givens": [31, 31]})
    given = board.given.clone()
    given[:2] = 0
    return board.with_given(given)


@dataclass
class Products:
    """The matrix products of one forward pass, and nothing else, on buffers made beforehand."""

    network: EquivariantNetwork
    n: int
    m: int
    pool: int

    def __post_init__(self) -> None:
        c, e, heads = self.network.config.width, self.network.config.expand, self.network.config.heads
        tokens, rows, d = self.n * self.m * self.pool, self.pool * self.m * heads, c // heads
        self.x, self.y = torch.randn(tokens, c), torch.empty(tokens, c)
        self.hidden = torch.randn(tokens, e * c)
        self.pooled, self.spread = torch.randn(self.n * self.pool, 2 * c), torch.empty(self.n * self.pool, e * c)
        self.square, self.others = torch.randn(c, c), torch.randn(2 * c, e * c)
        self.up, self.down = torch.randn(c, e * c), torch.randn(e * c, c)
        self.q, self.kt, self.v = torch.randn(rows, self.n, d), torch.randn(rows, d, self.n), torch.randn(rows, self.n, d)
        self.weights, self.mixed = torch.empty(rows, self.n, self.n), torch.empty(rows, self.n, d)

    def __call__(self) -> None:
        for _ in range(self.network.config.layers * self.network.config.repeat):
            for _ in range(4):
                torch.mm(self.x, self.square, out=self.y)
            torch.bmm(self.q, self.kt, out=self.weights)
            torch.bmm(self.weights, self.v, out=self.mixed)
            torch.mm(self.x, self.up, out=self.hidden)
            torch.mm(self.hidden, self.down, out=self.y)
            torch.mm(self.pooled, self.others, out=self.spread)


def training(tries: int) -> Row:
    """Samples per second of the recipe `any` in this one process."""
    recipe = load_recipe("any")
    trainer = Trainer(recipe, Path("unused"))
    return {"samples": sum(task.batch for task in recipe.task), **spread(timed(trainer.train_step, tries))}


def cold_start(name: str, tries: int) -> Row:
    """`consformer solve` of an easy board, start to end, over a bare `import torch`."""
    solve = [sys.executable, "-m", "consformer", "solve", "-", "--network", name, "--quiet"]

    def call(command: list[str], text: str | None) -> None:
        subprocess.run(command, input=text, text=True, capture_output=True, check=True)

    bare = timed(lambda: call([sys.executable, "-c", "import torch"], None), tries)
    return {**spread(timed(lambda: call(solve, EASY), tries)), "import_torch": statistics.median(bare)}


# --- large graphs, each in a process of its own -------------------------------------------------------------------

LARGE = ("vertices", "edges", "graph")


def large(what: str, case: str, name: str, threads: int) -> Row:
    """Seconds and peak memory of an iteration of a MAXCUT search with one candidate."""
    keep_freed_memory()
    torch.set_num_threads(threads)
    network, _ = load_network(name)
    csp = {"vertices": torus, "edges": random_graph, "graph": from_file}[what](case)
    times = iteration_times(csp, network, 1, 3)
    edges = (csp.graph.edges.shape[1] - csp.n) // 2
    return {"vertices": csp.n, "edges": edges, **spread(times), "peak_mb": peak_memory() / 2**20}


def torus(case: str) -> CSP:
    """A MAXCUT problem on a toroidal grid, such as "200x100": every vertex has four neighbours, as in Gset's G81."""
    side, height = map(int, case.split("x"))
    index = np.arange(side * height).reshape(height, side)
    right = np.stack([index, np.roll(index, -1, 1)], -1).reshape(-1, 2)
    below = np.stack([index, np.roll(index, -1, 0)], -1).reshape(-1, 2)
    return _cut(side * height, np.concatenate([right, below]))


def random_graph(case: str) -> CSP:
    """A MAXCUT problem on a random graph whose vertices have so many neighbours on average."""
    rng = np.random.default_rng(0)
    wanted = VERTICES * int(case) // 2
    ends = np.sort(rng.integers(VERTICES, size=(2 * wanted, 2)), 1)
    return _cut(VERTICES, np.unique(ends[ends[:, 0] < ends[:, 1]], axis=0)[rng.permutation(wanted)])


def from_file(case: str) -> CSP:
    return read_problems(case, family="maxcut")[0]


def _cut(vertices: int, edges: np.ndarray[Any, Any]) -> CSP:
    return problem(vertices, edges, np.ones(len(edges)), {})


def peak_memory() -> int:
    """The most bytes that this process had resident. What the system keeps for its parent's sake (`ru_maxrss`) would count that, too."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration, ValueError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# --- tables and pictures ------------------------------------------------------------------------------------------


def _of(rows: Rows, *what: str) -> list[Any]:
    return [row for row in rows if row["what"] in what and "failed" not in row]


def _ms(row: Any) -> str:
    digits = 2 if row["seconds"] < 0.1 else 0
    return f"{1000 * row['seconds']:,.{digits}f} [{1000 * row['fastest']:,.{digits}f}, {1000 * row['slowest']:,.{digits}f}]"


def _iterations(rows: Rows, on: str) -> Table:
    return Table(
        "An iteration on a 9×9 board",
        ("candidates", "code", "ms", "iterations/s", "all candidates, iterations/s", "matrix products alone, ms", "times the products"),
        tuple(
            (
                row["pool"],
                "compiled" if row["compiled"] else "tensor operations",
                _ms(row),
                Fixed(1 / row["seconds"], 1),
                Fixed(row["pool"] / row["seconds"], 0),
                Fixed(1000 * row["products"]),
                Fixed(row["seconds"] / row["products"], 1),
            )
            for row in _of(rows, "iteration")
        ),
        f"Selecting, proposing, decoding and judging; {on} A search begins with tensor operations and goes on with compiled code. The "
        "matrix products of a pass were measured in the same run, on buffers made beforehand, as torch does them.",
    )


def _scaling(rows: Rows, on: str) -> Table:
    found = _of(rows, *LARGE)
    names = {"vertices": "torus, 4 neighbours each", "edges": "random graph"}
    lines: list[tuple[Any, ...]] = []
    for row in found:
        first = next(other for other in found if other["what"] == row["what"])
        size = row["vertices"] + row["edges"]
        growth = row["seconds"] / size / (first["seconds"] / (first["vertices"] + first["edges"]))
        name = names.get(row["what"], Path(row["case"]).stem)
        lines.append((name, row["vertices"], row["edges"], _ms(row), Fixed(row["peak_mb"], 0), Fixed(growth) if row is not first else None))
    for row in rows:
        if "failed" in row:
            lines.append((f"{names.get(row['what'], row['what'])} {row['case']}: {row['failed']}", None, None, None, None, None))
    return Table(
        "An iteration on large graphs",
        ("graph", "vertices", "edges", "ms", "peak memory, MB", "time per vertex and edge over the first of its kind"),
        tuple(lines),
        f"One candidate, cuts (two values), {on} Each graph in a process of its own, whose memory is told with Python and torch in it.",
    )


def _others(rows: Rows, about: About) -> Table:
    lines: list[tuple[Any, ...]] = [
        ("training, recipe `any`", f"{row['samples'] / row['seconds']:.1f} samples/s", f"{_ms(row)} ms a step of {row['samples']} samples")
        for row in _of(rows, "training")
    ]
    lines += [
        (
            "cold start: `consformer solve` of a board",
            f"{row['seconds']:.2f} s [{row['fastest']:.2f}, {row['slowest']:.2f}]",
            f"{row['seconds'] / row['import_torch']:.2f} times `import torch` alone ({row['import_torch']:.2f} s)",
        )
        for row in _of(rows, "cold start")
    ]
    return Table("Training and cold start", ("what", "median", "that is"), tuple(lines), f"One process, threads: {about['threads']}.")


def _draw_iterations(rows: Rows, figure: Figure) -> None:
    for place, pool in enumerate(POOLS):
        axes = figure.add_subplot(1, len(POOLS), place + 1)
        own = [row for row in _of(rows, "iteration") if row["pool"] == pool]
        if not own:
            continue
        alone = statistics.median(row["products"] for row in own)
        bars = [("matrix products\nalone", alone, (alone, alone), "0.7")]
        for row in own:
            name, colour = ("compiled", "tab:blue") if row["compiled"] else ("tensor\noperations", "tab:orange")
            bars.append((name, row["seconds"], (row["fastest"], row["slowest"]), colour))
        for at, (_, seconds, ends, colour) in enumerate(bars):
            axes.bar(at, 1000 * seconds, color=colour, width=0.65)
            axes.plot([at, at], [1000 * end for end in ends], color="0.2", linewidth=1)
            told = f"{1000 * seconds:,.{1 if seconds < 0.1 else 0}f} ms"
            axes.annotate(told, (at + 0.05, 1000 * seconds), xytext=(2, 3), textcoords="offset points", fontsize=8)
        axes.set_xticks(range(len(bars)), [name for name, *_ in bars], fontsize=8)
        axes.set_xlim(-0.5, len(bars) - 0.2)
        axes.set_title("one candidate" if pool == 1 else f"{pool} candidates", fontsize=10)
        axes.set_ylabel("ms")
        axes.spines[["top", "right"]].set_visible(False)


def _draw_scaling(rows: Rows, figure: Figure) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    plain = FuncFormatter(lambda number, _: f"{number:,g}")
    for place, (entry, label) in enumerate((("seconds", "seconds an iteration"), ("peak_mb", "peak memory, MB"))):
        axes = figure.add_subplot(1, 2, place + 1)
        for what, name, marker in (("vertices", "tori: more vertices", "o"), ("edges", f"{VERTICES:,} vertices: more edges", "s")):
            own = sorted((row["vertices"] + row["edges"], row[entry]) for row in _of(rows, what))
            if own:
                axes.plot(*zip(*own, strict=True), marker=marker, label=name)
        for row in _of(rows, "graph"):
            axes.plot(row["vertices"] + row["edges"], row[entry], "*", markersize=11, label=Path(row["case"]).stem)
        if entry == "seconds":
            _draw_linear(axes)
            axes.set_yscale("log")
        else:
            axes.set_ylim(bottom=0)
        axes.set_xscale("log")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(plain)
            axis.set_minor_formatter(NullFormatter())
        axes.set_xlabel("vertices + edges")
        axes.set_ylabel(label)
        quiet(axes)
        axes.legend(fontsize=8)


def _draw_linear(axes: Any) -> None:
    """A line of the slope that time in proportion to size has."""
    points = [(x, y) for line in axes.get_lines() for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)]
    low, high = min(points), max(points)
    if low[0] < high[0]:
        axes.plot([low[0], high[0]], [low[1], low[1] * high[0] / low[0]], ":", color="0.5", label="in proportion")

"""What compiled layers are worth: iterations with and without them, side by side, on three kinds of problems; what loading them takes; and
what whole iterations as compiled code are worth beyond compiled layers, for networks with states only for what is open.

python benchmarks/compiled.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

import numpy as np
import torch

from consformer import families
from consformer.constraints.not_equal import NotEqual
from consformer.csp import CSP
from consformer.families.maxcut import problem
from consformer.memory import keep_freed_memory
from consformer.networks import EquivariantConfig, EquivariantNetwork, LayeredConfig, OpenNetwork
from consformer.search import refine
from consformer.search.refine import Refinement, SearchSettings
from consformer.search.runs import Runs
from consformer.search.schedule import Fixed

LOAD = """
import time
from consformer.networks import EquivariantConfig, EquivariantNetwork
network = EquivariantNetwork({config})
start = time.process_time()
network.compiled()
print(time.process_time() - start)
"""


def random_edges(n: int, count: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """`count` edges [count,2] between n vertices."""
    left, right = np.triu_indices(n, 1)
    chosen = np.random.default_rng(0).choice(len(left), count, replace=False)
    return np.stack([left[chosen], right[chosen]], 1)


def maxcut() -> CSP:
    edges = random_edges(2000, 12_000)
    return problem(2000, edges, np.ones(len(edges)), {})


def coloring(count: int = 2600) -> CSP:
    edges = torch.from_numpy(random_edges(200, count))
    everything, nothing = torch.ones(200, 10, dtype=torch.bool), torch.full((200,), -1)
    constraints = (NotEqual.of(edges),)
    return CSP(
        domain=everything, given=nothing, positions=torch.arange(200)[:, None], constraints=constraints, value_labels=tuple(range(10))
    )


def sudoku() -> CSP:
    return families.get("sudoku").generate(np.random.default_rng(0), 1, {"givens": [25, 25]})[0]


CASES = (
    ("MAXCUT, 2,000 vertices of degree 12", maxcut, EquivariantConfig(width=16, heads=1, layers=2, repeat=2)),
    ("10 colours, 200 vertices, density 0.13", coloring, EquivariantConfig(width=32, heads=2, layers=5)),
    ("9x9 Sudoku", sudoku, EquivariantConfig(width=32, heads=2, layers=5, repeat=3)),
)

WHOLE = (  # an open network, the share of the variables that is updated, as shipped networks have it
    ("10 colours, 200 vertices, density 0.18", lambda: coloring(3582), LayeredConfig(width=32, heads=2, layers=5), 0.6),
    ("9x9 Sudoku", sudoku, LayeredConfig(width=32, heads=2, layers=5, repeat=3), 0.8),
)


def iteration_ms(runs: list[Refinement], repeat: int = 60) -> list[float]:
    """Median time of an iteration of each run, in processor time and in turns, so that a busy machine slows all of them down."""
    times: list[list[float]] = [[] for _ in runs]
    batches = [run._refill(None) for run in runs]
    for turn in range(repeat + 5):
        for run, batch, found in zip(runs, batches, times, strict=True):
            assert batch is not None
            start = time.thread_time()
            count = run._step(batch)
            if turn >= 5:
                found.append(1000 * (time.thread_time() - start) / count)
    return [statistics.median(found) for found in times]


def main() -> None:
    keep_freed_memory()
    torch.set_num_threads(1)
    refine.PAIRS_FOR_COMPILER = sys.maxsize  # what is compiled is decided here
    for name, make, config in CASES:
        torch.manual_seed(0)
        csp, network = make(), EquivariantNetwork(config).eval()
        settings = SearchSettings(p=Fixed(0.3))
        plain, quick = iteration_ms([Refinement([csp], each, settings) for each in (network, network.compiled())])
        done = subprocess.run([sys.executable, "-c", LOAD.format(config=config)], capture_output=True, text=True, check=True)
        print(
            f"{name}: {plain:.2f} ms an iteration, compiled {quick:.2f} ms, {plain / quick:.2f} times as fast; "
            f"compiled code is loaded in {float(done.stdout):.2f} s"
        )
    for name, make, open_config, p in WHOLE:
        torch.manual_seed(0)
        csp, settings = make(), SearchSettings(p=Fixed(p))
        compiled = OpenNetwork(open_config).eval().compiled()
        runs = [Refinement([csp], compiled, settings) for _ in range(2)]
        runs[1]._runs = Runs(compiled, settings)
        layers, whole = iteration_ms(runs)
        print(f"{name}, open: {layers:.2f} ms an iteration, {whole:.2f} ms as a whole, {layers / whole:.2f} times as fast")


if __name__ == "__main__":
    main()

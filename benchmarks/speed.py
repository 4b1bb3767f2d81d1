"""How fast it is, and how far from what the matrix products alone would take. One run, one table; ratios, because machines are noisy.

python benchmarks/speed.py [--network NAME_OR_FILE] [--graph G81.txt] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from consformer import families
from consformer.csp import CSP
from consformer.formats import read_problems
from consformer.memory import keep_freed_memory
from consformer.networks import EquivariantNetwork
from consformer.search.refine import Refinement, SearchSettings
from consformer.training.checkpoint import load_network
from consformer.training.loop import Trainer
from consformer.training.recipe import load_recipe


def median_seconds(run: Callable[[], object], repeat: int) -> float:
    run()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


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


@torch.no_grad()
def refinement(network: EquivariantNetwork, pool: int) -> dict[str, float]:
    """Whole iterations (select, propose, decode, judge) on one Sudoku board."""
    board = families.get("sudoku").generate(np.random.default_rng(0), 1, {"givens": [31, 31]})[0]
    products = Products(network, board.n, board.m, pool)
    run = Refinement([board], network, SearchSettings(pool=pool))
    batch = run._refill(None)
    assert batch is not None
    repeat = 200 if pool == 1 else 15
    iteration = median_seconds(lambda: run._step(batch), repeat)
    alone = median_seconds(products, repeat)
    return {"iterations_per_second": 1 / iteration, "ms": 1000 * iteration, "products_ms": 1000 * alone, "ratio": iteration / alone}


def training() -> dict[str, float]:
    """Samples per second of the recipe `any` in this one process."""
    recipe = load_recipe("any")
    trainer = Trainer(recipe, Path("unused"))
    step = median_seconds(trainer.train_step, 4)
    return {"samples_per_second": sum(task.batch for task in recipe.task) / step, "threads": torch.get_num_threads()}


def torus(side: int, height: int) -> CSP:
    """A MAXCUT problem on a toroidal grid: every vertex has four neighbours, as in Gset's G81."""
    from consformer.families.maxcut import problem

    index = np.arange(side * height).reshape(height, side)
    right = np.stack([index, np.roll(index, -1, 1)], -1).reshape(-1, 2)
    below = np.stack([index, np.roll(index, -1, 0)], -1).reshape(-1, 2)
    edges = np.concatenate([right, below])
    return problem(side * height, edges, np.ones(len(edges)), {})


def sparse_child(source: str, name: str) -> None:
    """One measurement in a process of its own, so that peak memory is its own; the source is a Gset file or a torus as 200x100."""
    keep_freed_memory()
    network, _ = load_network(name)
    shape = re.fullmatch(r"(\d+)x(\d+)", source)
    csp = torus(int(shape[1]), int(shape[2])) if shape else read_problems(source, family="maxcut")[0]
    run = Refinement([csp], network, SearchSettings())
    batch = run._refill(None)
    assert batch is not None
    seconds = median_seconds(lambda: run._step(batch), 3)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    edges = (csp.graph.edges.shape[1] - csp.n) // 2
    print(json.dumps({"source": source, "vertices": csp.n, "edges": edges, "seconds": seconds, "peak_mb": peak / 1024}))


def sparse(name: str, graph: str | None) -> list[dict[str, Any]]:
    rows = []
    for source in ["40x25", "100x50", "200x100", "400x250", *([graph] if graph else [])]:
        command = [sys.executable, __file__, "--sparse-child", source, "--network", name]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        rows.append(json.loads(done.stdout.splitlines()[-1]))
    return rows


def cold_start(name: str) -> dict[str, float]:
    """`consformer solve` of an easy board, start to end, over a bare `import torch`."""
    easy = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79\n"
    solve = [sys.executable, "-m", "consformer", "solve", "-", "--network", name, "--quiet"]

    def timed(command: list[str], text: str | None) -> float:
        start = time.perf_counter()
        subprocess.run(command, input=text, text=True, capture_output=True, check=True, env=os.environ)
        return time.perf_counter() - start

    bare = [timed([sys.executable, "-c", "import torch"], None) for _ in range(6)][1:]
    full = [timed(solve, easy) for _ in range(6)][1:]
    torch_s, solve_s = statistics.median(bare), statistics.median(full)
    return {"import_torch_s": torch_s, "solve_s": solve_s, "ratio": solve_s / torch_s}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", default="any")
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    parser.add_argument("--graph", help="also measure an iteration on this graph file, Gset's G81 for instance")
    parser.add_argument("--sparse-child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.sparse_child:
        sparse_child(options.sparse_child, options.network)
        return
    keep_freed_memory()
    network, _ = load_network(options.network)
    assert isinstance(network, EquivariantNetwork)
    found: dict[str, Any] = {"threads": torch.get_num_threads()}
    print(f"{os.cpu_count()} cores, {torch.get_num_threads()} threads, torch {torch.__version__}, network {options.network}")
    for pool in (1, 64):
        found[f"pool_{pool}"] = row = refinement(network, pool)
        print(
            f"pool {pool:>3}: {row['iterations_per_second']:7.1f} iterations/s ({row['ms']:.2f} ms); "
            f"matrix products alone {row['products_ms']:.2f} ms; ratio {row['ratio']:.2f}"
        )
    found["training"] = training()
    print(f"training: {found['training']['samples_per_second']:.1f} samples/s in one process of {torch.get_num_threads()} threads")
    found["sparse"] = sparse(options.network, options.graph)
    print("sparse path, vertices of degree 4, one candidate:")
    first = found["sparse"][0]
    for row in found["sparse"]:
        growth = (row["seconds"] / first["seconds"]) / (row["vertices"] / first["vertices"])
        print(
            f"  {row['vertices']:>7} vertices, {row['edges']:>7} edges: {1000 * row['seconds']:8.1f} ms an iteration, "
            f"peak {row['peak_mb']:6.0f} MB resident; "
            f"time per vertex over that at {first['vertices']}: {growth:.2f}"
        )
    found["cold_start"] = row = cold_start(options.network)
    print(f"cold start: consformer solve {row['solve_s']:.2f} s, import torch {row['import_torch_s']:.2f} s; ratio {row['ratio']:.2f}")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()

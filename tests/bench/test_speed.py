from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from consformer.bench.base import Row
from consformer.bench.speed import (
    POOLS,
    Products,
    Speed,
    iteration,
    iteration_times,
    large,
    peak_memory,
    random_graph,
    spread,
    torus,
    unsolvable,
)
from consformer.errors import ConsformerError
from consformer.networks import EquivariantNetwork
from consformer.networks.token import TokenConfig, TokenNetwork
from consformer.training.checkpoint import Card, load_network, save_network
from tests.helpers import gibbs


def test_graphs_are_of_the_size_asked_for() -> None:
    grid = torus("8x5")
    assert (grid.n, len(grid.constraints[0])) == (40, 80)
    graph = random_graph("4")
    assert (graph.n, len(graph.constraints[0])) == (2000, 4000)
    scopes = {tuple(sorted(record["scope"])) for record in graph.constraints[0].records()}
    assert len(scopes) == 4000  # no edge twice, none from a vertex to itself
    assert all(one != two for one, two in scopes)


def test_no_search_ends_on_the_board() -> None:
    board = unsolvable()
    assert int((~board.free).sum()) >= 31
    assert int(board.violations(board.random_values(1, torch.Generator().manual_seed(0)))) >= 1
    assert len(iteration_times(board, gibbs(), 1, 4)) == 4
    assert len(iteration_times(board, gibbs(), 64, 5)) == 5  # more than a search has before it goes on with compiled code


def test_an_iteration_beside_its_products() -> None:
    row = iteration("any", 1, 1, compiled=False)
    assert row["fastest"] <= row["seconds"] <= row["slowest"]
    assert row["products"] > 0  # by how much less than the iteration is for the benchmark to say, not for a test on a busy machine
    network = gibbs()
    assert isinstance(network, EquivariantNetwork)
    Products(network, 4, 3, 2)()


def test_products_are_those_of_the_network() -> None:
    """All of its linear maps but the first and the last, counted in operations; attention is one operation there and two products here."""
    board, (network, _) = unsolvable(), load_network("any")
    assert isinstance(network, EquivariantNetwork)
    products = Products(network, board.n, board.m, 1)
    values = board.random_values(1, torch.Generator().manual_seed(0))
    with torch.no_grad(), FlopCounterMode(display=False) as own:
        products()
    with torch.no_grad(), FlopCounterMode(display=False) as whole:
        network(board, values, board.free[None], torch.full((1, 1), 0.25))
    counted, there = (counter.get_flop_counts()["Global"][torch.ops.aten.mm] for counter in (own, whole))
    head = 2 * board.n * board.m * network.config.width
    assert counted == there - head


def test_large_graphs_tell_their_memory() -> None:
    row = large("vertices", "6x5", "any", 1)
    assert (row["vertices"], row["edges"], row["tries"]) == (30, 60, 3)
    assert row["peak_mb"] == pytest.approx(peak_memory() / 2**20, rel=0.1)  # the system counts it roughly


def test_tables_and_pictures() -> None:
    rows: list[Row] = []
    for pool in POOLS:
        rows += [
            {"what": "iteration", "case": f"{pool} plain", "pool": pool, "compiled": False, **spread([0.02, 0.03]), "products": 0.005},
            {"what": "iteration", "case": f"{pool} compiled", "pool": pool, "compiled": True, **spread([0.01]), "products": 0.005},
        ]
    rows += [
        {"what": "training", "case": "any", "samples": 50, **spread([0.5])},
        {"what": "vertices", "case": "40x25", "vertices": 1000, "edges": 2000, **spread([0.03]), "peak_mb": 300.0},
        {"what": "vertices", "case": "100x50", "vertices": 5000, "edges": 10_000, **spread([0.075]), "peak_mb": 350.0},
        {"what": "vertices", "case": "200x100", "failed": "overran: killed after 900 s"},
        {"what": "graph", "case": "some/G81.txt", "vertices": 20_000, "edges": 40_000, **spread([0.3]), "peak_mb": 500.0},
        {"what": "cold start", "case": "", **spread([2.0]), "import_torch": 1.6},
    ]
    about: dict[str, Any] = {"network": "any", "threads": 2}
    iterations, scaling, others = Speed.tables(about, rows)
    assert iterations.text()[0] == ["1", "tensor operations", "25.00 [20.00, 30.00]", "40.0", "40", "5.00", "5.0"]
    assert [line[5] for line in scaling.text()] == ["–", "0.50", "–", "–"]
    assert scaling.text()[2][0] == "G81"
    assert "killed after 900 s" in scaling.text()[3][0]
    assert [line[1] for line in others.text()] == ["100.0 samples/s", "2.00 s [2.00, 2.00]"]
    assert "1.25 times" in others.text()[1][2]
    assert [plot.name for plot in Speed.plots(about, rows)] == ["speed-iteration", "speed-scaling"]
    assert Speed.plots(about, []) == []
    assert Speed.tables(about, []) == []


def test_what_is_measured() -> None:
    whats = [unit.key[0] for unit in Speed(quick=True).units()]
    assert list(dict.fromkeys(whats)) == ["iteration", "training", "vertices", "edges", "cold start"]
    assert sum(unit.seconds for unit in Speed(quick=True).units()) < 180


def test_networks_without_known_products(tmp_path: Any) -> None:
    path = tmp_path / "token.safetensors"
    network = TokenNetwork(TokenConfig(width=8, layers=1, heads=1))
    save_network(path, network, Card("token", "token", network.config_dict()))
    with pytest.raises(ConsformerError, match="name a network of the any-CSP kind"):
        Speed(str(path))

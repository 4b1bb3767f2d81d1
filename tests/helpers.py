"""What several tests need: small random problems, networks with random weights, and networks made for a purpose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from consformer.constraints import Record, compile_records
from consformer.csp import CSP
from consformer.networks import MASKED, EquivariantConfig, EquivariantNetwork, Network

if TYPE_CHECKING:
    from consformer.bench.apart import Called

KINDS = ("all_different", "cardinality", "not_equal")


def problem(
    records: list[Record],
    *,
    n: int,
    m: int,
    given: dict[int, int] | None = None,
    forbidden: list[tuple[int, int]] | None = None,
    positions: Tensor | None = None,
    maximise: bool = False,
    offset: float = 0.0,
) -> CSP:
    """A CSP from records of constraints; `given` and `forbidden` speak of (variable, value)."""
    domain = torch.ones(n, m, dtype=torch.bool)
    for variable, value in forbidden or []:
        domain[variable, value] = False
    fixed = torch.full((n,), -1)
    for variable, value in (given or {}).items():
        fixed[variable] = value
    return CSP(
        domain=domain,
        given=fixed,
        positions=torch.arange(n)[:, None] if positions is None else positions,
        constraints=compile_records(records),
        value_labels=tuple(range(m)),
        maximise=maximise,
        offset=offset,
    )


def random_csp(seed: int, *, kinds: tuple[str, ...] = KINDS, soft: bool = True, fixed: bool = True, n: int = 0, m: int = 0) -> CSP:
    """A small problem of the given kinds, with domains of all sizes and some variables fixed; a soft constraint here and there."""
    rng = np.random.default_rng(seed)
    n, m = n or int(rng.integers(2, 9)), m or int(rng.integers(2, 6))
    records: list[Record] = []
    for _ in range(int(rng.integers(1, 3 * n))):
        kind = str(rng.choice(kinds))
        size = 2 if kind == "not_equal" else int(rng.integers(1, n + 1))
        record: Record = {"kind": kind, "scope": rng.permutation(n)[:size].tolist()}
        if kind == "cardinality":
            record |= {
                "value": int(rng.integers(m)),
                "count": int(rng.integers(size + 1)),
                "compare": str(rng.choice(["==", ">=", "<="])),
            }
        if soft and rng.random() < 0.3:
            sign = rng.choice([-1, 1]) if kind == "not_equal" else 1
            record |= {"soft": True, "weight": float(sign * rng.integers(1, 9) / 2)}
        records.append(record)
    allowed = rng.random((n, m)) < 0.7
    allowed[np.arange(n), rng.integers(m, size=n)] = True
    given = {i: int(rng.choice(np.flatnonzero(allowed[i]))) for i in range(n) if fixed and rng.random() < 0.2}
    forbidden = [(int(i), int(v)) for i, v in zip(*np.nonzero(~allowed), strict=True)]
    return problem(records, n=n, m=m, given=given, forbidden=forbidden)


def permuted(csp: CSP, variables: Tensor, values: Tensor) -> CSP:
    """The same problem with variable i called variables[i] and value v called values[v]."""
    records = []
    for constraint in csp.constraints:
        for record in constraint.records():
            moved = {**record, "scope": [int(variables[i]) for i in record["scope"]]}
            records.append(moved | ({"value": int(values[record["value"]])} if "value" in record else {}))
    given = torch.where(csp.free, -1, values[csp.given.clamp(min=0)])
    back, value_back = torch.argsort(variables), torch.argsort(values)
    return CSP(
        domain=csp.domain[back][:, value_back],
        given=given[back],
        positions=csp.positions[back],
        constraints=compile_records(records),
        value_labels=csp.value_labels,
    )


def coloring(edges: list[tuple[int, int]], *, n: int, m: int) -> CSP:
    return problem([{"kind": "not_equal", "scope": list(edge)} for edge in edges], n=n, m=m)


def cycle(n: int, m: int) -> CSP:
    """Vertices in a circle, neighbours of different colours."""
    return coloring([(i, (i + 1) % n) for i in range(n)], n=n, m=m)


def hard_graph(n: int = 150, m: int = 11, density: float = 0.35, seed: int = 0) -> CSP:
    """A graph that nobody colours or proves within seconds."""
    rng = np.random.default_rng(seed)
    return coloring([(i, j) for i in range(n) for j in range(i) if rng.random() < density], n=n, m=m)


def impossible(n: int = 3, m: int = 2) -> CSP:
    """More variables than values, all to be different."""
    return problem([{"kind": "all_different", "scope": list(range(n))}], n=n, m=m)


def randomised(network: Network, seed: int = 0, scale: float = 0.4) -> Network:
    """The network with all weights drawn anew: fresh ones start with a head of zeros, which would make many tests empty."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * scale)
    return network.eval()


def small_equivariant(seed: int = 0) -> Network:
    return randomised(EquivariantNetwork(EquivariantConfig(width=8, layers=2, heads=2, expand=2)), seed)


def gibbs() -> Network:
    """The untrained any-CSP network: parallel Gibbs sampling, which solves small problems."""
    return EquivariantNetwork(EquivariantConfig(width=4, layers=1, heads=1, expand=1)).eval()


def random_inputs(csp: CSP, pool: int = 1, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Values, subset and temperature for a network."""
    generator = torch.Generator().manual_seed(seed)
    subset = (torch.rand(pool, csp.n, generator=generator) < 0.6) & csp.free
    temperature = 0.15 + torch.rand(pool, len(csp.instances), generator=generator)
    return csp.random_values(pool, generator), subset, temperature


@dataclass(frozen=True)
class ScriptConfig:
    pass


class ScriptedNetwork(Network):
    """Says what a function says; counts the calls and keeps what it was shown."""

    architecture = "scripted"
    config_type = ScriptConfig

    def __init__(self, answer: Callable[[CSP, Tensor, Tensor, Tensor], Tensor] | None = None) -> None:
        super().__init__(ScriptConfig())
        self.answer = answer
        self.calls: list[tuple[CSP, Tensor, Tensor, Tensor]] = []

    def forward(self, csp: CSP, values: Tensor, subset: Tensor, temperature: Tensor, *, drafts: bool = False) -> Tensor:
        self.calls.append((csp, values, subset, temperature))
        logits = torch.zeros(*values.shape, csp.m) if self.answer is None else self.answer(csp, values, subset, temperature)
        return logits.masked_fill(~csp.domain, MASKED)


class Here:
    """In the place of a process for rivals: they are asked in this one, which is quicker."""

    def call(self, function: Callable[..., object], *arguments: object, seconds: float) -> Called[object]:
        from consformer.bench.apart import Called

        return Called("returned", function(*arguments))

    def close(self) -> None:
        pass

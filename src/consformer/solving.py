"""`solve`: from a problem to a checked answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypedDict, Unpack, overload

import torch

from consformer.account import Account, PartAccount, Step
from consformer.constraints.all_different import AllDifferent
from consformer.constraints.base import is_number, is_whole
from consformer.constraints.not_equal import NotEqual
from consformer.csp import CSP
from consformer.errors import CheckpointError, ConsformerError, UnknownNameError
from consformer.hybrid import METHODS, PARTS, HybridRun, NetworkSearch
from consformer.memory import available_memory
from consformer.modeling import Model
from consformer.networks import Network
from consformer.partners.process import CPSAT, available
from consformer.result import Effort, Result
from consformer.search.decode import DECODERS
from consformer.search.refine import Event, Refinement, SearchSettings
from consformer.search.restart import ORIGINS, PACES
from consformer.search.schedule import COLDEST, parse_schedule
from consformer.search.select import SELECTORS
from consformer.training.checkpoint import Card, load_network
from consformer.training.recipe import section

AUTOMATIC = "auto"  # the name of no network: `choose` finds one
GENERAL = "any"
DEFAULT_SECONDS = 10.0
MOST_MEMORY = 0.6  # of what is free
_DEFAULTS: dict[str, Any] = {
    "pool": 1,
    "p": "0.8",
    "temperature": "0.25",
    "select": "uniform",
    "redraw": "0",
    "decode": "sample",
    "restart": None,
    "restarts": "scratch",
    "patience": "fixed",
    "depth": None,
}

Problem = CSP | Model


class Run:
    """A solve in progress: iterate over it for an `Event` per iteration or short run of them; `results()` is right at any time.

    >>> from consformer import Model, all_different, refine
    >>> model = Model()
    >>> x = model.variables(4, values=range(4))
    >>> model.add(all_different(x))
    >>> run = refine([model], iterations=100)
    >>> for event in run:
    ...     if event.solved:
    ...         break
    >>> run.results()[0].status
    'solved'
    """

    def __init__(
        self, problems: Sequence[CSP], models: Sequence[Model | None], network: Network, name: str, settings: SearchSettings
    ) -> None:
        self.problems, self.models = problems, models
        for csp in self.problems:
            network.check_fit(csp)
        self.network_name = name
        self.notes: tuple[str, ...] = ()
        self.too_large: str | None = None  # why the network cannot take these problems at all
        settings = self._within_memory(network, settings)
        self.interrupted = False  # to be set by who stops before the end; results tell it
        self.refinement = Refinement(self.problems, network.eval() if network.training else network, settings)

    @property
    def limits(self) -> tuple[float | None, int | None]:
        """Seconds and iterations that it may take."""
        return self.refinement.settings.time_limit, self.refinement.settings.iterations

    @property
    def tell(self) -> Callable[[str], None]:
        """To be set by who wants to know what keeps it from searching."""
        return self.refinement.tell

    @tell.setter
    def tell(self, told: Callable[[str], None]) -> None:
        self.refinement.tell = told

    def _within_memory(self, network: Network, settings: SearchSettings) -> SearchSettings:
        """The settings with as large a pool as fits in memory."""
        pairs = max((csp.n * csp.m for csp in self.problems), default=0)
        room, each = available_memory(), pairs * network.bytes_per_pair
        if room is None or each * settings.pool <= MOST_MEMORY * room:
            return settings
        pool = int(MOST_MEMORY * room // each)
        if pool == 0:
            self.too_large = f"the network needs about {each / 2**30:.1f} GiB for this problem, there are {room / 2**30:.1f}"
            return replace(settings, pool=1)
        self.notes = (f"a pool of {settings.pool} does not fit in memory: it is one of {pool}",)
        return replace(settings, pool=pool)

    def __iter__(self) -> Iterator[Event]:
        if self.too_large is not None:
            raise ConsformerError(f"{self.too_large}; the other methods take less (--method hybrid, local or cpsat)")
        return iter(self.refinement)

    def results(self) -> list[Result]:
        """The best of every problem so far, each looked at by the checker."""
        return [self._result(index) for index in range(len(self.problems))]

    def _result(self, index: int) -> Result:
        csp, refinement = self.problems[index], self.refinement
        found = refinement.incumbents[index]
        seed = refinement.settings.seed
        if found is None:  # time was over before its turn came: any assignment is the best so far
            values = csp.random_values(1, torch.Generator().manual_seed(seed + index))[0].tolist()
            account = _account(0, 0.0, (), finished=False)
            effort = Effort(0, refinement.seconds, self.network_name, seed, interrupted=self.interrupted, account=account, notes=self.notes)
            return Result.judged(csp, values, effort, self.models[index])
        interrupted = self.interrupted and not found.finished
        strategies = {} if refinement.bandit is None else refinement.bandit.account(index)
        history = tuple(found.history)
        account = _account(found.iterations, found.seconds, history, found.violations == 0 and not found.cost)
        effort = Effort(
            found.iterations, found.seconds, self.network_name, seed, history, interrupted, strategies, account=account, notes=self.notes
        )
        return Result.judged(csp, found.values, effort, self.models[index])


def _account(iterations: int, seconds: float, history: Sequence[tuple[float, int, float]], finished: bool) -> Account:
    """What the network did where it was alone."""
    note = f"{iterations:,} iteration{'s' if iterations != 1 else ''}"
    name = PARTS["network"]
    steps = tuple(Step(when, name, violations, cost) for when, violations, cost in history)
    return Account((PartAccount(name, seconds, len(history), finished, note),), steps)


def refine(
    problems: Sequence[Problem],
    *,
    network: str | Path | Network | None = None,
    iterations: int | None = None,
    time_limit: float | None = None,
    pool: int | None = None,
    p: float | str | None = None,
    temperature: float | str | None = None,
    select: str | None = None,
    redraw: bool | float | str | None = None,
    decode: str | None = None,
    restart: int | None = None,
    restarts: str | None = None,
    patience: str | None = None,
    depth: int | None = None,
    seed: int = 0,
) -> Run:
    """Prepare to solve problems together; nothing happens until the `Run` is iterated over. Settings as for `solve`."""
    compiled = [_compiled(problem) for problem in problems]
    network = choose(compiled) if network is None or network == AUTOMATIC else network
    model, card = (network, None) if isinstance(network, Network) else _load(str(network))
    defaults = _DEFAULTS | dict(_liked(card, compiled) if card else {})
    select = defaults["select"] if select is None else select
    decode = defaults["decode"] if decode is None else decode
    restarts = defaults["restarts"] if restarts is None else restarts
    patience = defaults["patience"] if patience is None else patience
    for what, name, known in (
        ("selection", select, list(SELECTORS)),
        ("decoding", decode, list(DECODERS)),
        ("way to restart", restarts, list(ORIGINS)),
        ("patience", patience, list(PACES)),
    ):
        if name not in known:
            raise UnknownNameError(what, str(name), known)
    restart = defaults["restart"] if restart is None else restart
    depth = defaults["depth"] if depth is None else depth
    pool = defaults["pool"] if pool is None else pool
    _check_whole("pool", pool, 1)
    _check_whole("seed", seed, 0)
    for what, number, least in (("iterations", iterations, 0), ("restart", restart, 1), ("depth", depth, 1)):
        if number is not None:
            _check_whole(what, number, least)
    if time_limit is not None and not (is_number(time_limit) and time_limit >= 0):
        raise ConsformerError(f"the time limit must be a number of seconds from 0, not {time_limit!r}")
    settings = SearchSettings(
        iterations=iterations,
        time_limit=DEFAULT_SECONDS if iterations is None and time_limit is None else time_limit,
        pool=pool,
        p=parse_schedule(defaults["p"] if p is None else p, high=1.0, what="p"),
        temperature=parse_schedule(
            defaults["temperature"] if temperature is None else temperature, low=COLDEST, what="temperature", counts=False
        ),
        select=select,
        redraw=parse_schedule(_as_number(defaults["redraw"] if redraw is None else redraw), low=0.0, high=1.0, what="redraw", counts=False),
        decode=decode,
        restart=restart,
        restarts=restarts,
        patience=patience,
        seed=seed,
    )
    models = [problem if isinstance(problem, Model) else None for problem in problems]
    run = Run(compiled, models, model.with_depth(depth), card.name if card else type(model).__name__, settings)
    if card is not None and not model.universal:
        for csp in run.problems:
            _check_signature(csp, card)
    return run


def start(
    problems: Sequence[Problem], *, method: str | None = None, without: Sequence[str] = (), **settings: Unpack[RefineSettings]
) -> Run | HybridRun:
    """Prepare to solve problems by a method; nothing happens until the run is iterated over. Settings as for `solve`."""
    run = refine(problems, **settings)
    if method is None:
        method = "network" if settings.get("iterations") is not None and settings.get("time_limit") is None else "hybrid"
    if method not in (*METHODS, "network"):
        raise UnknownNameError("method", method, [*METHODS, "network"])
    for name in without:
        if name not in PARTS:
            raise UnknownNameError("part", name, PARTS)
    if method == "network":
        if without:
            raise ConsformerError(f"the network alone has no parts to leave out: {', '.join(without)}")
        return run
    parts = tuple(name for name in METHODS[method] if name not in without)
    if not parts:
        raise ConsformerError(f"without {', '.join(without)} nothing is left of the method {method!r}")
    if parts == ("cpsat",) and not available():
        raise ConsformerError(CPSAT.missing)
    refinement = run.refinement
    named = any(value is not None for name, value in settings.items() if name not in ("time_limit", "seed"))
    limit = refinement.settings.time_limit
    compiled_network = cache(refinement.network.compiled)  # once, and only if it is needed
    return HybridRun(
        run.problems,
        run.models,
        parts=parts,
        network=NetworkSearch(
            run.network_name,
            lambda csp, seconds: Refinement([csp], compiled_network(), replace(refinement.settings, time_limit=seconds, remember=True)),
            seconds_per_pair=refinement.network.seconds_per_pair * refinement.settings.pool,
            named=named,
            barred=run.too_large,
        ),
        time_limit=DEFAULT_SECONDS if limit is None else limit,
        seed=refinement.settings.seed,
        notes=run.notes,
    )


class RefineSettings(TypedDict, total=False):
    """What `refine` can be told."""

    network: str | Path | Network | None
    iterations: int | None
    time_limit: float | None
    pool: int | None
    p: float | str | None
    temperature: float | str | None
    select: str | None
    redraw: bool | float | str | None
    decode: str | None
    restart: int | None
    restarts: str | None
    patience: str | None
    depth: int | None
    seed: int


class Settings(RefineSettings, total=False):
    """What `solve` can be told."""

    method: str | None
    without: Sequence[str]


@overload
def solve(problem: Problem, **settings: Unpack[Settings]) -> Result: ...
@overload
def solve(problem: Sequence[Problem], **settings: Unpack[Settings]) -> list[Result]: ...
def solve(problem: Problem | Sequence[Problem], **settings: Unpack[Settings]) -> Result | list[Result]:
    """Solve one problem, or many together.

    `method` is "hybrid" (propagation, backtracking, local search, a SAT solver and CP-SAT; the network and its repairs where local search
    cannot take part, and the network wherever it, or a setting of its search, is named; the default), "network" (the network alone,
    reproducible with `iterations`; the default when these and no time limit are given), "local" or "cpsat" (one of the partners alone);
    `without` switches parts of the hybrid off. `result.effort.account` tells who did what.

    Settings of the network and its search: `network` (name of a shipped one, a file, or a network; "auto", or nothing: the shipped one that
    suits the problem), `iterations` (per problem) and `time_limit` (seconds, for the whole call; 10 when neither is given), `pool`
    (candidates refined side by side), `p` (share of variables updated) and `temperature`, each a number or a schedule such as "0.25^1/25",
    `select` ("uniform", "conflicts": all variables in conflict, too, "worst", "gradient", "unsure", "related", or "bandit", which learns
    which of them pays: see `search/select.py`), `redraw` (chance that the network is not shown the present values of the variables it
    updates), `decode` ("sample" or "greedy"), `restart` (stale candidates start anew after so many iterations), `restarts` (from "scratch",
    an "elite", two of them that "cross", or "mixed"), `patience` ("fixed", "luby" or "adaptive": how the iterations until a restart
    change), `depth` (how often the network goes through its layers), `seed`. What is not given is as the network likes it. Ctrl-C gives
    what was found until then, and `result.effort.interrupted` tells so.

    >>> from consformer import Model, all_different, solve
    >>> model = Model()
    >>> x = model.variables((3, 3), values=["a", "b", "c"])
    >>> for i in range(3):
    ...     model.add(all_different(x[i, :]), all_different(x[:, i]))
    >>> result = solve(model)
    >>> result.status, sorted(result[x][0].tolist())
    ('solved', ['a', 'b', 'c'])
    """
    known = RefineSettings.__annotations__ | Settings.__annotations__
    for name in settings:
        if name not in known:
            raise UnknownNameError("setting", name, known)
    single = isinstance(problem, CSP | Model)
    run = start([problem] if isinstance(problem, CSP | Model) else list(problem), **settings)
    try:
        for _event in run:
            pass
    except KeyboardInterrupt:
        run.interrupted = True
    results = run.results()
    return results[0] if single else results


def choose(problems: Sequence[CSP]) -> str:
    """The shipped network for such problems, by what they are made of: `strict-maxcut` where all there is are soft differences between two
    values, `squares` where all there is are variables that must differ and need every value, else `any`.

    >>> from consformer import Model, all_different
    >>> model = Model()
    >>> x = model.variables(3, values=range(3))
    >>> model.add(all_different(x))
    >>> choose([model.compile()])
    'squares'
    >>> model.add(x[0] != x[1])
    >>> choose([model.compile()])
    'any'
    """
    for name, fits in (("strict-maxcut", _is_cut), ("squares", _is_square)):
        if problems and all(csp.constraints and fits(csp) for csp in problems):
            return name
    return GENERAL


def _is_cut(csp: CSP) -> bool:
    return csp.m == 2 and all(isinstance(constraint, NotEqual) and bool(constraint.soft.all()) for constraint in csp.constraints)


def _is_square(csp: CSP) -> bool:
    return not csp.soft_weight and all(
        isinstance(constraint, AllDifferent) and bool(constraint.tight(csp.domain).all()) for constraint in csp.constraints
    )


def _liked(card: Card, problems: Sequence[CSP]) -> Mapping[str, Any]:
    """The settings that a network likes on such problems."""
    liked: Mapping[str, Any] = getattr(card, section(problems))
    return liked or card.search


def _as_number(chance: bool | float | str) -> float | str:
    return float(chance) if isinstance(chance, bool) else chance


def _check_signature(csp: CSP, card: Card) -> None:
    """Refuse problems unlike those that a network was trained on, when it is one that knows no others."""
    kinds = {constraint.kind for constraint in csp.constraints}
    if csp.family not in card.families and (csp.family != "csp" or not kinds <= set(card.constraints)):
        raise CheckpointError(
            f"network {card.name} was trained on {', '.join(card.families)} ({', '.join(card.constraints)}) and knows nothing else; "
            f"this is a {csp.family} problem ({', '.join(sorted(kinds))}): use the network {GENERAL!r}, which takes any"
        )


def _compiled(problem: Problem) -> CSP:
    if isinstance(problem, Model):
        return problem.compile()
    if not isinstance(problem, CSP):
        raise ConsformerError(f"a problem is a Model or a CSP, not {problem!r}")
    if problem.parts:
        raise ConsformerError(f"this problem is a union of {len(problem.parts)}; solve them as a list: its `parts`")
    return problem


def _check_whole(what: str, number: object, least: int) -> None:
    if not is_whole(number) or number < least:
        raise ConsformerError(f"{what} must be a whole number from {least}, not {number!r}")


def _load(name_or_path: str) -> tuple[Network, Card]:
    path = Path(name_or_path)
    stat = path.stat() if path.is_file() else None
    return _load_version(name_or_path, stat and (stat.st_ino, stat.st_mtime_ns))


@lru_cache(maxsize=8)
def _load_version(name_or_path: str, version: tuple[int, int] | None) -> tuple[Network, Card]:
    """`version` is only there to be part of the key: a file that was trained on is read again."""
    return load_network(name_or_path)

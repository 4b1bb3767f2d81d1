"""Recipes: how a network is trained, as dataclasses read from TOML."""

from __future__ import annotations

import tomllib
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from importlib import resources
from math import inf
from pathlib import Path
from typing import Any, Literal

import torch

from consformer import families
from consformer.csp import CSP
from consformer.errors import ConsformerError, RecipeError, UnknownNameError
from consformer.networks import Network
from consformer.search.decode import DECODERS
from consformer.search.restart import ORIGINS, PACES
from consformer.search.schedule import COLDEST, parse_schedule
from consformer.search.select import REMEMBERING, SELECTORS
from consformer.training.loss import LossSettings


@dataclass(frozen=True)
class Task:
    """A family of problems to train on; every step takes one mini-batch of each task, and these count alike, whatever their sizes."""

    family: str
    batch: int = 32
    """instances per step and process"""
    params: Mapping[str, Any] = field(default_factory=dict)
    """what the family's generator is asked for"""
    p: tuple[float, float] | None = None
    """range of p for this task, where it is another than that of [state]"""
    instances: int | None = None
    """a fixed set of so many instances, in random order, epoch after epoch; none: fresh random ones in every step"""

    def __post_init__(self) -> None:
        _check_params(self.family, self.params)
        _require(self.batch >= 1, "batch must be at least 1")
        _require(self.p is None or 0 < self.p[0] <= self.p[1] <= 1, "p must be a range within 0 and 1, the lower end above 0")
        _require(self.instances is None or self.instances >= 1, "instances must be at least 1")


@dataclass(frozen=True)
class Validation:
    """A fixed set of problems that training is measured on and never sees."""

    family: str
    count: int = 64
    params: Mapping[str, Any] = field(default_factory=dict)
    iterations: int = 30

    def __post_init__(self) -> None:
        _check_params(self.family, self.params)
        _require(self.count >= 1, "count must be at least 1")
        _require(self.iterations >= 1, "iterations must be at least 1")


@dataclass(frozen=True)
class NetworkSettings:
    architecture: str = "equivariant"
    config: Mapping[str, Any] = field(default_factory=dict)
    start: str | None = None
    """a trained network (a shipped one's name, or a file) whose weights to start from; none: random ones"""

    def __post_init__(self) -> None:
        with torch.device("meta"):  # nothing is allocated
            Network.build(self.architecture, dict(self.config))


@dataclass(frozen=True)
class StateSettings:
    """What the network starts from: random assignments, a random subset, a random temperature."""

    p: tuple[float, float] = (0.1, 1.0)
    """each sample updates a share p of the variables, p drawn uniformly from this range"""
    temperature: tuple[float, float] = (0.15, 1.0)
    """drawn log-uniformly from this range for each sample; for losses other than `block`, 1 unless given"""
    select: str | None = None
    """how the subset is chosen, as in search; none: uniform"""

    def __post_init__(self) -> None:
        known = [name for name in SELECTORS if name not in REMEMBERING]
        _require(
            self.select not in REMEMBERING,
            f"select cannot be {self.select!r}: it lives on what happened before, and in training nothing did; use {' or '.join(known)}",
        )
        _require(self.select is None or self.select in known, f"select must be {' or '.join(known)}, not {self.select!r}")
        _require(0 < self.p[0] <= self.p[1] <= 1, "p must be a range within 0 and 1, the lower end above 0")
        _require(0 < self.temperature[0] <= self.temperature[1] < inf, "temperature must be a range of numbers above 0")


@dataclass(frozen=True)
class OptimiserSettings:
    kind: Literal["adamw", "muon"] = "adamw"
    """adamw for all weights; muon for the matrices inside the layers and adamw for what is left"""
    steps: int = 10_000
    lr: float = 2e-3
    weight_decay: float = 0.01
    warmup: int = 100
    """steps of linear warm-up"""
    decay: float = 0.3
    """share of the steps, at the end, over which the learning rate falls linearly to 0; 0 keeps it constant"""
    clip: float = 1.0
    """largest norm of the gradient; 0: no limit"""
    ema: float = 0.999
    """decay of the moving average of the weights, which is what is validated and shipped; 0 switches it off"""

    def __post_init__(self) -> None:
        _require(self.steps >= 1, "steps must be at least 1")
        _require(0 < self.lr < inf, "lr must be a number above 0")
        _require(0 <= self.weight_decay < inf, "weight_decay must be at least 0")
        _require(self.warmup >= 0, "warmup must be at least 0")
        _require(0 <= self.decay <= 1, "decay is a share: it must be from 0 to 1")
        _require(0 <= self.clip < inf, "clip must be at least 0")
        _require(0 <= self.ema < 1, "ema must be at least 0 and below 1")


@dataclass(frozen=True)
class SearchDefaults:
    """How the trained network likes to be used; kept in its file, the default of `solve`."""

    pool: int = 1
    """candidates of a problem that are refined side by side"""
    p: str = "0.8"
    temperature: str = "0.25"
    select: str = "uniform"
    redraw: str = "0"
    """chance that the network is shown random values of the variables it is to update, as in training, not their present ones"""
    decode: str = "sample"
    restart: int | None = None
    restarts: str = "scratch"
    """what a candidate that is restarted becomes"""
    patience: str = "fixed"
    """how the number of iterations until a restart changes"""
    depth: int | None = None
    """how often layers that can be repeated are gone through; none: as often as in training"""

    def __post_init__(self) -> None:
        parse_schedule(self.p, high=1.0, what="p")
        parse_schedule(self.temperature, low=COLDEST, what="temperature", counts=False)
        parse_schedule(self.redraw, low=0.0, high=1.0, what="redraw", counts=False)
        _require(self.select in SELECTORS, f"select must be {' or '.join(SELECTORS)}, not {self.select!r}")
        _require(self.decode in DECODERS, f"decode must be {' or '.join(DECODERS)}, not {self.decode!r}")
        _require(self.restarts in ORIGINS, f"restarts must be {' or '.join(ORIGINS)}, not {self.restarts!r}")
        _require(self.patience in PACES, f"patience must be {' or '.join(PACES)}, not {self.patience!r}")
        _require(self.pool >= 1, "pool must be at least 1")
        _require(self.restart is None or self.restart >= 1, "restart must be at least 1")
        _require(self.depth is None or self.depth >= 1, "depth must be at least 1")


@dataclass(frozen=True)
class Recipe:
    """Everything that decides what a training run gives."""

    name: str
    description: str = ""
    seed: int = 0
    task: tuple[Task, ...] = ()
    validation: tuple[Validation, ...] = ()
    network: NetworkSettings = field(default_factory=NetworkSettings)
    loss: LossSettings = field(default_factory=LossSettings)
    state: StateSettings = field(default_factory=StateSettings)
    optimiser: OptimiserSettings = field(default_factory=OptimiserSettings)
    search: SearchDefaults = field(default_factory=SearchDefaults)
    soft_search: SearchDefaults | None = None
    """the same for problems with soft constraints, where something is to be optimised; none: as for all others"""
    tight_search: SearchDefaults | None = None
    """the same for problems with constraints that leave no value unused, as in Sudoku; none: as for all others"""
    validate_every: int = 250
    """steps between validations"""
    checkpoint_every: int = 250
    """steps between checkpoints"""
    keep: Literal["last", "best"] = "last"
    """which weights go into the network file: the last ones, or those with the best mean share over the validation sets"""

    def __post_init__(self) -> None:
        plain = self.name not in ("", ".", "..") and not set(self.name) & set("/\\\0")
        _require(plain and self.name != "state", "name must be a plain file name other than 'state', the file to resume from")
        _require(0 <= self.seed < 2**63, "seed must be a whole number from 0 and below 2^63")
        _require(self.validate_every >= 1, "validate_every must be at least 1")
        _require(self.checkpoint_every >= 1, "checkpoint_every must be at least 1")

    def with_steps(self, steps: int) -> Recipe:
        """The same recipe, shorter or longer; warm-up and decay keep their proportions."""
        settings = self.optimiser
        return replace(self, optimiser=replace(settings, steps=steps, warmup=round(settings.warmup * steps / settings.steps)))

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def section(problems: Sequence[CSP]) -> Literal["search", "soft_search", "tight_search"]:
    """Which search settings of a recipe or a network file such problems want, if it has them."""
    if any(csp.soft_weight for csp in problems):
        return "soft_search"
    return "tight_search" if any(csp.tight for csp in problems) else "search"


def recipe_names() -> list[str]:
    """Names of the recipes that ship with the package."""
    return sorted(entry.name.removesuffix(".toml") for entry in _shipped().iterdir() if entry.name.endswith(".toml"))


def load_recipe(name_or_path: str) -> Recipe:
    """A shipped recipe by name, or one from a TOML file.

    >>> load_recipe("any").network.architecture
    'equivariant'
    """
    if name_or_path in recipe_names():
        return parse_recipe((_shipped() / f"{name_or_path}.toml").read_text(), name_or_path, name_or_path)
    path = Path(name_or_path)
    if path.suffix != ".toml":
        raise UnknownNameError("recipe", name_or_path, recipe_names())
    try:
        return parse_recipe(path.read_text(), path.stem, str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise RecipeError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error


def parse_recipe(text: str, name: str, source: str) -> Recipe:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"{source}: not valid TOML: {error}") from error
    recipe: Recipe = _build(Recipe, {"name": name, **document}, source)
    if not recipe.task:
        raise RecipeError(f"{source}: a recipe needs at least one [[task]]")
    if recipe.loss.kind != "block" and "temperature" not in document.get("state", {}):
        recipe = replace(recipe, state=replace(recipe.state, temperature=(1.0, 1.0)))
    return recipe


def _shipped() -> Any:
    return resources.files("consformer") / "recipes"


def _build(kind: Any, value: Any, place: str) -> Any:
    """A dataclass, tuple or plain value of the annotated type from TOML data; errors name the place."""
    if is_dataclass(kind):
        if not isinstance(value, dict):
            raise RecipeError(f"{place}: must be a table, not {value!r}")
        known = {item.name: item for item in fields(kind)}
        for name in value:
            if name not in known:
                raise RecipeError(f"{place}: {UnknownNameError('setting', name, known)}")
        hints = typing.get_type_hints(kind)
        built = {name: _build(hints[name], given, f"{place}: {name}") for name, given in value.items()}
        try:
            return kind(**built)  # type: ignore[operator]
        except (TypeError, ConsformerError) as error:  # one is missing, or impossible
            raise RecipeError(f"{place}: {error}") from error
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        if not isinstance(value, list) or (arguments[-1] is not Ellipsis and len(value) != len(arguments)):
            of = "" if arguments[-1] is Ellipsis else f" of {len(arguments)}"
            raise RecipeError(f"{place}: must be a list{of}, not {value!r}")
        kinds = arguments if arguments[-1] is not Ellipsis else arguments[:1] * len(value)
        return tuple(_build(inner, item, f"{place}[{i}]") for i, (inner, item) in enumerate(zip(kinds, value, strict=True)))
    if origin is Literal:
        if value not in arguments:
            raise RecipeError(f"{place}: must be one of {', '.join(map(repr, arguments))}, not {value!r}")
        return value
    if origin is types.UnionType:
        return _build(next(a for a in arguments if a is not type(None)), value, place)
    if origin is Mapping:
        if not isinstance(value, dict):
            raise RecipeError(f"{place}: must be a table, not {value!r}")
        return {name: _build(arguments[1], item, f"{place}: {name}") for name, item in value.items()}
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind is not Any and (not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool)):
        raise RecipeError(f"{place}: must be {_NAMES[kind]}, not {value!r}")
    return value


_NAMES = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}


def _check_params(family: str, params: Mapping[str, Any]) -> None:
    """A wrong parameter is told when the recipe is read, not after an hour."""
    families.get(family).settings(params)


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise RecipeError(otherwise)

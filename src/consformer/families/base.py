"""The contract of a problem family.

A family is one file in this package with one subclass of `Family`: how its problems are drawn at random, built from what a
format read, shown, and answered in the user's own terms. Subclassing registers it; nothing else has to be edited.
"""

from __future__ import annotations

import json
import random
import types
import typing
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import torch
from rich.console import RenderableType

from consformer.csp import CSP, Label
from consformer.errors import InputError, ModelError, UnknownNameError, did_you_mean
from consformer.families.drawing import Entry, View, terminal


def setting(default: Any, help: str) -> Any:
    """A field of generation parameters with its documentation, which the command line shows."""
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True)
class Params:
    """Base of all generation parameters; ranges are inclusive (low, high) pairs."""


P = TypeVar("P", bound=Params)


class Family(ABC, Generic[P]):
    """A kind of problem. Objects have no state: `families.get(name)` makes one.

    Values are value indices throughout, one per variable; None instead of them means "nothing but the givens".
    """

    name: ClassVar[str]
    registry: ClassVar[dict[str, type[Family[Any]]]] = {}
    params: type[P]
    """Frozen dataclass of generation parameters, each with a default and a help text."""
    version: ClassVar[int] = 1
    """Raised whenever the same seed gives other problems than before: cached data sets are drawn again."""
    accepts: ClassVar[tuple[type, ...]] = ()
    """Payload types (see `consformer.formats.payloads`) that `build` takes."""
    options: ClassVar[Mapping[str, str]] = {}
    """What `build` may be told beyond the payload: name and help text."""

    def __init_subclass__(cls, registered: bool = True, **options: Any) -> None:
        super().__init_subclass__(**options)
        if registered:
            Family.registry[cls.name] = cls

    # --- to write for each family -----------------------------------------------------------------------------

    @abstractmethod
    def _draw(self, rng: np.random.Generator, count: int, params: P) -> list[CSP]:
        """`count` random problems; what `generate` calls with checked parameters."""

    @abstractmethod
    def _build(self, payload: Any, **options: Any) -> CSP:
        """The problem of a payload; what `build` calls once it knows that type and options are right."""

    @abstractmethod
    def fits(self, csp: CSP) -> bool:
        """Whether a problem that claims to be of this family has its shape (it may come from a hand-written file)."""

    @abstractmethod
    def view(self, csp: CSP, values: Sequence[int] | None = None) -> View:
        """What to draw, as plain JSON data: a grid, a graph or a table (see `consformer.families.drawing`)."""

    @abstractmethod
    def answer(self, csp: CSP, values: Sequence[int]) -> dict[str, Any]:
        """The assignment in the user's own terms, as plain JSON data."""

    @abstractmethod
    def pack(self, csp: CSP) -> Any:
        """A problem as compact JSON data."""

    @abstractmethod
    def unpack(self, data: Any) -> CSP:
        """The problem that was packed."""

    # --- with a default ---------------------------------------------------------------------------------------

    def write(self, csps: Sequence[CSP]) -> str:
        """Problems as the text of a file that `formats.read_problems` reads; by default as JSON, one problem a line."""
        from consformer.formats import csp_json  # formats need families

        return "".join(csp_json.dumps(csp, one_line=True) + "\n" for csp in csps)

    def solutions(self, csps: Sequence[CSP], values: Sequence[Sequence[int]]) -> str:
        """Assignments as the text of a file; by default the answers as JSON, one a line."""
        return "".join(json.dumps(self.answer(csp, own)) + "\n" for csp, own in zip(csps, values, strict=True))

    # --- the same for all families ----------------------------------------------------------------------------

    def generate(self, rng: np.random.Generator, count: int, params: P | Mapping[str, Any] | None = None) -> list[CSP]:
        """`count` random problems, reproducible from `rng`; parameters may come as a dict (from a recipe, say).

        >>> from consformer import families
        >>> [csp.n for csp in families.get("sudoku").generate(np.random.default_rng(0), 2, {"givens": [30, 35]})]
        [81, 81]
        """
        if count < 0:
            raise ModelError(f"{self.name}: the number of problems must be at least 0, not {count}")
        return self._draw(rng, count, self.settings(params))

    def settings(self, params: P | Mapping[str, Any] | None = None) -> P:
        """Checked generation parameters from a dict (or as they are, or the defaults).

        >>> from consformer import families
        >>> families.get("sudoku").settings({"given": 30})
        Traceback (most recent call last):
        ...
        consformer.errors.UnknownNameError: unknown sudoku parameter 'given': did you mean 'givens'? (there are: box, givens, unique)
        """
        if params is None:
            return self.params()
        if isinstance(params, self.params):
            return params
        if not isinstance(params, Mapping):
            raise ModelError(f"{self.name}: parameters must be a table of names and values, not {params!r}")
        kept = typing.get_type_hints(self.params)
        hints = {item.name: kept[item.name] for item in fields(self.params)}
        values = {}
        for key, value in params.items():
            if key not in hints:
                raise UnknownNameError(f"{self.name} parameter", str(key), hints)
            values[key] = _coerce(value, hints[key], f"{self.name} parameter {key!r}")
        return self.params(**values)

    def build(self, payload: Any, **options: Any) -> CSP:
        """The problem that a format read, with options of this family (`colors=5`).

        >>> from consformer import families
        >>> from consformer.formats.payloads import Board
        >>> families.get("sudoku").build(Board(np.full((9, 9), -1))).n
        81
        """
        if not isinstance(payload, self.accepts):
            raise InputError(f"the file does not hold a {self.name} problem but {_what(payload)}; name another family, or none")
        for option in options:
            if option not in self.options:
                known = ", ".join(self.options) or "none"
                raise ModelError(f"{self.name} has no option {option!r} for problems from files (there are: {known})")
        return self._build(payload, **options)

    def render(self, csp: CSP, values: Sequence[int] | None = None) -> RenderableType:
        """The view drawn for a terminal."""
        return terminal(self.view(csp, values))


def _what(payload: Any) -> str:
    return {"Board": "a board", "GraphData": "a graph"}.get(type(payload).__name__, "something else")


def python_random(rng: np.random.Generator) -> random.Random:
    """A generator seeded from `rng` for single draws, which Python makes much faster than numpy."""
    return random.Random(int(rng.integers(2**62)))


def entries(csp: CSP, values: Sequence[int] | None) -> list[Entry]:
    """What to show for each variable.

    >>> from consformer import families
    >>> csp = families.get("sudoku").unpack("1" + "." * 15)
    >>> entries(csp, [0] * 16)[1]
    {'text': '1', 'given': False, 'conflict': True}
    """
    given = csp.given.tolist()
    shown = given if values is None else list(values)
    if len(shown) != csp.n:
        raise ModelError(f"{csp.n} variables need as many values, not {len(shown)}")
    in_conflict = [False] * csp.n if values is None else csp.in_conflict(torch.tensor([shown]))[0].tolist()
    return [
        {"text": "" if value < 0 else str(csp.value_labels[value]), "given": fixed >= 0, "conflict": conflict}
        for value, fixed, conflict in zip(shown, given, in_conflict, strict=True)
    ]


def by_name(csp: CSP, values: Sequence[int]) -> dict[str, Label]:
    """The value of every variable under its name, in the user's labels.

    >>> from consformer import families
    >>> by_name(families.get("sudoku").unpack("." * 16), range(4))
    {'r1c1': 1, 'r1c2': 2, 'r1c3': 3, 'r1c4': 4}
    """
    table = {str(csp.name(index)): csp.value_labels[value] for index, value in enumerate(values)}
    if len(table) < len(values):
        raise ModelError("two variables have names that are equal as text (1 and '1', say); give them different ones")
    return table


def _coerce(value: Any, hint: Any, what: str) -> Any:
    """A plain value (from TOML, JSON or a command line) as the type a parameter has; one number stands for a range of itself."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is types.UnionType or origin is typing.Union:
        if value is None:
            return None
        (hint,) = (arg for arg in args if arg is not type(None))
        return _coerce(value, hint, what)
    if origin is typing.Literal:
        if value not in args:
            raise ModelError(f"{what} must be {_either(args)}, not {value!r}{did_you_mean(value, args)}")
        return value
    if origin is tuple and args[-1] is Ellipsis:
        items = value.split(",") if isinstance(value, str) else value
        if not isinstance(items, Sequence):
            raise ModelError(f"{what} must be a list, not {value!r}")
        return tuple(_coerce(item, args[0], what) for item in items)
    if origin is tuple:
        pair = (value, value) if isinstance(value, int | float) and not isinstance(value, bool) else value
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise ModelError(f"{what} must be a range [low, high] or one number (low..high on the command line), not {value!r}")
        low, high = (_coerce(item, arg, what) for item, arg in zip(pair, args, strict=True))
        if low > high:
            raise ModelError(f"{what} must be a range [low, high] with low <= high, not {value!r}")
        return low, high
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, hint) and (hint is bool or not isinstance(value, bool)):
        return value
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}
    raise ModelError(f"{what} must be {names.get(hint, hint)}, not {value!r}")


def _either(choices: Sequence[Any]) -> str:
    return " or ".join(repr(choice) for choice in choices)

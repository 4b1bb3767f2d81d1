"""What search and training know of a network."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, ClassVar

from torch import Tensor, nn

from consformer.csp import CSP
from consformer.errors import CheckpointError, UnknownNameError

if TYPE_CHECKING:
    from consformer.compiled.chain import Iterations

MASKED = -1e9  # logit of a value outside the domain: its probability is exactly 0, and 0 * log 0 stays finite


class Network(nn.Module, ABC):
    """Proposes values. A network never sees a family, only a CSP; subclassing registers the architecture under its name."""

    architecture: ClassVar[str]
    universal: ClassVar[bool] = False
    """whether it is meant for problems of families and kinds it was never trained on"""
    config_type: ClassVar[type[Any]]  # a frozen dataclass of plain settings
    registry: ClassVar[dict[str, type[Network]]] = {}

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config

    def __init_subclass__(cls, registered: bool = True, **options: Any) -> None:
        super().__init_subclass__(**options)
        if registered:
            Network.registry[cls.architecture] = cls

    @abstractmethod
    def forward(self, csp: CSP, values: Tensor, subset: Tensor, temperature: Tensor, *, drafts: bool = False) -> Tensor:
        """Logits for the variables of the subset at the temperature: [K,n], [K,n] bool, [K,instances] -> [K,n,m].

        Values outside a variable's domain get `MASKED`. What is said of variables outside the subset has no meaning. A network that
        goes through its layers several times gives, for training, its drafts too: [drafts*K,n,m], the answer last.
        """

    def with_depth(self, depth: int | None) -> Network:
        """The same network with its layers gone through so often; none: as in training."""
        if depth is not None:
            raise CheckpointError(f"the depth of the {self.architecture} network cannot be chosen: its layers are not repeated")
        return self

    def compiled(self) -> Network:
        """The same network, with the weights it has now, as compiled code if there is any: for solving, where much is still to come."""
        return self

    def compiled_at_hand(self) -> bool:
        """Whether `compiled` takes no time, because what it needs was loaded before."""
        return True

    def iterations(self, csp: CSP) -> Iterations | None:
        """Whole iterations of a search on a problem, not a union, as compiled code; none where there is no such."""
        return None

    @property
    def bytes_per_pair(self) -> int:
        """About how much memory an iteration takes for each (variable, value) pair of a candidate: rather too much."""
        return 400 + 48 * int(getattr(self.config, "width", 128))

    @property
    def seconds_per_pair(self) -> float:
        """About how long an iteration takes for each (variable, value) pair of a candidate: rather too long."""
        return 2e-5

    def check_fit(self, csp: CSP) -> None:
        """Raise `CheckpointError` when this network cannot be used on the problem."""

    def config_dict(self) -> dict[str, Any]:
        return asdict(self.config)

    @staticmethod
    def build(architecture: str, config: dict[str, Any]) -> Network:
        """A network from plain settings, with fresh weights."""
        if architecture not in Network.registry:
            raise UnknownNameError("network architecture", architecture, Network.registry)
        cls = Network.registry[architecture]
        known = {item.name for item in fields(cls.config_type)}
        for name in config:
            if name not in known:
                raise UnknownNameError(f"setting of the {architecture} network", name, known)
        try:
            return cls(cls.config_type(**config))
        except (TypeError, ValueError, RuntimeError) as error:
            raise CheckpointError(f"these settings make no {architecture} network: {error}") from error


def check_sizes(config: Any, *names: str, most: int = 100_000) -> None:
    """Raise `ValueError` unless these settings are whole numbers from 1 (or none, where that is the default).

    There is a highest one because a damaged or hostile file may ask for any.
    """
    defaults = {item.name: item.default for item in fields(config)}
    for name in names:
        size = getattr(config, name)
        if size is None and defaults[name] is None:
            continue
        if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= most:
            raise ValueError(f"{name} must be a whole number from 1 to {most}, not {size!r}")


def check_choice(config: Any, name: str, *choices: str) -> None:
    """Raise `ValueError` unless the setting is one of these."""
    if getattr(config, name) not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, not {getattr(config, name)!r}")

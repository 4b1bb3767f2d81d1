"""What turns gradients into steps: AdamW for all weights, or Muon for the matrices inside the layers and AdamW for what is left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import torch
from torch import Tensor, nn

from consformer.networks import Network
from consformer.training.recipe import OptimiserSettings


class Optimiser:
    """A learning rate that is warmed up and decays, for one method or two."""

    def __init__(self, network: Network, settings: OptimiserSettings) -> None:
        self.network, self.settings = network, settings
        inside = matrices(network) if settings.kind == "muon" else []
        taken = {id(weight) for weight in inside}
        rest = [weight for weight in network.parameters() if id(weight) not in taken]
        self.methods: list[torch.optim.Optimizer] = [torch.optim.AdamW(rest, lr=settings.lr, weight_decay=settings.weight_decay)]
        if inside:  # its steps are made as large as those of AdamW, so that one learning rate serves both
            self.methods.append(
                torch.optim.Muon(inside, lr=settings.lr, weight_decay=settings.weight_decay, adjust_lr_fn="match_rms_adamw")
            )
        self.lr = settings.lr

    def zero_grad(self) -> None:
        for method in self.methods:
            method.zero_grad(set_to_none=True)

    def step(self, before: int) -> None:
        """One step after so many."""
        self.lr = self.settings.lr * self._share(before)
        for method in self.methods:
            for group in method.param_groups:
                group["lr"] = self.lr
            method.step()

    def _share(self, before: int) -> float:
        settings = self.settings
        share = min(1.0, (before + 1) / max(1, settings.warmup))
        tail = settings.decay * settings.steps
        return max(0.0, share * min(1.0, (settings.steps - before) / tail)) if tail else share

    # --- to be saved and restored -----------------------------------------------------------------------------

    @property
    def tensors(self) -> dict[str, Tensor]:
        """What it remembers, by weight and key."""
        return {f"{name}/{key}": torch.as_tensor(value) for name, kept in self._kept() for key, value in kept.items()}

    def restore(self, saved: Mapping[str, Tensor]) -> None:
        owners = {id(weight): method for method in self.methods for group in method.param_groups for weight in group["params"]}
        for name, weight in self.network.named_parameters():
            mark = f"{name}/"
            own = {key.removeprefix(mark): value for key, value in saved.items() if key.startswith(mark)}
            owners[id(weight)].state[weight] = own

    def _kept(self) -> Iterator[tuple[str, Mapping[str, Tensor]]]:
        for name, weight in self.network.named_parameters():
            for method in self.methods:
                if weight in method.state:
                    yield name, method.state[weight]


def matrices(network: Network) -> list[nn.Parameter]:
    """The matrices inside the layers of a network, not what reads its inputs or gives its answers.

    >>> len(matrices(Network.build("equivariant", {"layers": 2})))
    14
    """
    blocks = network.get_submodule("blocks")
    return [weight for weight in blocks.parameters() if weight.ndim == 2]

"""Optimisers of the trainings, and their state as named tensors (no pickle)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from featlearn.core.errors import FeatlearnError

Kind = Literal["adamw", "adam", "sgd", "lars"]
Groups = list[dict[str, Any]]


def build(
    kind: Kind,
    groups: Groups,
    *,
    betas: tuple[float, float] = (0.9, 0.999),
    momentum: float = 0.9,
    nesterov: bool = False,
    trust: float = 0.001,
) -> torch.optim.Optimizer:
    """An optimiser over parameter groups; the learning rate is set before every step.

    ``kind``: all but ``lars`` are fused; the weight decay of ``adam`` is a part of the gradient.
    ``betas``: of AdamW and Adam. ``momentum``: of SGD and LARS. ``nesterov``: of SGD. ``trust``: of
    LARS: length of a step relative to that of the weights, at rate 1.
    """
    if kind == "adamw":
        return _AdamW(groups, lr=0.0, betas=betas, fused=True)
    if kind == "adam":
        return _Adam(groups, lr=0.0, betas=betas, fused=True)
    if kind == "sgd":
        return _Sgd(groups, lr=0.0, momentum=momentum, nesterov=nesterov, fused=True)
    return Lars(groups, momentum=momentum, trust=trust)


def set_rate(optimiser: torch.optim.Optimizer, rate: float) -> None:
    """Give every group its rate: ``rate`` times the group's ``lr_scale``."""
    for group in optimiser.param_groups:
        group["lr"] = rate * group.get("lr_scale", 1.0)


def _bare(method: Any) -> Any:
    """A method of PyTorch without its shield from ``torch.compile``, which imports a compiler."""
    return getattr(method, "__wrapped__", method)


class _Light:
    """For an optimiser of PyTorch: the same methods, without their decorators."""

    add_param_group: ClassVar[Any] = _bare(torch.optim.Optimizer.add_param_group)
    zero_grad: ClassVar[Any] = _bare(torch.optim.Optimizer.zero_grad)


class _AdamW(_Light, torch.optim.AdamW):
    step = torch.no_grad()(_bare(torch.optim.AdamW.step))


class _Adam(_Light, torch.optim.Adam):
    step = torch.no_grad()(_bare(torch.optim.Adam.step))


class _Sgd(_Light, torch.optim.SGD):
    step = torch.no_grad()(_bare(torch.optim.SGD.step))


class Lars(_Light, torch.optim.Optimizer):
    """Layer-wise adaptive rate scaling (You, Gitman, Ginsburg 2017, algorithm 1).

    For weights ``w`` with gradient ``g`` and decay ``b``: the local rate is
    ``trust |w| / (|g| + b |w|)``, the velocity ``v <- momentum v + lr * local * (g + b w)`` and
    ``w <- w - v``. Groups without weight decay (norms, biases, tokens) and weights or gradients of
    length zero take the local rate 1, as is usual in self-supervised learning.
    """

    def __init__(self, groups: Groups, *, momentum: float = 0.9, trust: float = 0.001):
        super().__init__(groups, {"lr": 0.0, "weight_decay": 0.0})
        self.momentum, self.trust = momentum, trust

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """One step; ``closure`` is there for the interface and must be None."""
        if closure is not None:
            raise ValueError("closure: LARS takes none")
        for group in self.param_groups:
            weights = [weight for weight in group["params"] if weight.grad is not None]
            if weights:
                self._step_group(weights, group["lr"], group["weight_decay"])

    def _step_group(self, weights: list[Tensor], rate: float, decay: float) -> None:
        gradients: list[Any] = [weight.grad for weight in weights]
        if decay:
            local = self._local_rates(weights, gradients, decay)
            gradients = list(torch._foreach_add(gradients, weights, alpha=decay))
            torch._foreach_mul_(gradients, local)
        velocities = [self._velocity(weight) for weight in weights]
        torch._foreach_mul_(velocities, self.momentum)
        torch._foreach_add_(velocities, gradients, alpha=rate)
        torch._foreach_sub_(weights, velocities)

    def _local_rates(
        self, weights: list[Tensor], gradients: list[Tensor], decay: float
    ) -> list[Tensor]:
        length = torch.stack(torch._foreach_norm(weights))
        slope = torch.stack(torch._foreach_norm(gradients))
        local = self.trust * length / (slope + decay * length)
        return list(torch.where((length > 0) & (slope > 0), local, 1.0).unbind())

    def _velocity(self, weight: Tensor) -> Tensor:
        state = self.state[weight]
        if "velocity" not in state:
            state["velocity"] = torch.zeros_like(weight)
        return state["velocity"]


def state_tensors(optimiser: torch.optim.Optimizer, module: nn.Module) -> dict[str, Tensor]:
    """The optimiser's state as ``<parameter>/<quantity>``, e.g. ``encoder.fc.weight/exp_avg``."""
    return {
        f"{name}/{quantity}": value
        for name, parameter in module.named_parameters()
        for quantity, value in optimiser.state.get(parameter, {}).items()
        if isinstance(value, Tensor)
    }


def load_state_tensors(
    optimiser: torch.optim.Optimizer, module: nn.Module, tensors: Mapping[str, Tensor]
) -> None:
    """Undo :func:`state_tensors`, on the devices and strides of the parameters."""
    parameters = dict(module.named_parameters())
    for key, value in tensors.items():
        name, _, quantity = key.rpartition("/")
        if name not in parameters:
            raise FeatlearnError(f"state of the optimiser: {key!r} is no parameter of the model")
        parameter = parameters[name]
        # sums over weights follow the order in memory, so that must be what it was
        own = torch.empty_like(parameter) if value.shape == parameter.shape else None
        optimiser.state[parameter][quantity] = (
            value.to(parameter.device, copy=True) if own is None else own.detach().copy_(value)
        )

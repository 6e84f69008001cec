"""Optimisers of the trainings, and their state as named tensors (no pickle)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from featlearn.core.errors import FeatlearnError

Kind = Literal["adamw", "adam", "sgd"]
Groups = list[dict[str, Any]]


def build(
    kind: Kind, groups: Groups, *, betas: tuple[float, float] = (0.9, 0.999), momentum: float = 0.9
) -> torch.optim.Optimizer:
    """A fused optimiser over parameter groups; the learning rate is set before every step.

    ``kind``: the weight decay of ``adam`` is a part of the gradient. ``betas``: of AdamW and Adam.
    ``momentum``: of SGD.
    """
    if kind == "adamw":
        return _AdamW(groups, lr=0.0, betas=betas, fused=True)
    if kind == "adam":
        return _Adam(groups, lr=0.0, betas=betas, fused=True)
    return _Sgd(groups, lr=0.0, momentum=momentum, fused=True)


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

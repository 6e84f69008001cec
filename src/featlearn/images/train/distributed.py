"""One training in several processes, each with its rows of every batch (data-parallel).

``torchrun`` tells each process its place. A step's gradients, scalars and statistics are summed in
one exchange of a flat tensor, always in the same order.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as exchange
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from featlearn.core.training.devices import free_device

#: How long a process waits for the others before it gives up.
PATIENCE = timedelta(minutes=10)


@dataclass(frozen=True)
class Processes:
    """This process's place among those that train together."""

    rank: int = 0
    count: int = 1

    @property
    def first(self) -> bool:
        """Only the first process writes files and speaks."""
        return self.rank == 0

    def rows(self, size: int, part: int = 0, parts: int = 1) -> slice:
        """The rows of a batch of ``size`` that this process takes in ``part`` of its ``parts``.

        They begin at even places.
        """
        number, of, pairs = self.rank * parts + part, self.count * parts, (size + 1) // 2
        first, end = 2 * (number * pairs // of), 2 * ((number + 1) * pairs // of)
        return slice(first, min(end, size))

    def sum_(self, tensors: Sequence[Tensor]) -> None:
        """Replace each floating-point tensor by its sum over all processes."""
        if self.count == 1 or not tensors:
            return
        flat = torch.cat([tensor.detach().reshape(-1).float() for tensor in tensors])
        exchange.all_reduce(flat)
        sizes = [tensor.numel() for tensor in tensors]
        for tensor, summed in zip(tensors, torch.split(flat, sizes), strict=True):
            tensor.detach().copy_(summed.view(tensor.shape))

    def copy_first_(self, tensors: Iterable[Tensor]) -> None:
        """Replace each tensor by that of the first process."""
        if self.count > 1:
            for tensor in tensors:
                exchange.broadcast(tensor.detach(), src=0)


def current() -> Processes:
    """The processes that were joined; a single one if none were."""
    if not exchange.is_initialized():
        return Processes()
    return Processes(exchange.get_rank(), exchange.get_world_size())


@contextmanager
def joined(device: torch.device) -> Iterator[tuple[Processes, torch.device]]:
    """Join the processes that ``torchrun`` started; without it there is only this one.

    ``device``: CUDA talks by NCCL, all else by Gloo. Yields the place of this process and its
    device.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield Processes(), device
        return
    on_cuda = device.type == "cuda"
    if on_cuda:
        device = free_device(int(os.environ.get("LOCAL_RANK", "0")))
    exchange.init_process_group("nccl" if on_cuda else "gloo", timeout=PATIENCE)
    try:
        yield current(), device
    finally:
        exchange.destroy_process_group()


def from_first(content: bytes, device: torch.device) -> bytes:
    """The bytes that the first process has, in every process."""
    length = torch.tensor([len(content)], device=device)
    exchange.broadcast(length, src=0)
    told = torch.zeros(int(length), dtype=torch.uint8, device=device)
    if content:
        told.copy_(torch.frombuffer(bytearray(content), dtype=torch.uint8))
    exchange.broadcast(told, src=0)
    return told.cpu().numpy().tobytes()


def running_statistics(module: nn.Module) -> list[Tensor]:
    """Running means and variances of all batch norms of ``module``."""
    return [statistic for layer in module.modules() if isinstance(layer, _BatchNorm)
            for statistic in (layer.running_mean, layer.running_var)
            if statistic is not None]  # fmt: skip


class _SumOverProcesses(torch.autograd.Function):
    """Sum over processes; the gradient of a sum that all of them use is a sum again."""

    @staticmethod
    def forward(ctx: Any, value: Tensor) -> Tensor:
        total = value.clone()
        exchange.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        total = gradients[0].contiguous().clone()
        exchange.all_reduce(total)
        return total


def _summed(value: Tensor) -> Tensor:
    return _SumOverProcesses.apply(value)  # type: ignore[no-untyped-call]


class SharedBatchNorm(_BatchNorm):
    """Batch norm (Ioffe and Szegedy 2015) of (B, C) or (B, C, H, W) over all processes."""

    def _check_input_dim(self, input: Tensor) -> None:
        """Takes what either layer takes whose class this one replaces."""

    def forward(self, input: Tensor) -> Tensor:
        if not self.training:
            return super().forward(input)
        size = input.numel() / input.shape[1]
        x = input.float()
        places = [0, *range(2, x.dim())]
        channels = (-1, *[1] * (x.dim() - 2))
        sums = torch.cat([x.sum(places), x.new_tensor([size])])
        count = (total := _summed(sums))[-1]
        mean = (total[:-1] / count).view(channels)
        spread = _summed(((x - mean) ** 2).sum(places))
        variance = spread / count
        self._remember(mean.detach().flatten(), spread.detach() / (count - 1))
        result = (x - mean) * torch.rsqrt(variance + self.eps).view(channels)
        if self.affine:
            result = result * self.weight.view(channels) + self.bias.view(channels)
        return result.to(input.dtype)

    @torch.no_grad()
    def _remember(self, mean: Tensor, variance: Tensor) -> None:
        if self.running_mean is None or self.running_var is None:
            return
        share = self.momentum or 0.0
        if self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the mean over all batches so far
                share = 1 / int(self.num_batches_tracked)
        self.running_mean.lerp_(mean, share)
        self.running_var.lerp_(variance, share)


def share_batch_norm(module: nn.Module, device: torch.device) -> None:
    """Let the batch norms of ``module`` see the whole batch; parameters stay what they are."""
    if device.type == "cuda":
        for name, child in module.named_children():
            shared = nn.SyncBatchNorm.convert_sync_batchnorm(child)  # type: ignore[no-untyped-call]
            setattr(module, name, shared)
        return
    for layer in module.modules():
        if type(layer) in (nn.BatchNorm1d, nn.BatchNorm2d):
            # the same layer with another forward: all references to it stay good
            layer.__class__ = SharedBatchNorm

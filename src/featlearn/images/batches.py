"""The batches of a training: in which order images are seen, gathered one step ahead on CUDA."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import torch
from torch import Tensor

from featlearn.core.seeds import generator
from featlearn.images.distributed import Processes
from featlearn.images.draws import Draws
from featlearn.images.plan import Plan


@dataclass(frozen=True)
class Batch:
    """One part of a step: uint8 images and labels of this process, on the device.

    ``share`` is the part's share of the images of the whole batch.
    """

    images: Tensor
    labels: Tensor | None
    draws: Draws
    share: float


class Batches:
    """Gathers the parts of each step; for CUDA one step ahead of the training.

    Every image is seen once an epoch, in an order drawn by the run's name and the epoch.
    """

    def __init__(
        self,
        images: Tensor,
        labels: Tensor | None,
        plan: Plan,
        name: tuple[object, ...],
        processes: Processes,
        device: torch.device,
    ):
        self.images, self.labels, self.plan, self.name = images, labels, plan, name
        self.processes, self.device = processes, device
        self._order: tuple[int, Tensor] | None = None

    def steps(self, start: int) -> Generator[list[Batch], None, None]:
        """The parts of every step from ``start`` on."""
        if self.device.type != "cuda":
            # nothing to overlap with: the processor that gathers is the one that computes
            for step in range(start, self.plan.steps):
                yield [self._moved(part) for part in self._gather(step)]
            return
        with ThreadPoolExecutor(1) as pool:
            ahead: Future[list[Batch]] = pool.submit(self._gather, start)
            for step in range(start, self.plan.steps):
                parts = ahead.result()
                if step + 1 < self.plan.steps:
                    ahead = pool.submit(self._gather, step + 1)
                yield [self._moved(part) for part in parts]

    def order(self, epoch: int) -> Tensor:
        """The order of all images in ``epoch``, int64 (N,)."""
        if self._order is None or self._order[0] != epoch:
            stream = generator(*self.name, "order", epoch)
            self._order = epoch, torch.randperm(self.plan.images, generator=stream)
        return self._order[1]

    def _gather(self, step: int) -> list[Batch]:
        epoch, start, size = self.plan.place(step)
        order = self.order(epoch)[start : start + size]
        parts = min(self.plan.training.accumulate, (size + 1) // 2 // self.processes.count)
        return [self._part(step, order, part, parts) for part in range(parts)]

    def _part(self, step: int, order: Tensor, part: int, parts: int) -> Batch:
        rows = self.processes.rows(len(order), part, parts)
        own = order[rows]
        whole = len(own) == len(order)
        return Batch(
            self._picked(self.images, own),
            None if self.labels is None else self._picked(self.labels, own),
            Draws(self.name, step, len(order), None if whole else rows),
            len(own) / len(order),
        )

    def _picked(self, source: Tensor, rows: Tensor) -> Tensor:
        if source.device.type != "cpu":
            return source.index_select(0, rows.to(source.device))
        if self.device.type != "cuda":
            return source.index_select(0, rows)
        # only pinned memory can be copied while the device computes
        pinned = torch.empty((len(rows), *source.shape[1:]), dtype=source.dtype, pin_memory=True)
        return torch.index_select(source, 0, rows, out=pinned)

    def _moved(self, part: Batch) -> Batch:
        labels = part.labels
        return Batch(
            part.images.to(self.device, non_blocking=True),
            None if labels is None else labels.to(self.device, non_blocking=True),
            part.draws,
            part.share,
        )

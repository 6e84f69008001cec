"""How long a training is, and which images are in which of its batches."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any, Literal

import torch
from torch import Tensor

from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.core.seeds import generator
from featlearn.core.training import optimisers, schedules
from featlearn.images.rng import Draws
from featlearn.images.train.distributed import Processes

Precision = Literal["float32", "tensorfloat32", "bfloat16"]
#: Least values of what :func:`featlearn.images.fit` hands on; a config's are checked by its schema.
LEAST = {"steps": 1, "batch_size": 1, "learning_rate": 0}


@dataclass(frozen=True)
class Training:
    """Settings of a training: see ``training`` in ``workflow/schemas/shared.schema.yaml``."""

    batch_size: int
    learning_rate: float
    epochs: float | None = None
    steps: int | None = None
    accumulate: int = 1
    drop_last: bool = False
    optimiser: optimisers.Kind = "adamw"
    scale_from: int | None = None
    schedule: schedules.Kind = "cosine"
    warmup: float = 0.0
    warmup_learning_rate: float = 0.0
    min_learning_rate: float = 0.0
    milestones: tuple[float, ...] = ()
    decay_factor: float = 0.1
    weight_decay: float = 0.05
    layer_decay: float | None = None
    momentum: float = 0.9
    clip: float | None = None
    precision: Precision = "float32"
    channels_last: bool = True
    compile: bool = False
    sync_batch_norm: bool = False
    record_every: int | Literal["epoch"] = "epoch"
    checkpoint_every: Mapping[str, float] = field(default_factory=lambda: {"seconds": 600})

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Training:
        """From a config's section; an unknown or impossible value is named. Raises ConfigError."""
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(settings) - known):
            raise ConfigError(f"training: unknown key {unknown[0]!r}; expected one of {known}")
        if missing := sorted({"batch_size", "learning_rate"} - set(settings)):
            raise ConfigError(f"training: {missing[0]} is missing")
        return cls(**{**settings, "milestones": tuple(settings.get("milestones") or ())})

    def __post_init__(self) -> None:
        if (self.epochs is None) == (self.steps is None):
            raise ConfigError("training: expected one of epochs and steps")
        if self.epochs is not None and self.epochs <= 0:
            raise ConfigError(f"training: epochs: {self.epochs!r}; expected more than 0")
        for key, low in LEAST.items():
            value = getattr(self, key)
            if value is not None and value < low:
                raise ConfigError(f"training: {key}: {value!r}; expected at least {low}")

    def identity(self) -> dict[str, Any]:
        """All settings that the numbers depend on."""
        return {key: value for key, value in asdict(self).items() if key != "checkpoint_every"}


@dataclass(frozen=True)
class Plan:
    """Which images each step sees, by number. ``images``: size of the data."""

    training: Training
    images: int

    def __post_init__(self) -> None:
        if self.images < 1:
            raise FeatlearnError("training: no images")
        if self.training.drop_last and self.images < self.training.batch_size:
            raise ConfigError(
                f"training: batch_size: {self.training.batch_size}; expected at most the "
                f"{self.images} images that there are, or drop_last: false"
            )

    @cached_property
    def per_epoch(self) -> int:
        whole, rest = divmod(self.images, self.training.batch_size)
        return whole + (rest > 0 and not self.training.drop_last)

    @cached_property
    def steps(self) -> int:
        """Steps of the training."""
        return max(1, self.in_steps(self.training.epochs or self.training.steps or 0))

    def in_steps(self, length: float) -> int:
        """A length in the unit of the training (epochs or steps) as a number of steps."""
        return round(length * (self.per_epoch if self.training.epochs is not None else 1))

    def place(self, step: int) -> tuple[int, int, int]:
        """Epoch of ``step``, and its first image and number of images within that epoch."""
        epoch, batch = divmod(step, self.per_epoch)
        start = batch * self.training.batch_size
        return epoch, start, min(self.training.batch_size, self.images - start)

    def seen(self, steps: int) -> int:
        """Images of the first ``steps`` steps."""
        epochs, batches = divmod(steps, self.per_epoch)
        most = self.per_epoch * self.training.batch_size
        size = most if self.training.drop_last else self.images
        return epochs * size + min(batches * self.training.batch_size, size)

    def schedule(self) -> schedules.Schedule:
        """The learning rate of every step."""
        wanted = self.training
        peak, start, end = (
            schedules.scaled(rate, wanted.batch_size, wanted.scale_from)
            for rate in (
                wanted.learning_rate, wanted.warmup_learning_rate, wanted.min_learning_rate,
            )
        )  # fmt: skip
        return schedules.Schedule(
            wanted.schedule,
            self.steps,
            peak,
            start,
            end,
            warmup=self.in_steps(wanted.warmup),
            milestones=tuple(self.in_steps(stone) for stone in wanted.milestones),
            factor=wanted.decay_factor,
        )


@dataclass(frozen=True)
class Batch:
    """Uint8 images and labels of this process; ``share`` of the images of the whole batch."""

    images: Tensor
    labels: Tensor | None
    draws: Draws
    share: float


class Batches:
    """Gathers the parts of each step; for CUDA one step ahead of the training.

    Every image is seen once an epoch, in an order drawn by the run's name and the epoch.
    """

    def __init__(
        self, images: Tensor, labels: Tensor | None, plan: Plan, name: tuple[object, ...],
        processes: Processes, device: torch.device,
    ):  # fmt: skip
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
        return Batch(self._picked(self.images, own),
                     None if self.labels is None else self._picked(self.labels, own),
                     Draws(self.name, step, len(order), None if whole else rows),
                     len(own) / len(order))  # fmt: skip

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
        return Batch(part.images.to(self.device, non_blocking=True),
                     None if labels is None else labels.to(self.device, non_blocking=True),
                     part.draws, part.share)  # fmt: skip

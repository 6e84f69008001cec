"""The learning rate of every step, in closed form: nothing has to be saved to resume."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Kind = Literal["cosine", "constant", "step"]


@dataclass(frozen=True)
class Schedule:
    """Learning rate over the steps ``0 .. steps - 1``.

    A linear warm-up leads from ``start`` to ``peak``: of its ``w`` steps, step ``s`` has gone
    ``(s + 1) / (w + 1)`` of the way. Then ``u`` in [0, 1) is the share of the rest that is over:

    * cosine: ``end + (peak - end) (1 + cos(pi u)) / 2`` (Loshchilov and Hutter 2017, eq. 5);
    * constant: ``peak``;
    * step: ``peak * factor ** (number of milestones passed)``.
    """

    kind: Kind
    steps: int
    peak: float
    start: float = 0.0
    end: float = 0.0
    warmup: int = 0
    milestones: tuple[int, ...] = ()
    factor: float = 0.1

    def rate(self, step: int) -> float:
        """Learning rate of ``step``, counted from 0."""
        if step < self.warmup:
            return self.start + (self.peak - self.start) * (step + 1) / (self.warmup + 1)
        if self.kind == "constant":
            return self.peak
        if self.kind == "step":
            return self.peak * self.factor ** sum(step >= stone for stone in self.milestones)
        over = (step - self.warmup) / max(self.steps - self.warmup, 1)
        return self.end + (self.peak - self.end) * (1 + math.cos(math.pi * over)) / 2


@dataclass(frozen=True)
class Part:
    """``steps`` of the steps of a whole schedule, from ``first`` on: one stage of a training."""

    whole: Schedule
    first: int
    steps: int

    def rate(self, step: int) -> float:
        """Learning rate of ``step``, counted from the part's first."""
        return self.whole.rate(self.first + step)


def scaled(rate: float, batch_size: int, scale_from: int | None) -> float:
    """``rate * batch_size / scale_from``, the linear scaling rule (Goyal et al. 2017)."""
    return rate if scale_from is None else rate * batch_size / scale_from

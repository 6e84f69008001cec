"""The history of a training: means of its scalars, without a wait for the device at each step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.errors import FeatlearnError


class History:
    """Means of a run's scalars over the steps between two rows, kept on the device till then."""

    def __init__(self, device: torch.device):
        self.device = device
        self.names: list[str] = []
        self.rows: list[list[float]] = []
        self.sums = torch.zeros(0)
        self.images = 0
        self.lost = torch.tensor(-1, device=device)

    def add(self, step: int, scalars: Mapping[str, Tensor], images: int) -> None:
        """Add the means over the ``images`` images of a step; no wait for the device."""
        if not self.names:
            self.names = list(scalars)
            self.sums = torch.zeros(len(scalars), dtype=torch.float64, device=self.device)
        if self.names != list(scalars):
            raise FeatlearnError(
                f"step {step}: the objective gave {list(scalars)}; "
                f"expected {self.names} as at the steps before"
            )
        values = torch.stack([value.detach().float().reshape(()) for value in scalars.values()])
        self.sums.add_(values, alpha=images)
        self.images += images
        fresh = ~torch.isfinite(values[self.names.index("loss")]) & (self.lost < 0)
        self.lost = torch.where(fresh, step, self.lost)

    def means(self) -> dict[str, float]:
        """Means since the last row."""
        means = (self.sums / max(self.images, 1)).tolist()
        return dict(zip(self.names, means, strict=True))

    def record(self, step: int, epoch: float, seen: int, rate: float) -> None:
        """Write a row and start anew."""
        self.rows.append([step, epoch, seen, rate, *self.means().values()])
        self.sums = torch.zeros_like(self.sums)
        self.images = 0

    def frame(self) -> pd.DataFrame:
        """Columns step, epoch, images, learning_rate, loss, ... of :func:`fit`."""
        columns = ["step", "epoch", "images", "learning_rate", *self.names]
        return pd.DataFrame(self.rows, columns=columns).astype({"step": "int64", "images": "int64"})

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Tensors and plain values for a checkpoint; all numbers in full."""
        rows = torch.tensor(self.rows, dtype=torch.float64).view(
            len(self.rows), 4 + len(self.names)
        )
        return (
            {"history/rows": rows, "history/sums": self.sums},
            {"names": self.names, "images": self.images},
        )

    def load(self, tensors: Mapping[str, Tensor], values: Mapping[str, Any]) -> None:
        """Undo :meth:`state`."""
        self.rows = tensors["history/rows"].tolist()
        self.sums = tensors["history/sums"].to(self.device)
        self.names, self.images = list(values["names"]), int(values["images"])

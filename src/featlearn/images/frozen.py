"""A frozen encoder's features: what a linear probe and the nearest neighbours make of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from featlearn.images.probes import choose_probe, nearest_neighbours

Quality = TypeVar("Quality")

#: What is done with an encoder; the names stand in tables and figures.
FINE_TUNED, PROBE, NEIGHBOURS = "fine-tuned", "linear probe", "nearest neighbours"


class Frozen(Generic[Quality]):
    """Features of training and test images, computed once for all numbers of labels.

    ``train``, ``labels``: features (N, width) and labels, int64 (N,) or (N, classes), of the
    training images. ``test``: features (M, width) of the test images. ``classes``: number of
    classes. ``quality``: of the test images' scores (M, classes), on the CPU. ``device``: where
    probes are solved.
    """

    def __init__(
        self,
        train: Tensor,
        labels: Tensor,
        test: Tensor,
        classes: int,
        quality: Callable[[Tensor], Quality],
        device: torch.device | str = "cpu",
    ):
        self.train, self.labels, self.test = (one.to(device) for one in (train, labels, test))
        self.classes, self.quality = classes, quality

    def probe(self, fitted: slice | Tensor, chosen: slice | Tensor) -> Quality:
        """Of the linear probe on both sets of rows; its penalty does best on ``chosen``."""
        first, second = ((self.train[rows], self.labels[rows]) for rows in (fitted, chosen))
        probe = choose_probe(first, second, self.classes)
        return self.quality(probe.scores(self.test).cpu())

    def neighbours(self, rows: slice | Tensor, settings: Mapping[str, Any]) -> Quality:
        """Of the vote of the nearest ones among ``rows``: ``count`` of them, ``temperature``."""
        bank = self.train[rows], self.labels[rows]
        voters = [min(settings["count"], len(bank[0]))]
        predicted = nearest_neighbours(
            bank, self.test, self.classes, voters, temperature=settings["temperature"]
        )[0]
        return self.quality(torch.nn.functional.one_hot(predicted.cpu(), self.classes))

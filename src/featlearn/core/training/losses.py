"""Losses and errors of several networks at once."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional


def cross_entropies(scores: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy of every sample, (R, n): scores (R, n, K), classes (R, n) int64.

    PyTorch has no repeatable kernel on CUDA for samples along two axes: there they lie along one.
    """
    if scores.device.type == "cpu":
        return functional.cross_entropy(scores.mT, labels, reduction="none")
    each = functional.cross_entropy(scores.flatten(0, 1), labels.flatten(), reduction="none")
    return each.view(labels.shape)


def relative_error(value: Tensor, wanted: Tensor) -> Tensor:
    """``|value - wanted| / |wanted|`` over all axes but the first: (R,)."""
    value, wanted = value.flatten(1), wanted.flatten(1)
    return (value - wanted).norm(dim=1) / wanted.norm(dim=1)

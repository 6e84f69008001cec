"""How many features a kernel holds: pure winners, impure ones, and the losers below them.

Theorem 1(b), (c) say that a kernel captures at most one feature. An impure kernel holds more: two
of the same class (*sibling*: they occur together in every sample of their class) or features of
different classes (*cross*); it may be both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd
import torch
from torch import Tensor

from featlearn.mrp.measure import Capture, EvaluationRow, replicate_rows
from featlearn.mrp.train import Trace, correlations

#: Columns of ``purity.parquet``, beside step and replicate: counts of kernels, and correlations.
PURITY = ("winners", "impure", "sibling", "cross", "largest")


def purity(held: Capture) -> dict[str, Tensor]:
    """Numbers of kernels, each (R,): ``winners`` hold a feature, ``impure`` ones more than one,
    ``sibling`` ones two of a class, ``cross`` ones features of two classes. ``largest`` is the
    largest correlation of any kernel.
    """
    in_class = (held.correlation >= held.varrho).sum(-1)  # (R, K, k)
    features, classes = in_class.sum(-1), (in_class > 0).sum(-1)
    return {
        "winners": (features > 0).sum(-1),
        "impure": (features > 1).sum(-1),
        "sibling": (in_class > 1).any(-1).sum(-1),
        "cross": (classes > 1).sum(-1),
        "largest": held.correlation.flatten(1).amax(1),
    }


def impure_share(counts: Mapping[str, Tensor]) -> Tensor:
    """Share of the winners that are impure; 0 where there is no winner."""
    return counts["impure"] / counts["winners"].clamp_min(1)


def second_best(correlation: Tensor) -> Tensor:
    """(R, k, L) largest |correlation| of a feature with a kernel whose strongest it is not.

    The off-diagonal of the kernel-by-feature matrix, seen from the features.
    """
    size = correlation.abs().flatten(2)
    strongest = size == size.amax(-1, keepdim=True)
    return size.masked_fill(strongest, 0).amax(1).view(-1, *correlation.shape[2:])


def kernel_rows(model: str, held: Capture) -> Iterator[EvaluationRow]:
    """What kernels hold: winners, impure ones of both kinds, largest correlations."""
    counts = purity(held)
    quantities = {
        **counts,
        "impure_share": impure_share(counts),
        "captured": held.captured().flatten(1).double().mean(-1),
        "off_diagonal": second_best(held.correlation).flatten(1).amax(-1),
    }
    return replicate_rows(model, quantities)


class Watch:
    """What a pre-training loop shall write down beside ``Lambda``; see ``pretrain(observe=...)``.

    ``off_diagonal`` (R, k, L) is :func:`second_best`; the counts are those of :func:`purity`.
    """

    def __init__(self, varrho: float):
        self.varrho = varrho

    def __call__(self, w: Tensor, features: Tensor) -> dict[str, Tensor]:
        held = Capture(correlations(w, features), self.varrho)
        return {"off_diagonal": second_best(held.correlation), **purity(held)}


def purity_history(trace: Trace) -> pd.DataFrame:
    """The counts over time: columns step, replicate and those of :data:`PURITY`."""
    seen = {name: trace.stacked(name) for name in PURITY}
    replicates = seen["winners"].shape[1]
    index = pd.MultiIndex.from_product(
        [trace.steps, range(replicates)], names=["step", "replicate"]
    )
    columns = {name: values.flatten().numpy() for name, values in seen.items()}
    return pd.DataFrame(columns, index=index).reset_index()


def at_step(history: Tensor, steps: list[int], chosen: Tensor) -> Tensor:
    """Each replicate's last record at or before its own step.

    Parameters
    ----------
    history : (steps, R, ...)
    chosen : (R,)
        Step numbers, each at least the first one recorded.
    """
    row = torch.searchsorted(torch.tensor(steps), chosen.cpu(), right=True) - 1
    return history[row, torch.arange(chosen.numel())]

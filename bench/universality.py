"""Chapter 7: NT-Xent of many networks at once.

lightly's loss is compared where lightly is installed.
"""

from __future__ import annotations

from importlib.util import find_spec

import pandas as pd
import torch

from bench.timing import ratio, side_by_side
from featlearn.core.seeds import generator
from featlearn.universality.adapters import nt_xent

#: Networks of a tensor axis, samples of a batch, width.
NETWORKS, BATCH, OUT = 20, 64, 64


def contrastive_losses() -> pd.DataFrame:
    """NT-Xent with its gradient: all networks at once, one after the other, and lightly's."""
    random = generator(0, "bench", "nt-xent")
    a, b = (torch.randn(NETWORKS, BATCH, OUT, generator=random).requires_grad_() for _ in range(2))

    def at_once() -> None:
        torch.autograd.grad(nt_xent(a, b).sum(), (a, b))

    def each() -> None:
        for one, two in zip(a.detach(), b.detach(), strict=True):
            x, y = one[None].requires_grad_(), two[None].requires_grad_()
            torch.autograd.grad(nt_xent(x, y).sum(), (x, y))

    rivals = {"at once": at_once, "each": each}
    if find_spec("lightly") is not None:
        from lightly.loss import NTXentLoss

        loss = NTXentLoss(temperature=0.5)

        def lightly() -> None:
            for one, two in zip(a.detach(), b.detach(), strict=True):
                x, y = one.requires_grad_(), two.requires_grad_()
                torch.autograd.grad(loss(x, y), (x, y))

        rivals["lightly"] = lightly
    timed = side_by_side(rivals)
    return pd.DataFrame([
        {"what": f"NT-Xent of {NETWORKS} networks and its gradient: {name} / at once",
         "ratio": ratio(timed, name, "at once"), "wanted": ">= 1"}
        for name in rivals if name != "at once"
    ])  # fmt: skip


BENCHMARKS = {"contrastive_losses": contrastive_losses}

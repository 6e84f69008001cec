"""Chapter 6: the batch nuclear norm with its gradient against singular values with autograd."""

from __future__ import annotations

import pandas as pd
import torch

from bench.timing import ratio, side_by_side
from featlearn.core.seeds import generator
from featlearn.images.nuclear_norm import nuclear_norm

#: Rows of a batch: 32 of each training domain, of four domains in all and of six.
ROWS, WIDTH = (96, 160), 2048


def nuclear_norms() -> pd.DataFrame:
    """One row a size; times with the gradient."""
    found = []
    for rows in ROWS:
        x = torch.randn(rows, WIDTH, generator=generator(0, "bench", rows)).relu_()
        x.requires_grad_()

        def own(x: torch.Tensor = x) -> None:
            torch.autograd.grad(nuclear_norm(x), x)

        def library(x: torch.Tensor = x) -> None:
            torch.autograd.grad(torch.linalg.svdvals(x).sum(), x)

        times = side_by_side({"own": own, "svdvals": library})
        what = f"nuclear norm and its gradient, {rows} x {WIDTH}: svdvals with autograd / own"
        found.append({"what": what, "ratio": ratio(times, "svdvals", "own"), "wanted": "> 1"})
    return pd.DataFrame(found)


BENCHMARKS = {"nuclear_norms": nuclear_norms}

"""Chapter 6: the batch nuclear norm with its gradient against singular values with autograd."""

from __future__ import annotations

import pandas as pd
import torch

from bench.timing import ratio, side_by_side
from featlearn.core.seeds import generator
from featlearn.images.encoders import build_encoder
from featlearn.images.nuclear_norm import nuclear_norm

#: Of the images of a batch this share is timed in a network, and the time scaled up.
PART = 12
#: Rows of a batch: 32 of each training domain, of four domains in all and of six.
ROWS, WIDTH = (96, 160), 2048


def nuclear_norms() -> pd.DataFrame:
    """Two rows a size; times with the gradient.

    A step is forward and backward of a ResNet-50 on as many images of 224 pixels.
    """
    found = []
    network = build_encoder({"kind": "resnet50"}, 224)
    for rows in ROWS:
        x = torch.randn(rows, WIDTH, generator=generator(0, "bench", rows)).relu_()
        x.requires_grad_()

        def own(x: torch.Tensor = x) -> None:
            torch.autograd.grad(nuclear_norm(x), x)

        def library(x: torch.Tensor = x) -> None:
            torch.autograd.grad(torch.linalg.svdvals(x).sum(), x)

        images = torch.randn(rows // PART, 3, 224, 224, generator=generator(0, "images", rows))

        def step(images: torch.Tensor = images) -> None:
            network.zero_grad()
            network(images).sum().backward()

        times = side_by_side({"own": own, "svdvals": library})
        steps = side_by_side({"own": own, "step": step}, turns=2)
        size = f"nuclear norm and its gradient, {rows} x {WIDTH}"
        found += [
            {"what": f"{size}: svdvals with autograd / own",
             "ratio": ratio(times, "svdvals", "own"), "wanted": ">= 5"},
            {"what": f"{size} / a step of ResNet-50",
             "ratio": ratio(steps, "own", "step") / PART, "wanted": "<= 0.05"},
        ]  # fmt: skip
    return pd.DataFrame(found)


BENCHMARKS = {"nuclear_norms": nuclear_norms}

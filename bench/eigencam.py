"""Eigen-CAM on a ResNet-50: against the usual library, its floor, and the forward pass."""

from __future__ import annotations

import pandas as pd
import torch
from torch import Tensor

from bench.timing import SPREADS, ratio, side_by_side
from featlearn.images.cam.eigencam import eigen_cam

#: Channels, height and width of ``layer4`` for images of 224 pixels.
SHAPE = (2048, 7, 7)
BATCH = 64


def maps(batch: int) -> Tensor:
    """Activations as a trained network has them: not negative, with places where all are strong."""
    stream = torch.Generator().manual_seed(0)
    place = torch.randn(batch, 1, *SHAPE[1:], generator=stream)
    return torch.relu(torch.randn(batch, *SHAPE, generator=stream) + 2 * place)


def ratios() -> pd.DataFrame:
    """One row a comparison: what is compared, with what, how many times, and what was wanted."""
    from pytorch_grad_cam.utils.svd_on_activations import get_2d_projection

    x = maps(BATCH)
    flat, one = x.flatten(2), x[:1].numpy()
    timed = side_by_side(
        {
            "ours": lambda: eigen_cam(x),
            "gram": lambda: flat.mT @ flat,
            "library, one image": lambda: get_2d_projection(one),
        },
        turns=5,
    )
    once = ratio(timed, "library, one image", "ours")
    faster = BATCH * once
    low, high = SPREADS[once]
    SPREADS[faster] = BATCH * low, BATCH * high
    floor = ratio(timed, "ours", "gram")
    rows = [
        ("Eigen-CAM, images a second: ours / pytorch-grad-cam", faster, "at least 600"),
        ("Eigen-CAM, time: ours / the Gram matrix alone", floor, "at most 1.2"),
        ("Eigen-CAM, time: forward pass with maps / without", forward(), "at most 1.05"),
    ]
    return pd.DataFrame(rows, columns=["what", "ratio", "wanted"])


def forward() -> float:
    """A ResNet-50's forward pass with maps, to the pass alone."""
    from torchvision.models import resnet50

    model = resnet50(weights=None).eval().to(memory_format=torch.channels_last)
    images = torch.randn(8, 3, 224, 224).to(memory_format=torch.channels_last)
    seen: list[Tensor] = []

    def with_maps() -> None:
        handle = model.layer4.register_forward_hook(lambda _, __, output: seen.append(output))
        model(images)
        handle.remove()
        eigen_cam(seen.pop())

    with torch.inference_mode():
        timed = side_by_side({"with": with_maps, "without": lambda: model(images)}, turns=5)
    return ratio(timed, "with", "without")


BENCHMARKS = {"eigen-cam": ratios}

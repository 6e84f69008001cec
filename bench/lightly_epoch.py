"""Epochs of self-supervised training of a ResNet-18 at 32 px: our loop, and that of lightly.

Encoder, heads, loss (SimCLR and SimSiam; heads and losses are lightly's), optimiser and strength of
the augmentation are the same, so that what differs is the way from bytes in memory to a step. It is
not a masked method because lightly has none on a convolutional network.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pandas as pd
import torch
from torch import Tensor

from bench.timing import peak_memory, ratio, side_by_side
from featlearn.images.augment import Augment
from featlearn.images.encoders import build_encoder
from featlearn.images.methods.two_view import TwoViewObjective, untouched
from featlearn.images.rng import Draws
from featlearn.images.train.loop import fit
from featlearn.images.train.objective import Objective

PIXELS = 32
#: Images of an epoch, batch size and loading processes of lightly: on CUDA, on a processor.
SIZES = {"cuda": (12800, 512, 8), "cpu": (128, 32, 0)}
#: As lightly's SimCLRTransform for images of 32 px: without blur.
STEPS = [
    {"op": "random_resized_crop", "scale": (0.08, 1.0)},
    {"op": "flip"},
    {"op": "colour_jitter", "brightness": 0.8, "contrast": 0.8, "saturation": 0.8, "hue": 0.2},
    {"op": "grey"},
]


class SimClr(Objective):
    """Two views of each image, one after the other in the batch; head and loss are lightly's."""

    def __init__(self) -> None:
        from lightly.loss import NTXentLoss
        from lightly.models.modules import SimCLRProjectionHead

        super().__init__()
        self.encoder = build_encoder({"kind": "resnet18", "stem": "cifar"}, PIXELS)
        self.head = SimCLRProjectionHead(self.encoder.width, 512, 128)
        self.contrast = NTXentLoss()

    def forward(self, images: Tensor, labels: Tensor | None, draws: Draws) -> dict[str, Tensor]:
        return {"loss": self.contrast(*self.head(self.encoder(images)).chunk(2))}


class SimSiam(TwoViewObjective):
    """Views that are made in the objective; projection, prediction head and loss are lightly's."""

    def __init__(self) -> None:
        from lightly.loss import NegativeCosineSimilarity
        from lightly.models.modules import SimSiamPredictionHead, SimSiamProjectionHead

        encoder = build_encoder({"kind": "resnet18", "stem": "cifar"}, PIXELS)
        projection = SimSiamProjectionHead(encoder.width, 512, 128)
        super().__init__(encoder, Augment({"steps": STEPS}), projection)
        self.head = SimSiamPredictionHead(128, 64, 128)
        self.distance = NegativeCosineSimilarity()

    def pair(self, first: Tensor, second: Tensor) -> dict[str, Tensor]:
        own, other = self.project(first), self.project(second)
        sides = ((own, other), (other, own))
        losses = [self.distance(self.head(z), target.detach()) for z, target in sides]
        return {"loss": (losses[0] + losses[1]) / 2}


def device() -> torch.device:
    """CUDA where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def pictures() -> Tensor:
    """Bytes: how long a step takes does not depend on what they show."""
    stream = torch.Generator().manual_seed(0)
    count = SIZES[device().type][0]
    return torch.randint(256, (count, 3, PIXELS, PIXELS), dtype=torch.uint8, generator=stream)


def ours(method: str) -> Callable[[], object]:
    """An epoch of our loop, both views augmented on the device."""
    images, augment = pictures(), Augment({"steps": STEPS})
    settings = {"epochs": 1, "batch_size": SIZES[device().type][1], "learning_rate": 1e-3}
    if method == "SimSiam":
        siamese = SimSiam()
        return lambda: fit(siamese, images, None, untouched, settings, (0, "bench"), device())
    objective = SimClr()

    def views(batch: Tensor, draws: Draws) -> Tensor:
        other = Draws((*draws.name, "other view"), draws.step, draws.size, draws.rows)
        return torch.cat([augment(batch, draws), augment(batch, other)])

    return lambda: fit(objective, images, None, views, settings, (0, "bench"), device())


def theirs(method: str) -> Callable[[], object]:
    """An epoch as lightly's examples write it, from images that are decoded already."""
    from lightly.transforms import SimCLRTransform
    from torch.utils.data import DataLoader
    from torchvision.transforms.functional import to_pil_image

    _, batch, workers = SIZES[device().type]
    transform = SimCLRTransform(input_size=PIXELS, gaussian_blur=0.0)
    opened = [to_pil_image(image) for image in pictures()]

    class Views(torch.utils.data.Dataset[list[Tensor]]):
        def __len__(self) -> int:
            return len(opened)

        def __getitem__(self, place: int) -> list[Tensor]:
            return transform(opened[place])

    loader = DataLoader(
        Views(), batch, shuffle=True, drop_last=True, num_workers=workers, pin_memory=workers > 0
    )
    objective = {"SimCLR": SimClr, "SimSiam": SimSiam}[method]()
    objective.to(device()).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return lambda: _epoch(objective, loader)


def _epoch(objective: Objective, loader: torch.utils.data.DataLoader[list[Tensor]]) -> None:
    where = device()
    optimiser = torch.optim.AdamW(objective.parameters(), lr=1e-3, fused=True)
    for step, views in enumerate(loader):
        first, second = (
            view.to(where, non_blocking=True).contiguous(memory_format=torch.channels_last)
            for view in views
        )
        optimiser.zero_grad(set_to_none=True)
        if isinstance(objective, SimSiam):
            loss = objective.pair(first, second)["loss"]
        else:
            both = torch.cat([first, second])
            loss = objective(both, None, Draws((0, "bench"), step, len(both)))["loss"]
        loss.backward()
        optimiser.step()
    if where.type == "cuda":
        torch.cuda.synchronize()


def epochs(turns: int = 3) -> pd.DataFrame:
    """Images a second of an epoch, ours to lightly's, and peak memory of each.

    Returns
    -------
    DataFrame
        Columns what, ratio, wanted, peak_mb, peak_mb_lightly.

    Raises
    ------
    ModuleNotFoundError
        Without lightly: ``uv pip install --group bench``.
    """
    columns = ["what", "ratio", "wanted", "peak_mb", "peak_mb_lightly"]
    import lightly

    clock = time.perf_counter if device().type == "cuda" else time.process_time
    rows = []
    for method in ("SimCLR", "SimSiam"):
        timed = side_by_side({"ours": ours(method), "theirs": theirs(method)}, turns, clock)
        faster = ratio(timed, "theirs", "ours")
        code = "import bench.lightly_epoch as e\ne."
        peaks = [peak_memory(f"{code}{rival}({method!r})()") for rival in ("ours", "theirs")]
        of = f"epoch of {method}, ResNet-18, {PIXELS} px, {device()}"
        what = f"{of}, images a second: ours / lightly"
        rows.append((f"{what} {lightly.__version__}", faster, "> 1", *peaks))
    return pd.DataFrame(rows, columns=columns)


BENCHMARKS = {"lightly-epoch": epochs}

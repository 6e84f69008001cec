"""The training loop of the images against the bare step of its model, on data in memory."""

from __future__ import annotations

import time
from collections.abc import Callable

import pandas as pd
import torch
from torch import Tensor, nn

from bench.timing import peak_memory, ratio, side_by_side
from featlearn.images.augment import Augment
from featlearn.images.encoders import build_encoder
from featlearn.images.methods import build_method
from featlearn.images.pixel_operations import separable, window_weights
from featlearn.images.rng import Draws
from featlearn.images.train.loop import fit
from featlearn.images.train.objective import Objective

#: Steps of one run: enough that what happens once a training does not count, as in a real one.
STEPS = 20
PIXELS, CLASSES, BATCH = 32, 10, 128
#: Names of the encoders tried, with their options: that of the desk scale.
ENCODERS = {"small_resnet": {"widths": [16, 32, 64], "stem_stride": 2}}
SETTINGS = {
    "steps": STEPS,
    "batch_size": BATCH,
    "learning_rate": 1e-4,
    "clip": 5.0,
    "schedule": "constant",
}
#: The loop with bytes turned to numbers and nothing else, and with an augmentation, by preset.
LOOPS = {"loop": "none", "loop, crops and flips": "simmim"}
#: The bare step on batches that go through what no loop with crops can leave out: bytes to numbers,
#: the two matrix products of a resized window, normalisation.
FLOOR = "bare step with a crop's products"


class Supervised(Objective):
    """Cross-entropy of a linear head on the encoder."""

    def __init__(self, encoder: nn.Module, width: int):
        super().__init__()
        self.encoder, self.head = encoder, nn.Linear(width, CLASSES)

    def forward(self, images: Tensor, labels: Tensor | None, draws: Draws) -> dict[str, Tensor]:
        return {"loss": nn.functional.cross_entropy(self.head(self.encoder(images)), labels)}


def device() -> torch.device:
    """CUDA where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def objectives(kind: str) -> dict[str, Objective]:
    """What is trained: a classifier, and a masked image model with a decoder of 3 layers."""
    torch.manual_seed(0)
    encoder = build_encoder({"kind": kind, **ENCODERS[kind]}, PIXELS)
    masked = build_encoder({"kind": kind, **ENCODERS[kind]}, PIXELS)
    settings = {"kind": "simmim", "mask_size": 4, "mask_ratio": 0.6, "decoder_depth": 3}
    return {
        "fine-tuning": Supervised(encoder, encoder.width),
        "pre-training (SimMIM)": build_method(settings | {"decoder_width": 32}, masked),
    }


def resized(images: Tensor) -> Callable[[], Tensor]:
    """A window of each image, resized and normalised; the place is the same, and nothing drawn."""
    start = torch.full((BATCH,), PIXELS // 8, device=images.device)
    weights = window_weights(start, PIXELS - start, PIXELS, PIXELS, "bilinear")
    augment = Augment({"preset": "none"})
    return lambda: augment.normalise(separable(images.float().div_(255), weights, weights))


def bare(
    objective: Objective, inputs: Callable[[Tensor], Callable[[], Tensor]] | None = None
) -> Callable[[], object]:
    """The steps of PyTorch alone, again and again on one batch that is on the device."""
    where = device()
    images = torch.randn(BATCH, 3, PIXELS, PIXELS, device=where)
    images = images.contiguous(memory_format=torch.channels_last)
    pixels = torch.randint(256, (BATCH, 3, PIXELS, PIXELS), dtype=torch.uint8, device=where)
    batch = inputs(pixels) if inputs else lambda: images
    labels = torch.randint(CLASSES, (BATCH,), device=where)
    objective.to(where).to(memory_format=torch.channels_last)
    optimiser = torch.optim.AdamW(objective.parameters(), lr=1e-4, fused=True)

    def run() -> None:
        objective.train()  # the loop, run before on the same network, leaves it in evaluation mode
        for step in range(STEPS):
            optimiser.zero_grad(set_to_none=True)
            objective(batch(), labels, Draws((0, "bench"), step, BATCH))["loss"].backward()
            nn.utils.clip_grad_norm_(objective.parameters(), 5.0)
            optimiser.step()
        if where.type == "cuda":
            torch.cuda.synchronize()

    return run


def loop(objective: Objective, preset: str) -> Callable[[], object]:
    """As many steps of the loop, from bytes in memory, with its history."""
    images = torch.randint(256, (8 * BATCH, 3, PIXELS, PIXELS), dtype=torch.uint8)
    labels = torch.randint(CLASSES, (8 * BATCH,))
    augment = Augment({"preset": preset})

    def run() -> None:
        fit(objective, images, labels, augment, SETTINGS, (0, "bench"), device())

    return run


def rivals(kind: str, name: str) -> dict[str, Callable[[], object]]:
    """The bare step, :data:`FLOOR` and :data:`LOOPS`, of one training."""
    objective = objectives(kind)[name]
    loops = {rival: loop(objective, preset) for rival, preset in LOOPS.items()}
    return {"bare step": bare(objective), FLOOR: bare(objective, resized), **loops}


def loop_ratios(turns: int = 7) -> pd.DataFrame:
    """Images a second of the loop over those of the bare step, and peak memory of each.

    Returns
    -------
    DataFrame
        Columns what, ratio, wanted, peak_mb, peak_mb_bare_step.
    """
    clock = time.perf_counter if device().type == "cuda" else time.process_time
    rows = []
    for kind in ENCODERS:
        for name in objectives(kind):
            runs = rivals(kind, name)
            timed = side_by_side(runs, turns, clock)
            code = f"from bench.images import rivals\nrivals({kind!r}, {name!r})"
            peaks = {rival: peak_memory(f"{code}[{rival!r}]()") for rival in runs}
            for rival in (FLOOR, *LOOPS):
                what = f"{name}, {kind}, {PIXELS} px, images a second: {rival} / bare step"
                share = ratio(timed, "bare step", rival)
                wanted = "" if rival == FLOOR else ">= 0.95"
                rows.append((what, share, wanted, peaks[rival], peaks["bare step"]))
    return pd.DataFrame(rows, columns=["what", "ratio", "wanted", "peak_mb", "peak_mb_bare_step"])


BENCHMARKS = {"loop-ratios": loop_ratios}

"""The training loop of the images against the bare step of its model, on data in memory."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import torch
from torch import Tensor, nn

from bench.timing import ratio, side_by_side
from featlearn.images.draws import Draws
from featlearn.images.encoders import build_encoder
from featlearn.images.loop import fit
from featlearn.images.methods import build_method
from featlearn.images.objective import Objective

PIXELS, CLASSES, BATCH, STEPS = 32, 10, 128, 5
#: Names of the encoders tried, with their options: that of the desk scale.
ENCODERS = {"small_resnet": {"widths": [16, 32, 64]}}
SETTINGS = {
    "steps": STEPS,
    "batch_size": BATCH,
    "learning_rate": 1e-4,
    "clip": 5.0,
    "schedule": "constant",
}


class Supervised(Objective):
    """Cross-entropy of a linear head on the encoder."""

    def __init__(self, encoder: nn.Module, width: int):
        super().__init__()
        self.encoder, self.head = encoder, nn.Linear(width, CLASSES)

    def forward(self, images: Tensor, labels: Tensor | None, draws: Draws) -> dict[str, Tensor]:
        return {"loss": nn.functional.cross_entropy(self.head(self.encoder(images)), labels)}


def normalised(images: Tensor, draws: Draws) -> Tensor:
    """Bytes to numbers, and nothing else."""
    return images.float().div_(127.5).sub_(1)


def objectives(kind: str) -> dict[str, Objective]:
    """What is trained: a classifier, and a masked image model with a decoder of 3 layers."""
    torch.manual_seed(0)
    encoder = build_encoder({"kind": kind, **ENCODERS[kind]}, PIXELS)
    masked = build_encoder({"kind": kind, **ENCODERS[kind]}, PIXELS)
    settings = {"kind": "simmim", "mask_size": 4, "mask_ratio": 0.6}
    return {
        "fine-tuning": Supervised(encoder, encoder.width),
        "pre-training (SimMIM)": build_method(settings, masked),
    }


def bare(objective: Objective, device: torch.device) -> Callable[[], object]:
    """The steps of PyTorch alone, again and again on one batch that is on the device."""
    images = torch.randn(BATCH, 3, PIXELS, PIXELS, device=device)
    images = images.contiguous(memory_format=torch.channels_last)
    labels = torch.randint(CLASSES, (BATCH,), device=device)
    objective.to(device).to(memory_format=torch.channels_last).train()
    optimiser = torch.optim.AdamW(objective.parameters(), lr=1e-4, fused=True)

    def run() -> None:
        for step in range(STEPS):
            optimiser.zero_grad(set_to_none=True)
            objective(images, labels, Draws((0, "bench"), step, BATCH))["loss"].backward()
            nn.utils.clip_grad_norm_(objective.parameters(), 5.0)
            optimiser.step()
        if device.type == "cuda":
            torch.cuda.synchronize()

    return run


def loop(objective: Objective, device: torch.device) -> Callable[[], object]:
    """As many steps of the loop, from bytes in memory, with its history."""
    images = torch.randint(256, (8 * BATCH, 3, PIXELS, PIXELS), dtype=torch.uint8)
    labels = torch.randint(CLASSES, (8 * BATCH,))

    def run() -> None:
        fit(objective, images, labels, normalised, SETTINGS, (0, "bench"), device)

    return run


def loop_ratios(turns: int = 7) -> pd.DataFrame:
    """One row a training: images a second of the loop, over those of the bare step."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    rows = []
    for kind in ENCODERS:
        for name, objective in objectives(kind).items():
            rivals = {"bare": bare(objective, device), "loop": loop(objective, device)}
            timed = side_by_side(rivals, turns)
            share = ratio(timed, "bare", "loop")
            rows.append((f"{name}, {kind}, {PIXELS} px: loop / bare step", share, ">= 0.9"))
    return pd.DataFrame(rows, columns=["what", "ratio", "wanted"])

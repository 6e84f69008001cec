"""Pre-training at the size of ImageNet on one GPU: our loop against the bare step of its model.

Images are bytes at random: how long a step takes does not depend on what they show.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pandas as pd
import torch
from torch import Tensor, nn

from bench.timing import ratio, side_by_side
from featlearn.core.training.devices import prepare
from featlearn.images.augment import Augment
from featlearn.images.encoders import build_encoder
from featlearn.images.methods import build_method
from featlearn.images.rng import Draws
from featlearn.images.train.loop import fit
from featlearn.images.train.objective import Objective

WHERE = "cuda"
PIXELS, BATCH = 224, 128
#: Steps of one run by precision: enough that what happens once a training counts little.
STEPS = {"bfloat16": 20, "float32": 8}
#: What is trained: a method, with the sizes of its paper, and an encoder.
TRAINED = {
    "SimMIM, ResNet-50": ({"kind": "simmim", "decoder": "linear"}, {"kind": "resnet50"}),
    "MAE, ViT-S/16": ({"kind": "mae"}, {"kind": "vit_small"}),
}
#: With the bytes on the GPU; in memory, so with a loader; and with crops and flips of them.
LOOPS = {
    "loop, bytes on the GPU": (True, "none"),
    "loop, bytes in memory": (False, "none"),
    "loop, bytes in memory, crops and flips": (False, "simmim"),
}
FASTEST = "bare step, fastest kernels"


def wait() -> None:
    """Until the GPU has done what it was given."""
    if WHERE == "cuda":
        torch.cuda.synchronize()


def bare(objective: Objective, precision: str, device: str = WHERE) -> Callable[[], object]:
    """The steps of PyTorch alone, again and again on one batch that is on the GPU."""

    def run() -> None:
        prepare(device)
        objective.to(WHERE).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        images = torch.randn(BATCH, 3, PIXELS, PIXELS, device=WHERE)
        images = images.contiguous(memory_format=torch.channels_last)
        optimiser = torch.optim.AdamW(objective.parameters(), lr=1e-4, fused=True)
        objective.train()
        for step in range(STEPS[precision]):
            optimiser.zero_grad(set_to_none=True)
            with torch.autocast(WHERE, torch.bfloat16, enabled=precision == "bfloat16"):
                loss = objective(images, None, Draws((0, "bench"), step, BATCH))["loss"]
            loss.backward()
            nn.utils.clip_grad_norm_(objective.parameters(), 5.0)
            optimiser.step()
        wait()

    return run


def loop(objective: Objective, precision: str, images: Tensor, preset: str) -> Callable[[], object]:
    """As many steps of the loop, with its history."""
    augment = Augment({"preset": preset})
    settings = {
        "steps": STEPS[precision],
        "batch_size": BATCH,
        "learning_rate": 1e-4,
        "clip": 5.0,
        "schedule": "constant",
        "precision": precision,
    }

    def run() -> None:
        prepare(WHERE)
        fit(objective, images, None, augment, settings, (0, "bench"), WHERE)
        wait()

    return run


def rivals(name: str, precision: str) -> dict[str, Callable[[], object]]:
    """Bare steps, with repeatable kernels and without, and :data:`LOOPS`."""
    torch.manual_seed(0)
    method, encoder = TRAINED[name]
    objective = build_method(method, build_encoder(encoder, PIXELS))
    images = torch.randint(256, (4 * BATCH, 3, PIXELS, PIXELS), dtype=torch.uint8)
    loops = {
        told: loop(objective, precision, images.to(WHERE) if there else images, preset)
        for told, (there, preset) in LOOPS.items()
    }
    fastest = bare(objective, precision, f"{WHERE}-nondeterministic")
    return {"bare step": bare(objective, precision), FASTEST: fastest, **loops}


def peak(run: Callable[[], object]) -> float:
    """Most memory (MB) that tensors take on the GPU while it runs."""
    torch.cuda.reset_peak_memory_stats()
    run()
    return torch.cuda.max_memory_allocated() / 2**20


def steps(turns: int = 3) -> pd.DataFrame:
    """Images a second of the loop over those of the bare step, by method and precision.

    Returns
    -------
    DataFrame
        Columns what, ratio, wanted, images_per_second, peak_mb, peak_mb_bare_step.

    Raises
    ------
    ModuleNotFoundError
        Where there is no CUDA device.
    """
    if not torch.cuda.is_available():
        raise ModuleNotFoundError("no CUDA device", name="a CUDA device")
    rows = []
    for name in TRAINED:
        for precision, count in STEPS.items():
            runs = rivals(name, precision)
            peaks = {rival: peak(run) for rival, run in runs.items()}  # warms up, too
            timed = side_by_side(runs, turns, time.perf_counter, warm=True)
            speed = BATCH * count / timed.groupby("rival")["seconds"].median()
            for rival in [FASTEST, *LOOPS]:
                wanted = "" if rival == FASTEST else ">= 0.95"
                what = f"{name}, {PIXELS} px, {precision}, images a second: {rival} / bare step"
                share = ratio(timed, "bare step", rival)
                told = (what, share, wanted, speed[rival], peaks[rival], peaks["bare step"])
                print(*told, flush=True)
                rows.append(told)
    columns = ["what", "ratio", "wanted", "images_per_second", "peak_mb", "peak_mb_bare_step"]
    return pd.DataFrame(rows, columns=columns)


BENCHMARKS = {"gpu-steps": steps}

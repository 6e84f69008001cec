"""Where the neurons of a two-layer network point while it learns two classes of pictures (A.7.4).

The network has m ReLU neurons with trainable biases and no symmetry at its start. It is trained on
the hinge loss by descent with momentum. Rate, batches and start are not given by the thesis; two
scales of the start are compared, as they decide whether neurons turn at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor
from torch.nn import functional

from featlearn.core.errors import FeatlearnError
from featlearn.core.evidence.frames import rows
from featlearn.core.seeds import Streams
from featlearn.emergence.closed_forms import classical_map
from featlearn.emergence.model import medians
from featlearn.emergence.pictures import PARTS, Pictures, head_accuracies, of_job

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

#: Training accuracy below which one that has fallen stops the job: its maps are of a breakdown.
LEAST = 0.75
#: Values of a picture of MNIST, for which rates are meant.
MNIST = 784
MAP = ["cell", "start", "step", "point", "x", "y", "star", "outer"]


def measure(job: Job) -> Results:
    """Follow where neurons of two-layer networks point, at each scale of the start."""
    told: list[dict[str, Any]] = []
    maps: list[tuple[Any, ...]] = []
    for name, config in job.config.items():
        pictures = of_job(job, f"neurons-{name}", f"emergence.neurons.{name}.pictures", config)
        streams = Streams(job.seed, "emergence", f"neurons-{name}", range(config["replicates"]))
        for start, quantity, step, values in _measured(name, config, pictures, streams, maps):
            told += rows({"value": values}, cell=name, start=start, quantity=quantity, step=step)
    return {"values": pd.DataFrame(told), "maps": pd.DataFrame(maps, columns=MAP)}


def _measured(
    name: str, config: Mapping[str, Any], pictures: Pictures, streams: Streams, maps: list[Any]
) -> Iterator[tuple[float, str, int, Tensor]]:
    """Start, quantity, step and what was measured, (R,); rows of maps are added to ``maps``."""
    x = {part: pictures.flat(part) for part in PARTS}
    y = {part: own.float() * 2 - 1 for part, own in pictures.y.items()}
    # where the first gradient points: neurons of either sign see E[y x] first
    star = functional.normalize((y["train"][..., None] * x["train"]).mean(1), dim=-1)
    for scale in config["starts"]:
        learned = list[float]()
        for step, (w, b, a) in train(x["train"], y["train"], config, scale, streams):
            for part in PARTS:
                right = (torch.relu(x[part] @ w.mT + b) @ a) * y[part][..., None] > 0
                yield scale, part, step, right.double().mean((1, 2))
                if part == "train":
                    learned.append(float(right.double().mean()))
            unit = functional.normalize(w.double(), dim=-1)
            along = (unit @ star.double()[..., None]).squeeze(-1)
            yield scale, "directions", step, directions(unit)
            yield scale, "along_star", step, medians(along.abs())
            points = torch.cat([star[0].double()[None], -star[0].double()[None], unit[0]])
            places = classical_map(points @ points.T).tolist()
            outer = [0.0, 0.0, *a[0, :, 0].tolist()]
            values = zip(places, [1.0, -1.0, *along[0].tolist()], outer, strict=True)
            maps += [(name, scale, step, point, *place, cosine, sign)
                     for point, (place, cosine, sign) in enumerate(values, -2)]  # fmt: skip
            if step == 0 and scale == config["starts"][0]:
                random = {part: torch.relu(x[part] @ w.mT + b) for part in PARTS}
        if learned[-1] < min(LEAST, max(learned) - 0.05):
            raise FeatlearnError(
                f"emergence.neurons.{name}.rate: {config['rate']}; training accuracy falls from "
                f"{max(learned):.2f} to {learned[-1]:.2f}; expected a smaller rate"
            )
    yield 0.0, "majority", -1, pictures.majority()
    for what, features in (("linear", x), ("random", random)):
        for part, value in head_accuracies(features, pictures.y, 2).items():
            yield 0.0, f"{what}_{part}", -1, value


def directions(unit: Tensor) -> Tensor:
    """How many directions the rows of ``unit`` (R, m, d) share, opposite ones counted once.

    The participation ratio of the squared singular values, (R,): 1 along one line, 2 along two
    equal orthogonal ones, and about ``m d / (m + d)`` for m random directions.
    """
    energy = torch.linalg.svdvals(unit).square()
    return energy.sum(1).square() / energy.square().sum(1)


def train(
    x: Tensor, y: Tensor, config: Mapping[str, Any], scale: float, streams: Streams
) -> Iterator[tuple[int, tuple[Tensor, Tensor, Tensor]]]:
    """Train on (R, n, d) with labels +1 and -1 (R, n); give the weights at the ``shown`` steps.

    The start is ``scale`` times the usual one: weights N(0, 2/d), output weights N(0, 1/m). Weights
    move at ``784 / d`` times the rate: one of d values stands for as many equal ones of MNIST.
    Yields step; weights (R, m, d), biases (R, 1, m), output weights (R, m, 1).
    """
    m, d, rate, momentum = config["neurons"], x.shape[-1], config["rate"], config["momentum"]

    def start(purpose: str, shape: Sequence[int], variance: float) -> Tensor:
        drawn = [torch.randn(*shape, generator=s) for s in streams(purpose)]
        return (scale * variance**0.5 * torch.stack(drawn)).to(x)

    w, a = start("weights", (m, d), 2 / d), start("outer", (m, 1), 1 / m)
    b = torch.zeros(len(x), 1, m).to(x)
    speed = [torch.zeros_like(part) for part in (w, b, a)]
    rates = (rate * MNIST / d, rate, rate)
    batches, all_rows = streams("batches"), torch.arange(len(x), device=x.device)[:, None]
    for step in range(max(config["shown"]) + 1):
        if step in config["shown"]:
            yield step, (w.clone(), b.clone(), a.clone())
        drawn = [torch.randint(x.shape[1], (config["batch_size"],), generator=s) for s in batches]
        rows = torch.stack(drawn).to(x.device)
        own, label = x[all_rows, rows], y[all_rows, rows][..., None]
        z = torch.baddbmm(b, own, w.mT)
        h = torch.relu(z)
        by_output = torch.where(label * (h @ a) < 1, -label, 0.0) / own.shape[1]
        by_z = by_output * a.mT * (z > 0)
        slopes = (by_z.mT @ own, by_z.sum(1, True), h.mT @ by_output)
        for part, moving, slope, own_rate in zip((w, b, a), speed, slopes, rates, strict=True):
            moving.mul_(momentum).add_(slope)
            part.sub_(own_rate * moving)

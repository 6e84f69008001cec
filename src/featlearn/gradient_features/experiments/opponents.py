"""XOR of four Gaussians over dimension and noise: the network against methods of fixed features.

All get the same inputs for training and for validation, once: the network reuses its training set
in each step, where Algorithm 1 draws a fresh one, so that nobody sees more data. Its step is chosen
on validation data, like the penalties of the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.seeds import Streams
from featlearn.gradient_features.baselines import (
    Data,
    linear,
    random_features,
    rbf_kernels,
    ridge,
    tangent,
)
from featlearn.gradient_features.data import Xor
from featlearn.gradient_features.experiments.frames import sets
from featlearn.gradient_features.law import Sample
from featlearn.gradient_features.model import LOSSES, Network, error, symmetric_start
from featlearn.gradient_features.train import descend, scaled_first_step

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

HINGE = LOSSES["hinge"]
#: Threshold of a neuron in the middle between the origin and a centre, after the first step.
MIDDLE = 0.5


def measure(job: Job) -> Results:
    """One row a dimension, noise, method and replicate."""
    config = job.config
    judged = config["judged"]
    rows: list[dict[str, Any]] = []
    for dimension in config["dimensions"]:
        for noise in config["noises"]:
            here = (dimension, noise) == (judged["dimension"], judged["noise"])
            replicates = judged["replicates"] if here else config["replicates"]
            rows += cell(dimension, noise, config, replicates, job.seed)
    return {"accuracies": pd.DataFrame(rows)}


def cell(
    dimension: int, noise: float, config: Mapping[str, Any], replicates: int, seed: int
) -> Iterator[dict[str, Any]]:
    """All methods at one dimension and noise."""
    name = f"fixed-features-{dimension}-{noise}"
    streams = Streams(seed, "gradient_features", name, range(replicates))
    law = Xor(dimension, noise)
    data = sets(law, config["samples"], streams)
    start = symmetric_start(
        streams("start"), config["neurons"], dimension, config["threshold"] * law.signal_std
    )
    found = {
        "network": network(start, data, config),
        "bayes": {part: optimal(inputs) for part, inputs in data.items()},
    }
    found["linear"] = linear(data)
    for replicate in streams.replicates:
        for method, scores in found.items():
            yield _row(law, method, replicate, *(scores[part][replicate].item() for part in data))
        parts = [Data(inputs.x[replicate], inputs.y[replicate]) for inputs in data.values()]
        own = Network(*(part[replicate : replicate + 1] for part in start))
        for method, kernels in {
            "random features": [random_features(own)],
            "tangent kernel": [tangent(own)],
            "RBF kernel": rbf_kernels(parts[0].x),
        }.items():
            yield _row(law, method, replicate, *ridge(kernels, *parts))


def _row(
    law: Xor, method: str, replicate: int, train: float, validation: float, test: float
) -> dict[str, Any]:
    return {
        "dimension": law.dimension, "noise": law.noise, "method": method, "replicate": replicate,
        "train": train, "validation": validation, "value": test,
    }  # fmt: skip


def optimal(inputs: Sample) -> Tensor:
    """Accuracy of the Bayes classifier: the pair of clusters whose axis is the longer, (R,)."""
    own = inputs.x[..., :2].abs()
    found = torch.where(own[..., 0] > own[..., 1], 1.0, -1.0).to(inputs.y)
    return (found == inputs.y).double().mean(-1)


def network(
    start: Network, given: Mapping[str, Sample], config: Mapping[str, Any]
) -> dict[str, Tensor]:
    """Accuracies (R,) of Algorithm 1 at the step with the smallest validation loss.

    The rate is in units of what keeps the output layer's steps stable.
    """
    data = {part: inputs.to(torch.float32) for part, inputs in given.items()}
    network = scaled_first_step(
        start.to(torch.float32), data["train"], config["threshold"] / MIDDLE
    )
    features = network.features(data["train"].x)
    rate = config["rate"] / features.square().sum(-1).mean().item()
    best = torch.full((len(network.a),), float("inf"))
    found = {part: torch.zeros(len(network.a), dtype=torch.float64) for part in data}
    steps = descend(network, lambda: data["train"], rate, config["steps"], HINGE)
    for step, now in enumerate(steps, 1):
        if step % config["check_every"] and step < config["steps"]:
            continue
        loss = HINGE.mean(now, data["validation"])
        better = loss < best
        best = torch.where(better, loss, best)
        for part, inputs in data.items():
            accuracy = 1 - error(now, inputs).double()
            found[part] = torch.where(better, accuracy, found[part])
    return found

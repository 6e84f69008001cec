"""XOR of four Gaussians over dimension and noise: the network against the panel of baselines.

All get the same inputs: the network reuses its training set in each step, where Algorithm 1 draws a
fresh one. Its step is chosen on validation data, like the penalties of the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.evidence.baselines import with_shuffled_labels
from featlearn.core.seeds import Streams
from featlearn.gradient_features.data import Xor
from featlearn.gradient_features.experiments import scored, sets
from featlearn.gradient_features.law import Sample
from featlearn.gradient_features.model import LOSSES, Network, error, symmetric_start
from featlearn.gradient_features.train import descend, scaled_first_step

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

HINGE = LOSSES["hinge"]
#: Threshold of a neuron in the middle between the origin and a centre, after the first step.
MIDDLE = 0.5


def measure(job: Job) -> Results:
    """Compare network and baselines on XOR: one row a dimension, noise, method, replicate."""
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

    def trained(inputs: Mapping[str, Sample]) -> dict[str, Tensor]:
        return network(start, inputs, config)

    scores = {
        "network": trained(data),
        "bayes": {part: optimal(inputs) for part, inputs in data.items()},
        "shuffled labels": with_shuffled_labels(trained, data, streams("shuffled")),
    }
    return scored("xor-baselines", start, data, streams, scores, dimension=dimension, noise=noise)


def optimal(inputs: Sample) -> Tensor:
    """Accuracy of the Bayes classifier: the pair of clusters whose axis is the longer, (R,)."""
    own = inputs.x[..., :2].abs()
    result = torch.where(own[..., 0] > own[..., 1], 1.0, -1.0).to(inputs.y)
    return (result == inputs.y).double().mean(-1)


def network(
    start: Network, given: Mapping[str, Sample], config: Mapping[str, Any]
) -> dict[str, Tensor]:
    """Accuracies (R,) of Algorithm 1 at the step with the smallest validation loss."""
    data = {part: inputs.to(torch.float32) for part, inputs in given.items()}
    network = scaled_first_step(
        start.to(torch.float32), data["train"], config["threshold"] / MIDDLE
    )
    features = network.features(data["train"].x)
    rate = config["rate"] / features.square().sum(-1).mean().item()
    best = torch.full((len(network.a),), float("inf"))
    result = {part: torch.zeros(len(network.a), dtype=torch.float64) for part in data}
    steps = descend(network, lambda: data["train"], rate, config["steps"], HINGE)
    for step, now in enumerate(steps, 1):
        if step % config["check_every"] and step < config["steps"]:
            continue
        loss = HINGE.mean(now, data["validation"])
        better = loss < best
        best = torch.where(better, loss, best)
        for part, inputs in data.items():
            accuracy = 1 - error(now, inputs).double()
            result[part] = torch.where(better, accuracy, result[part])
    return result

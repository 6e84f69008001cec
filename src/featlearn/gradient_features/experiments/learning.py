"""Algorithm 1 along its steps: on four laws, with a part of the neurons, and without structure.

``curves``: accuracy of the network after a step, on test inputs and on those it learns from; of
parities also on the structured and on the uniform test inputs alone. ``heads``: what the panel of
baselines reaches. ``neurons``, of the structure alone: the first step of every neuron that is no
copy. All steps draw from the training set of the baselines; Algorithm 1 draws fresh inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.errors import FeatlearnError
from featlearn.core.evidence.frames import rows, tidy
from featlearn.core.run.progress import Progress
from featlearn.core.seeds import Streams
from featlearn.gradient_features.cones import alignment, sampling_noise, start_of
from featlearn.gradient_features.data import Parity, law_of
from featlearn.gradient_features.experiments import looks, scored, sets
from featlearn.gradient_features.law import Law, Sample
from featlearn.gradient_features.model import LOSSES, Network
from featlearn.gradient_features.train import descend, scaled_first_step

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

HINGE = LOSSES["hinge"]
#: Steps at which the network is looked at: so many in each power of ten.
LOOKS = 8
#: Keys of a law's settings that are not the law's.
TRAINING = ("samples", "threshold", "middle", "rate", "steps")


def measure(job: Job) -> Results:
    """Follow Algorithm 1 along its steps: curves, the plateau of the parity, lottery tickets."""
    config = job.config
    curves: list[dict[str, Any]] = []
    heads: list[dict[str, Any]] = []
    for name, settings in config["laws"].items():
        own = dict(settings)
        training = {key: own.pop(key) for key in TRAINING}
        law = law_of(name, own)
        chosen = name == config["lottery"]["law"]
        replicates = config["lottery"]["replicates"] if chosen else config["replicates"]
        streams = Streams(job.seed, "gradient_features", f"learning-{name}", range(replicates))
        data = sets(law, config["sets"], streams)
        start, _ = start_of(law, streams("start"), config["neurons"], training["threshold"])
        degrees = (law.block,) if isinstance(law, Parity) else ()
        heads += scored(name, start, data, streams, degrees=degrees, law=name)
        stepped = scaled_first_step(start.to(torch.float32), data["train"].to(torch.float32),
                                    training["threshold"] / training["middle"])  # fmt: skip
        arms = {"network": stepped}
        if chosen:
            arms |= lottery(
                law, stepped, config["lottery"]["gamma"], config["lottery"]["tickets"], streams
            )
        for arm, network in arms.items():
            progress = Progress(f"{job.rule}, {name}, {arm}", training["steps"])
            curves += _curve(law, network, data, training, streams, progress,
                             law=name, arm=arm, neurons=network.a.shape[1])  # fmt: skip
    return {"curves": pd.DataFrame(curves), "heads": pd.DataFrame(heads)}


def structure(job: Job) -> Results:
    """Train by Algorithm 1 on a parity, with its structure and without it (p_A = 0). With p_o = 1/2
    the latter are uniform inputs, on which all networks and heads are tested."""
    config = job.config
    streams = Streams(job.seed, "gradient_features", "structure", range(config["replicates"]))
    size = (config["dimension"], config["block"], 1)
    uniform = Parity(*size, 0.0, config["background"])
    test = uniform.sample(config["sets"]["test"], streams("test"))
    frames: dict[str, list[dict[str, Any]]] = {"curves": [], "heads": []}
    neurons = []
    for arm, share in {"structured": config["structured"], "none": 0.0}.items():
        law = Parity(*size, share, config["background"])
        # a stream gives both arms the same start
        start, own = start_of(law, streams("start"), config["neurons"], config["threshold"])
        data = sets(law, config["sets"], streams, f"{arm}-") | {"test": test}
        wide = data["train"]
        stepped = scaled_first_step(start, wide, config["threshold"] / config["middle"])
        head = Network(*(part[:, :own] for part in start))
        result = law.gradient(head.w, head.b)
        columns = {
            "sampled": alignment(law, stepped.w[:, :own]), "population": alignment(law, result),
            "size": result.norm(dim=-1), "noise": sampling_noise(head, wide, result).sqrt(),
        }  # fmt: skip
        axes = {"arm": [arm], "replicate": streams.replicates, "neuron": range(own)}
        neurons.append(tidy(axes, **columns))
        frames["heads"] += scored(
            "parity", start, data, streams, degrees=(config["block"],), arm=arm
        )
        progress = Progress(f"{job.rule}, {arm}", config["steps"])
        network = stepped.to(torch.float32)
        frames["curves"] += _curve(law, network, data, config, streams, progress, arm=arm)
    tables = {name: pd.DataFrame(own) for name, own in frames.items()}
    return {"neurons": pd.concat(neurons, ignore_index=True), **tables}


def _curve(
    law: Law, network: Network, data: Mapping[str, Sample], training: Mapping[str, Any],
    streams: Streams, progress: Progress, /, **same: Any,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Each step on inputs drawn from the training set, the same for all arms of a law."""
    drawn = streams("steps")
    whole = data["train"].to(torch.float32)
    count, size = whole.x.shape[1], training["samples"]
    rate = training["rate"] / network.features(whole.x[:, :size]).square().sum(-1).mean().item()

    def fresh() -> Sample:
        at = torch.stack([torch.randint(count, (size,), generator=stream) for stream in drawn])
        x = whole.x.gather(1, at[..., None].expand(-1, -1, whole.x.shape[-1]))
        rest = (part.gather(1, at) for part in whole[1:])
        return Sample(x, *rest)._replace(weight=torch.full(at.shape, 1 / size))

    inputs, at = data["test"].to(torch.float32), looks(training["steps"], LOOKS)
    steps = descend(network, fresh, rate, training["steps"], HINGE)
    for step, now in enumerate(steps, 1):
        progress.report(step, dict)
        if step in at:
            right = now(inputs.x).sign() == inputs.y
            for part, chosen in _parts(law, inputs).items():
                share = (right & chosen).sum(1) / chosen.sum(1)
                yield from rows({"value": share}, **same, step=step, part=part)
            fitted = (now(whole.x).sign() == whole.y).double().mean(1)
            yield from rows({"value": fitted}, **same, step=step, part="train")


def _parts(law: Law, inputs: Sample) -> dict[str, Tensor]:
    whole = {"all": torch.ones_like(inputs.y, dtype=torch.bool)}
    if isinstance(law, Parity) and (inputs.component >= 0).any():
        whole |= {"structured": inputs.component >= 0, "uniform": inputs.component < 0}
    return whole


def lottery(
    law: Law, network: Network, gamma: float, tickets: int, streams: Streams
) -> dict[str, Network]:
    """At most so many of the neurons in cones, and as many by chance (Proposition B.1)."""
    result = alignment(law, network.w.double()) > 1 - gamma
    count = min(int(result.sum(1).min()), tickets)
    if not count:
        raise FeatlearnError(
            f"gradient_features.learning.lottery.gamma: {gamma}; in a replicate no neuron is in a "
            "cone of this width after the first step; expected a wider cone, or more inputs"
        )
    order = torch.stack([
        torch.randperm(result.shape[1], generator=stream) for stream in streams("lottery")
    ])  # fmt: skip
    # those in a cone first, each group in the order of chance
    nice = order.gather(1, (~result.gather(1, order)).to(torch.int8).argsort(dim=1, stable=True))
    return {"in cones": network.chosen(nice[:, :count]),
            "by chance": network.chosen(order[:, :count])}  # fmt: skip

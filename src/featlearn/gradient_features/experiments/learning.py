"""Algorithm 1 along its steps: on four laws, on the XOR with a part of the neurons, on a parity
with and without its structure.

``curves``: test accuracy of the network after a step; of parities also on the structured and on
the uniform inputs alone. ``heads``: what a linear classifier and random features of the same start
reach. ``neurons``, of the structure alone: the first step of every neuron that is no copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.errors import FeatlearnError
from featlearn.core.progress import Progress
from featlearn.core.seeds import Streams
from featlearn.gradient_features.baselines import Data, linear, random_features, ridge
from featlearn.gradient_features.cones import alignment, sampling_noise, start_of
from featlearn.gradient_features.data import law_of
from featlearn.gradient_features.experiments.frames import looks, rows, sets
from featlearn.gradient_features.law import Law, Sample
from featlearn.gradient_features.model import LOSSES, Network
from featlearn.gradient_features.parities import Parity
from featlearn.gradient_features.train import descend, scaled_first_step

if TYPE_CHECKING:
    from featlearn.core.job import Job
    from featlearn.core.outputs import Results

HINGE = LOSSES["hinge"]
#: Steps at which the network is looked at: so many in each power of ten.
LOOKS = 8
#: Keys of a law's settings that are not the law's.
TRAINING = ("samples", "threshold", "middle", "rate", "steps")


def measure(job: Job) -> Results:
    """All frames of the experiment."""
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
        heads += [{"law": name, **row} for row in _heads(start, data, streams)]
        wide = law.sample(config["first_samples"], streams("first")).to(torch.float32)
        stepped = scaled_first_step(
            start.to(torch.float32), wide, training["threshold"] / training["middle"]
        )
        arms = {"network": stepped}
        if chosen:
            arms |= lottery(
                law, stepped, config["lottery"]["gamma"], config["lottery"]["tickets"], streams
            )
        for arm, network in arms.items():
            progress = Progress(f"{job.rule}, {name}, {arm}", training["steps"])
            for row in _curve(law, network, data["test"], training, streams, progress):
                curves.append({"law": name, "arm": arm, "neurons": network.a.shape[1], **row})
    return {"curves": pd.DataFrame(curves), "heads": pd.DataFrame(heads)}


def structure(job: Job) -> Results:
    """The same start, first step and later steps with p_A as in the config and with p_A = 0.

    With p_o = 1/2 the latter are uniform inputs, on which all networks and heads are tested.
    """
    config = job.config
    streams = Streams(job.seed, "gradient_features", "structure", range(config["replicates"]))
    size = (config["dimension"], config["block"], 1)
    uniform = Parity(*size, 0.0, config["background"])
    test = uniform.sample(config["sets"]["test"], streams("test"))
    frames: dict[str, list[dict[str, Any]]] = {"neurons": [], "curves": [], "heads": []}
    for arm, share in {"structured": config["structured"], "none": 0.0}.items():
        law = Parity(*size, share, config["background"])
        # a stream gives both arms the same start
        start, own = start_of(law, streams("start"), config["neurons"], config["threshold"])
        wide = law.sample(config["first_samples"], streams(f"{arm}-first"))
        stepped = scaled_first_step(start, wide, config["threshold"] / config["middle"])
        head = Network(*(part[:, :own] for part in start))
        found = law.gradient(head.w, head.b)
        columns = {
            "sampled": alignment(law, stepped.w[:, :own]),
            "population": alignment(law, found),
            "size": found.norm(dim=-1),
            "noise": sampling_noise(head, wide, found).sqrt(),
        }
        for place, replicate in enumerate(streams.replicates):
            for neuron in range(own):
                at = {name: value[place, neuron].item() for name, value in columns.items()}
                frames["neurons"].append(
                    {"arm": arm, "replicate": replicate, "neuron": neuron, **at}
                )
        data = sets(law, config["sets"], streams, f"{arm}-") | {"test": test}
        frames["heads"] += [{"arm": arm, **row} for row in _heads(start, data, streams)]
        progress = Progress(f"{job.rule}, {arm}", config["steps"])
        network = stepped.to(torch.float32)
        for row in _curve(law, network, test, config, streams, progress):
            frames["curves"].append({"arm": arm, **row})
    return {name: pd.DataFrame(own) for name, own in frames.items()}


def _curve(
    law: Law,
    network: Network,
    test: Sample,
    training: Mapping[str, Any],
    streams: Streams,
    progress: Progress,
) -> Iterator[dict[str, Any]]:
    """Fresh inputs each step, the same for all arms of a law."""
    drawn = streams("steps")
    seen = law.sample(training["samples"], streams("rate")).to(torch.float32)
    rate = training["rate"] / network.features(seen.x).square().sum(-1).mean().item()

    def fresh() -> Sample:
        return law.sample(training["samples"], drawn).to(torch.float32)

    inputs, at = test.to(torch.float32), looks(training["steps"], LOOKS)
    steps = descend(network, fresh, rate, training["steps"], HINGE)
    for step, now in enumerate(steps, 1):
        progress.report(step, dict)
        if step in at:
            right = now(inputs.x).sign() == inputs.y
            for part, chosen in _parts(law, inputs).items():
                share = (right & chosen).sum(1) / chosen.sum(1)
                yield from rows(streams, {"step": step, "part": part}, {"value": share})


def _parts(law: Law, inputs: Sample) -> dict[str, Tensor]:
    whole = {"all": torch.ones_like(inputs.y, dtype=torch.bool)}
    if isinstance(law, Parity) and (inputs.component >= 0).any():
        whole |= {"structured": inputs.component >= 0, "uniform": inputs.component < 0}
    return whole


def lottery(
    law: Law, network: Network, gamma: float, tickets: int, streams: Streams
) -> dict[str, Network]:
    """At most so many of the neurons in cones, and as many by chance (Proposition B.1)."""
    found = alignment(law, network.w.double()) > 1 - gamma
    count = min(int(found.sum(1).min()), tickets)
    if not count:
        raise FeatlearnError(
            f"gradient_features.learning.lottery.gamma: {gamma}; in a replicate no neuron is in a "
            "cone of this width after the first step; expected a wider cone, or more first_samples"
        )
    order = torch.stack([
        torch.randperm(found.shape[1], generator=stream) for stream in streams("lottery")
    ])  # fmt: skip
    # those in a cone first, each group in the order of chance
    nice = order.gather(1, (~found.gather(1, order)).to(torch.int8).argsort(dim=1, stable=True))
    return {
        "in cones": network.chosen(nice[:, :count]),
        "by chance": network.chosen(order[:, :count]),
    }


def _heads(
    start: Network, data: Mapping[str, Sample], streams: Streams
) -> Iterator[dict[str, Any]]:
    raw = linear(data)
    for replicate in streams.replicates:
        own = Network(*(part[replicate : replicate + 1] for part in start))
        parts = [Data(inputs.x[replicate], inputs.y[replicate]) for inputs in data.values()]
        scores = {
            "linear": [raw[part][replicate].item() for part in data],
            "random features": ridge([random_features(own)], *parts),
        }
        for method, (train, validation, test) in scores.items():
            yield {"method": method, "replicate": replicate, "train": train,
                   "validation": validation, "value": test}  # fmt: skip

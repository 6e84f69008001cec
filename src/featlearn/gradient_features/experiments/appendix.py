"""Statements of appendix B that have no training of their own.

``drift``: how far weights move in T small steps that together are as long (Lemma B.9).
``alternative``: the parity of a cone in the infinity norm, by one neuron a kink or by several
(Lemma B.64, Theorem B.65). ``fixed``: least hinge loss of bounded features (Proposition 3.23).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch

from featlearn.core.evidence.baselines import least_hinge
from featlearn.core.evidence.frames import rows
from featlearn.core.seeds import Streams
from featlearn.gradient_features import printed
from featlearn.gradient_features.cones import start_of
from featlearn.gradient_features.data import Parity, UniformParity, Xor
from featlearn.gradient_features.law import random_signs
from featlearn.gradient_features.model import LOSSES, Network, error, parity_truth
from featlearn.gradient_features.train import descend, scaled_first_step

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

HINGE = LOSSES["hinge"]


def measure(job: Job) -> Results:
    """Measure the drift of weights, cones in the infinity norm, and features that stay fixed."""
    config = job.config
    streams = Streams(job.seed, "gradient_features", "appendix", range(config["replicates"]))
    return {"drift": pd.DataFrame(drift(config["drift"], streams)),
            "alternative": pd.DataFrame(alternative(config["alternative"], streams)),
            "fixed": pd.DataFrame(fixed(config["fixed"], streams))}  # fmt: skip


def drift(settings: Mapping[str, Any], streams: Streams) -> Iterator[dict[str, Any]]:
    """Largest |w_i^(T) - w_i^(1)| of Algorithm 5, whose population are the inputs drawn; the bounds
    are those of the neuron that comes nearest to its own."""
    law, loss = Xor(settings["dimension"], settings["noise"]), HINGE
    inputs = law.sample(settings["samples"], streams("drift-inputs"))
    start, _ = start_of(law, streams("drift-start"), settings["neurons"], settings["threshold"])
    first = scaled_first_step(start, inputs, 2 * settings["threshold"])
    size = inputs.x.norm(dim=-1).mean(-1)  # B_x1
    rate = settings["length"] / size.mean().item()
    for steps in settings["steps"]:
        last = deque(descend(first, lambda: inputs, rate / steps, steps, loss), maxlen=1).pop()
        moved = (last.w - first.w).norm(dim=-1)
        of = printed.Drift(
            size[:, None], first.a.abs(), first.w.norm(dim=-1), first.b.abs(), rate / steps
        )
        columns = {"value": moved.amax(1), "loss": loss.mean(last, inputs),
                   "printed": (moved / of.as_printed(steps)).amax(1),
                   "corrected": (moved / of.corrected(steps)).amax(1)}  # fmt: skip
        yield from rows(columns, steps=steps)


def good_directions(law: UniformParity, count: int, random: torch.Generator) -> torch.Tensor:
    """Unit gradients of ``count`` starts that are +1 on the block (Lemma B.64), (count, d)."""
    w = random_signs((count, law.dimension), random)
    w[:, : law.block] = 1
    result = law.gradient(w, torch.zeros(count, dtype=w.dtype))
    return result / result.norm(dim=1, keepdim=True) * result[:, :1].sign()


def alternative(settings: Mapping[str, Any], streams: Streams) -> Iterator[dict[str, Any]]:
    """g* of Lemma B.64 with the directions of the first step for D, so many a kink."""
    block = settings["block"]
    for dimension in settings["dimensions"]:
        law = UniformParity(dimension, block)
        truth = parity_truth(law)
        name = f"alternative-{dimension}"
        test = law.sample(settings["test"], streams(f"{name}-test"))
        for copies in settings["copies"]:
            kinks = truth.a.shape[1]
            draws = streams(f"{name}-{copies}")
            w = torch.stack([good_directions(law, kinks * copies, draw) for draw in draws])
            a, b = (part.repeat_interleave(copies, 1).expand(len(w), -1) for part in truth[1:])
            network = Network(w, a / copies, b)
            bound = torch.tensor(printed.infinity_cone_error(dimension, block), dtype=torch.float64)
            lost = HINGE.mean(network, test)
            columns = {"value": lost, "error": error(network, test), "bound": bound.expand_as(lost)}
            yield from rows(columns, dimension=dimension, copies=copies)


def bounded_features(network: Network, x: torch.Tensor) -> torch.Tensor:
    """Features of one network at signs ``x`` (n, d), each over its supremum: (n, M) in [0, 1]."""
    most = network.w[0].abs().sum(1) - network.b[0]  # at x = sign(w)
    return network.features(x[None])[0] / most.clamp_min(torch.finfo(most.dtype).tiny)


def fixed(settings: Mapping[str, Any], streams: Streams) -> Iterator[dict[str, Any]]:
    """Least hinge loss of random features, and of the same after a first step in closed form."""
    width = settings["features"]
    for block in settings["blocks"]:
        law = Parity(16 * block, block, 1, 0.25, 0.5)
        sets = {part: law.sample(settings["samples"][part], streams(f"fixed-{block}-{part}"))
                for part in ("train", "test")}  # fmt: skip
        for place, random in enumerate(streams(f"fixed-{block}-start")):
            w = torch.randn(width, law.dimension, generator=random, dtype=torch.float64)
            a = torch.randn(width, generator=random, dtype=torch.float64)
            b = torch.full_like(a, law.signal_std)
            b[width // 2 :] *= -1
            stepped = a[:, None] * law.gradient(w, b)
            # the threshold of the median neuron lies at .7 of the largest projection
            reach = (stepped @ law.directions[0]).abs().median()
            stepped = stepped * (law.signal_std / (0.7 * reach))
            for arm, weights in {"random": w, "first step": stepped}.items():
                network = Network(weights[None], a[None], b[None])
                seen = {part: bounded_features(network, own.x[place]) for part, own in sets.items()}
                for norm in settings["norms"]:
                    y = sets["train"].y[place]
                    result = least_hinge(seen["train"], y, norm, settings["steps"])
                    margin = sets["test"].y[place] * (seen["test"] @ result.w)
                    yield {
                        "arm": arm, "block": block, "norm": norm,
                        "replicate": streams.replicates[place], "train": result.loss,
                        "certified": result.certified,
                        "value": (1 - margin).clamp_min(0).mean().item(),
                        "bound": printed.fixed_features_loss(block, width, norm),
                    }  # fmt: skip

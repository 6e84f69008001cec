"""The first step on all six laws: who lands in a cone, against the closed forms.

``neurons``: networks before and after a sampled first step, neuron by neuron. ``sure``: closed
forms over the threshold, for all starts and for those that the proofs call sure. ``dimensions``:
the same of the XOR over d.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch

from featlearn.core.evidence.frames import tidy
from featlearn.core.seeds import Streams
from featlearn.gradient_features.cones import (
    alignment,
    cone_of_sure,
    sampling_noise,
    start_of,
    sure_event,
    sure_weights,
    xor_ratio,
)
from featlearn.gradient_features.data import Xor, law_of
from featlearn.gradient_features.law import Law, reduced_weights
from featlearn.gradient_features.model import LOSSES
from featlearn.gradient_features.train import first_step

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

#: Rate of the first step: only its product with a is in W, so any will do.
RATE = 1.0
#: Laws whose proofs have sure starts.
SURE = ("mixture", "xor", "parity", "parity_blocks")


def measure(job: Job) -> Results:
    """Set the first step on all laws against closed forms: hit probability, width, size."""
    config = job.config
    streams = Streams(job.seed, "gradient_features", "cones", range(config["replicates"]))
    parts: dict[str, list[pd.DataFrame]] = {"neurons": [], "sure": []}
    for name, settings in config["laws"].items():
        own = dict(settings)
        samples, ratio = own.pop("samples"), own.pop("threshold", 0.0)
        law = law_of(name, own)
        parts["neurons"].append(neurons(name, law, samples, ratio, config["neurons"], streams))
        if name in SURE:
            parts["sure"].append(
                pd.DataFrame(sure(name, law, config["sure"], config["gamma"], streams))
            )
    noise = config["laws"]["xor"]["noise"]
    return {
        **{name: pd.concat(frames, ignore_index=True) for name, frames in parts.items()},
        "dimensions": pd.DataFrame(dimensions(config["dimensions"], noise, streams)),
    }


def neurons(
    name: str, law: Law, samples: int, ratio: float, count: int, streams: Streams
) -> pd.DataFrame:
    """Alignment and size of every neuron that is no copy: at the start, after a sampled first step,
    in closed form, and in closed form with the noise of the sample."""
    network, own = start_of(law, streams(f"{name}-start"), count, ratio)
    inputs = law.sample(samples, streams(f"{name}-inputs"))
    loss, slope = ("square", 2.0) if name == "multi_index" else ("hinge", 1.0)
    stepped = first_step(network, inputs, RATE, LOSSES[loss])
    head = type(network)(network.w[:, :own], network.a[:, :own], network.b[:, :own])
    sampled = stepped.w[:, :own] / (RATE * slope * head.a[..., None])
    result = law.gradient(head.w, head.b)
    size = result.norm(dim=-1)
    noise = sampling_noise(head, inputs, result)
    cosine = alignment(law, result)
    columns = {
        "start": alignment(law, head.w),
        "sampled": alignment(law, sampled),
        "population": cosine,
        # of a neuron that no input activates 0
        "predicted": cosine * size / (size.square() + noise).sqrt().clamp_min(1e-300),
        "sampled_size": sampled.norm(dim=-1) / law.size,
        "size": size / law.size,
        "noise": noise / law.size**2,
    }
    axes = {"law": [name], "replicate": streams.replicates, "neuron": range(own)}
    return tidy(axes, **columns)


def sure(
    name: str, law: Law, settings: Mapping[str, Any], gamma: float, streams: Streams
) -> Iterator[dict[str, Any]]:
    """Over the threshold: the share of all starts in a cone, sure starts, and their partners (the
    neurons -w, -b of the second group)."""
    for ratio in settings["ratios"]:
        draws = zip(streams.replicates, streams(f"{name}-sure-{ratio}"), strict=True)
        for replicate, stream in draws:
            w = reduced_weights(law, settings["draws"], stream)
            threshold = torch.full((len(w),), ratio * law.signal_std, dtype=w.dtype)
            result = law.reduced().gradient(w, threshold)
            hit = alignment(law, result) > 1 - gamma
            large = result.norm(dim=1) >= law.size / 2
            chosen = sure_weights(law, ratio, len(w), stream)
            off, size = cone_of_sure(law, ratio, chosen)
            partner = alignment(law, law.reduced().gradient(-chosen, -threshold))
            yield {
                "law": name, "ratio": ratio, "replicate": replicate,
                "hit": (hit & large).double().mean().item(),
                "probability": sure_event(law, ratio).probability,
                "sure_hit": (off < gamma).double().mean().item(),
                "partner_hit": (partner > 1 - gamma).double().mean().item(),
                "sure_size": (size / law.size).median().item(),
            }  # fmt: skip


def dimensions(
    settings: Mapping[str, Any], noise: float, streams: Streams
) -> Iterator[dict[str, Any]]:
    """Sure starts of the XOR at the lemma's own threshold, over the dimension."""
    for dimension in settings["values"]:
        law = Xor(dimension, noise)
        ratio = xor_ratio(dimension, noise)
        gamma = noise / dimension**0.5
        draws = zip(streams.replicates, streams(f"dimension-{dimension}"), strict=True)
        for replicate, stream in draws:
            off, size = cone_of_sure(
                law, ratio, sure_weights(law, ratio, settings["draws"], stream)
            )
            yield {
                "dimension": dimension, "replicate": replicate, "gamma": gamma,
                "in_cone": (off < gamma).double().mean().item(), "off": off.median().item(),
                "size": (size / law.size).median().item(),
                "probability": sure_event(law, ratio).probability,
            }  # fmt: skip

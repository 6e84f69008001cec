"""Lemmas on the way to the theorems, on neurons of the first step in closed form.

``nice``: how often a network lacks nice neurons, over m (Lemma 3.13). ``existence``: the network
that Lemma 3.14 builds, over m, on the XOR and on a mixture. ``activation``: how often sure neurons
are active, by component of the data (Lemmas B.32, B.39, B.49). ``tails``: of a parity (B.422).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch

from featlearn.core.errors import FeatlearnError
from featlearn.core.seeds import Streams
from featlearn.gradient_features import existence as built
from featlearn.gradient_features.cones import activation, background_tail, sure_weights
from featlearn.gradient_features.data import GaussianMixture, Parity, law_of
from featlearn.gradient_features.model import LOSSES, error, mixture_truth

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

HINGE = LOSSES["hinge"]


def measure(job: Job) -> Results:
    """Check the lemmas on nice neurons, the network built of them, and activation."""
    config = job.config
    streams = Streams(job.seed, "gradient_features", "lemmas", range(config["replicates"]))
    law, mixture = (law_of(name, config[name]) for name in ("xor", "mixture"))
    assert isinstance(law, GaussianMixture)
    assert isinstance(mixture, GaussianMixture)
    own = config["existence"]
    built_of = [*existence("xor", law, own, streams),
                *existence("mixture", mixture, {**own, **own["mixture"]}, streams)]  # fmt: skip
    rows: list[dict[str, Any]] = []
    for name, settings in config["activation"]["laws"].items():
        rows += activations(name, settings, config["activation"], streams)
    return {"nice": pd.DataFrame(nice(law, config["nice"], streams)),
            "existence": pd.DataFrame(built_of), "activation": pd.DataFrame(rows),
            "tails": pd.DataFrame(tails(config["tails"]))}  # fmt: skip


def nice(
    law: GaussianMixture, settings: Mapping[str, Any], streams: Streams
) -> Iterator[dict[str, Any]]:
    """Share of networks in which a cluster has fewer than m p / 4 nice neurons."""
    gamma, least, most = settings["gamma"], law.size / 2, max(settings["neurons"])
    for replicate, stream in zip(streams.replicates, streams("nice"), strict=True):
        drawn = built.draw(law, settings["threshold"], settings["networks"] * most, stream)
        p = _hit(law, drawn, gamma, least, "nice", settings)
        result = built.nice(law, drawn, gamma, least).view(settings["networks"], most, -1)
        for neurons in settings["neurons"]:
            hits = neurons * p
            lacking = (result[:, :neurons].sum(1) < hits / 4).any(-1)
            yield {
                "neurons": neurons, "hits": hits, "replicate": replicate,
                "value": lacking.double().mean().item(),
                "bound": 2 * result.shape[-1] * math.exp(-built.CHERNOFF * hits),
            }  # fmt: skip


def _hit(
    law: GaussianMixture, drawn: built.Neurons, gamma: float, least: float, section: str,
    settings: Mapping[str, Any],
) -> float:  # fmt: skip
    """p of the lemmas, which say nothing where it is 0."""
    p = built.hit_probability(law, drawn, gamma, least)
    if not p:
        raise FeatlearnError(
            f"gradient_features.lemmas.{section}: none of {len(drawn.a)} starts with threshold "
            f"{settings['threshold']} lies in a cone of gamma {gamma}, {type(law).__name__}; "
            "expected a lower threshold, a wider cone or more neurons"
        )
    return p


def existence(
    name: str, law: GaussianMixture, settings: Mapping[str, Any], streams: Streams
) -> Iterator[dict[str, Any]]:
    """The network of Lemma 3.14 against its comparator g*, whose margin is the largest allowed."""
    own = "" if name == "xor" else f"{name}-"  # streams of the XOR came first
    ratio, gamma, least = settings["threshold"], settings["gamma"], law.size / 2
    margin = law.signal_std / 4
    of, truth = built.bounds(law, margin, least), mixture_truth(law, margin)
    drawn = zip(
        streams.replicates, streams(f"{own}existence-start"), streams(f"{own}existence-test"),
        strict=True,
    )  # fmt: skip
    for place, (replicate, start, unseen) in enumerate(drawn):
        neurons = built.draw(law, ratio, max(settings["neurons"]), start)
        p = _hit(law, neurons, gamma, least, "existence", settings)
        test = law.sample(settings["test"], [unseen])
        wanted = truth(test.x)
        for count in settings["neurons"]:
            part = built.Neurons(*(each[:count] for each in neurons))
            rest = streams(f"{own}existence-{count}")[place]
            result = built.good_network(law, part, ratio, gamma, of, count * p, rest)
            yield {
                "law": name, "neurons": count, "hits": count * p, "replicate": replicate,
                "used": result.a.shape[1], "value": (result(test.x) - wanted).abs().mean().item(),
                "excess": (HINGE.mean(result, test) - HINGE.mean(truth, test)).item(),
                "loss": HINGE.mean(result, test).item(), "error": error(result, test).item(),
                "bound": of.excess(count * p, gamma),
            }  # fmt: skip


def activations(
    name: str, law_settings: Mapping[str, Any], settings: Mapping[str, Any], streams: Streams
) -> Iterator[dict[str, Any]]:
    """Mean probability of sure neurons to be active on their own and on each other component."""
    law = law_of(name, law_settings)
    for ratio in settings["ratios"]:
        draws = zip(streams.replicates, streams(f"{name}-activation-{ratio}"), strict=True)
        for replicate, stream in draws:
            w = sure_weights(law, ratio, settings["draws"], stream)
            b = torch.full((len(w),), ratio * law.signal_std, dtype=w.dtype)
            active = activation(law.reduced(), w, b).mean(0)
            # the first component of a parity are its uniform inputs
            own = int(isinstance(law, Parity))
            columns = {"own": active[own], "others": active[own + 1 :].max()}
            if own:
                columns["uniform"] = active[0]
            for component, value in columns.items():
                yield {"law": name, "ratio": ratio, "component": component,
                       "replicate": replicate, "value": value.item()}  # fmt: skip


def tails(settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Exact tails of the background, whose variance is that of the block, r k, at each d."""
    block = settings["block"]
    deviations = torch.tensor(settings["deviations"], dtype=torch.float64)
    for dimension in settings["dimensions"]:
        law = Parity(dimension, block, 1, 0.0, block / (2 * (dimension - block)))
        result = background_tail(law, deviations * math.sqrt(block))
        for deviation, value in zip(settings["deviations"], result.tolist(), strict=True):
            yield {"dimension": dimension, "deviation": deviation, "value": value,
                   "gaussian": math.log(2) - deviation**2 / 2}  # fmt: skip

"""Fine-tuning of many networks at once, with and without the contrastive loss (section 7.3.3).

``mean_n cross-entropy(head(encoder(x_n)), y_n) + weight * contrastive loss`` of two views of the
labelled samples (the thesis' "Ours", equation 7.9); weight 0 is fine-tuning. Networks are those of
each number of labels, of each pre-training, of each replicate: P = labels x spans x R.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from featlearn.core.evidence.frames import rows
from featlearn.core.files import below
from featlearn.universality.data import World, noise_of, seen
from featlearn.universality.labelled import Labelled
from featlearn.universality.methods import MoCo, Weights, repeated, unit
from featlearn.universality.training import descend


def resumed(state: Mapping[str, Tensor], times: int = 1) -> MoCo:
    """MoCo as it came out of a pre-training, with momentum encoders and queue.

    ``state``: ``encoder/*``, ``slow/*`` and ``queue``, of spans x R networks, repeated ``times``.
    """
    weights = repeated(below("encoder", state), times)
    method = MoCo(weights, 0.2, [torch.Generator()] * len(weights["last"]))
    method.slow = repeated(below("slow", state), times)
    method.queue = [state["queue"].repeat(times, 1, 1)]
    return method


def with_untrained(
    state: Mapping[str, Tensor], begun: Weights, random: Sequence[torch.Generator]
) -> Weights:
    """The networks of ``state`` behind R at their start, which have a random queue."""
    shape = state["queue"].shape[1:]
    queue = unit(torch.stack([torch.randn(shape, generator=own) for own in random]))
    first = {f"{part}/{key}": value for part in ("encoder", "slow") for key, value in begun.items()}
    first["queue"] = queue
    return {key: torch.cat([first[key], value]) for key, value in state.items()}


def spread(parts: Sequence[Tensor], spans: int) -> Tensor:
    """(R, ...) of each number of labels, to P."""
    return torch.cat([part.repeat(spans, *[1] * (part.dim() - 1)) for part in parts])


def batches(
    world: World, target: Labelled, labels: Sequence[int], spans: int, batch: int,
    random: Sequence[torch.Generator], views: int,
) -> Iterator[tuple[Tensor, ...]]:  # fmt: skip
    """Classes (P, n) and views (P, n, d) of labelled samples; spurious features are new."""
    rows = torch.arange(len(random))[:, None]
    tasks = torch.zeros(batch, dtype=torch.long)
    while True:
        place = torch.stack([torch.rand(batch, generator=own) for own in random])
        noise = [noise_of(world, batch, random) for _ in range(views)]
        drawn = [(place * count).long() for count in labels]
        latents = [tuple(part[rows, own] for part in target.latent) for own in drawn]
        seen_as = [spread([seen(world, (one[0], one[1]), tasks, own) for one in latents], spans)
                   for own in noise]  # fmt: skip
        yield spread([target.classes[rows, own] for own in drawn], spans), *seen_as


def tune(
    method: MoCo, classes: int, weight: float, stream: Iterator[tuple[Tensor, ...]], steps: int,
    rate: float,
) -> Weights:  # fmt: skip
    """Train encoders and linear heads in place.

    ``weight``: ``lambda``; with 0 ``stream`` gives one view, and two otherwise. Returns dict:
    ``weight`` (P, classes, width) and ``bias`` (P, 1, classes) of the heads, which start at 0.
    """
    count, width = method.weights["last"].shape[:2]
    head = {"weight": torch.zeros(count, classes, width), "bias": torch.zeros(count, 1, classes)}

    def loss(y: Tensor, *views: Tensor) -> Tensor:
        features = [method.encode(view) for view in views]
        scores = torch.baddbmm(head["bias"], features[0], head["weight"].mT)
        own = scores.gather(-1, y[..., None]).squeeze(-1)
        supervised = (scores.logsumexp(-1) - own).mean(-1)
        if not weight:
            return supervised
        both = (features[0], features[1])
        return supervised + weight * method.judged(both, (views[0], views[1]))

    if not weight:
        method.slow = {}  # nothing follows the encoder
    descend(method, loss, stream, steps, rate, more=list(head.values()))
    return head


def scores(method: MoCo, head: Weights, x: Tensor) -> Tensor:
    """(P, n, classes) of views (P, n, d)."""
    return torch.baddbmm(head["bias"], method.encode(x), head["weight"].mT)


def accuracies(
    method: MoCo, head: Weights, parts: Mapping[str, tuple[Tensor, Tensor]], labels: Sequence[int],
    spans: Sequence[int],
) -> list[dict[str, Any]]:  # fmt: skip
    """Rows of test and training accuracies on the target, by labels, mixture and replicate.

    ``parts``: views (R, n, d) and classes (R, n) by part. ``labels``, ``spans``: of the P networks.
    """
    right = {}
    for part in ("train", "test"):
        x, y = (spread([own] * len(labels), len(spans)) for own in parts[part])
        hits = (scores(method, head, x).argmax(-1) == y).float()
        right[part] = hits.reshape(len(labels), len(spans), -1, hits.shape[-1])
    told: list[dict[str, Any]] = []
    for place, number in enumerate(labels):
        for at, mixture in enumerate(spans):
            both = {"value": right["test"][place, at].mean(-1),
                    "training": right["train"][place, at, :, :number].mean(-1)}  # fmt: skip
            told += rows(both, mixture=mixture, task=0, labels=number)
    return told

"""Fine-tuning of many networks at once, with and without the contrastive loss (section 7.4).

``mean_n cross-entropy(head(encoder(x_n)), y_n) + weight * contrastive loss`` of two views of the
labelled samples (the thesis' "Ours", equation 7.9); weight 0 is fine-tuning. Networks are those of
each number of labels, of each pre-training, of each replicate: P = labels x spans x R.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor

from featlearn.universality.data import World, noise_of, seen
from featlearn.universality.labelled import Labelled
from featlearn.universality.methods import MoCo, Weights, encode
from featlearn.universality.training import descend


def part_of(state: Mapping[str, Tensor], part: str) -> Weights:
    """The tensors ``part/*`` of a state, by what follows."""
    start = f"{part}/"
    return {key.removeprefix(start): own for key, own in state.items() if key.startswith(start)}


def resumed(state: Mapping[str, Tensor], times: int = 1) -> MoCo:
    """MoCo as it came out of a pre-training, with momentum encoders and queue.

    Parameters
    ----------
    state
        ``encoder/*``, ``slow/*`` and ``queue``, of spans x R networks.
    times
        How often all of them are repeated.
    """

    def part(name: str) -> Weights:
        own = part_of(state, name)
        return {key: value.repeat(times, 1, 1).clone() for key, value in own.items()}

    weights = part("encoder")
    method = MoCo(weights, 0.2, [torch.Generator()] * len(weights["last"]))
    method.slow = part("slow")
    method.queue = [state["queue"].repeat(times, 1, 1)]
    return method


def batches(
    world: World,
    target: Labelled,
    labels: Sequence[int],
    spans: int,
    batch: int,
    random: Sequence[torch.Generator],
    views: int,
) -> Iterator[tuple[Tensor, ...]]:
    """Classes (P, n) and views (P, n, d) of labelled samples; spurious features are new."""
    rows = torch.arange(len(random))[:, None]
    tasks = torch.zeros(batch, dtype=torch.long)

    def spread(parts: list[Tensor]) -> Tensor:
        """(R, ...) of each number of labels, to P."""
        return torch.cat([part.repeat(spans, *[1] * (part.dim() - 1)) for part in parts])

    while True:
        place = torch.stack([torch.rand(batch, generator=own) for own in random])
        noise = [noise_of(world, batch, random) for _ in range(views)]
        drawn = [(place * count).long() for count in labels]
        latents = [tuple(part[rows, own] for part in target.latent) for own in drawn]
        seen_as = [spread([seen(world, (one[0], one[1]), tasks, own) for one in latents])
                   for own in noise]  # fmt: skip
        yield spread([target.classes[rows, own] for own in drawn]), *seen_as


def tune(
    method: MoCo,
    classes: int,
    weight: float,
    stream: Iterator[tuple[Tensor, ...]],
    steps: int,
    rate: float,
) -> Weights:
    """Train encoders and linear heads in place.

    Parameters
    ----------
    weight
        ``lambda``; with 0 ``stream`` gives one view, and two otherwise.

    Returns
    -------
    dict
        ``weight`` (P, classes, width) and ``bias`` (P, 1, classes) of the heads, which start at 0.
    """
    count, width = method.weights["last"].shape[:2]
    head = {"weight": torch.zeros(count, classes, width), "bias": torch.zeros(count, 1, classes)}

    def loss(y: Tensor, *views: Tensor) -> Tensor:
        features = [encode(method.weights, view) for view in views]
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
    return torch.baddbmm(head["bias"], encode(method.weights, x), head["weight"].mT)

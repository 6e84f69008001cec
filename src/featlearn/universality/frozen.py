"""Features of a frozen encoder for a folder of pictures, and of networks of the run for vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from featlearn.core.errors import ConfigError
from featlearn.core.seeds import generator, seeded
from featlearn.images.augment import Augment
from featlearn.images.datasets import ImageSet, open_splits
from featlearn.images.draws import Draws
from featlearn.images.encoders import build_encoder
from featlearn.images.features import extract
from featlearn.images.weights import load_weights
from featlearn.universality.adapters import Cached
from featlearn.universality.data import noise_of, seen
from featlearn.universality.labelled import Scene
from featlearn.universality.methods import Weights, encode


def of_vectors(drawn: Scene, weights: Weights, task: int, copies: int, classes: int) -> Cached:
    """Of one task of a world; an augmented copy draws the spurious features anew."""
    own = drawn.tasks[task]
    which = torch.full((own["train"].classes.shape[1],), task)
    random = drawn.streams(f"copies-{task}")
    views = [
        encode(weights, seen(drawn.world, own["train"].latent, which,
                             noise_of(drawn.world, len(which), random)))
        for _ in range(copies)
    ]  # fmt: skip
    parts = {part: (encode(weights, one.views), one.classes) for part, one in own.items()}
    return Cached(torch.stack(views, 1), parts, classes)


def of_pictures(
    model: Mapping[str, Any],
    target: str,
    copies: int,
    replicates: int,
    seed: int,
    cache: str,
    device: torch.device | str = "cpu",
) -> Cached:
    """Of a data set on disk, through an encoder with weights from a file.

    Replicates deal the training images out in another order, stratified, so that few labels differ.

    Parameters
    ----------
    model
        ``encoder`` and ``weights`` (see :func:`featlearn.images.weights.load_weights`; ``folder``
        where named weights lie), ``targets`` (``data`` groups), ``augmentation``.
    """
    data = model["targets"][target]
    splits = open_splits(data, cache, seed, "universality", "foundation")
    for role in ("validation", "test"):
        if role not in splits:
            raise ConfigError(
                f"universality.foundation: {target}: expected a {role} split, got none"
            )
    with seeded(seed, "universality", "foundation", "start"):
        encoder = build_encoder(model["encoder"], int(splits["train"].images.shape[-1]))
    load_weights(encoder, model["weights"], model.get("folder"), model.get("may_differ") or ())
    augment = Augment(model["augmentation"])
    plain = {part: extract(encoder, own.images, augment.plain(), device=device)
             for part, own in splits.items()}  # fmt: skip
    train = splits["train"]
    views = [_copy(train, encoder, augment, device, (seed, "universality", "copy", number))
             for number in range(copies)]  # fmt: skip
    orders = [
        dealt(train.labels, generator(seed, "universality", "foundation", one, "order"))
        for one in range(replicates)
    ]
    every = torch.stack(views)
    parts = {
        part: (x.expand(replicates, -1, -1), splits[part].labels.expand(replicates, -1))
        for part, x in plain.items()
    }
    parts["train"] = (torch.stack([plain["train"][order] for order in orders]),
                      torch.stack([train.labels[order] for order in orders]))  # fmt: skip
    return Cached(torch.stack([every[:, order] for order in orders]), parts, len(train.classes))


def dealt(labels: Tensor, random: torch.Generator) -> Tensor:
    """A random order of samples whose first ones hold the classes as evenly as they can."""
    order = torch.randperm(len(labels), generator=random)
    mine = torch.nn.functional.one_hot(labels[order]).cumsum(0)
    turn = mine.gather(1, labels[order][:, None]).squeeze(1)  # the how-manieth of its class
    return order[turn.argsort(stable=True)]


def _copy(
    images: ImageSet,
    encoder: torch.nn.Module,
    augment: Augment,
    device: torch.device | str,
    name: tuple[object, ...],
) -> Tensor:
    """Features (n, width) of one augmented copy."""

    def changed(part: Tensor, draws: Draws) -> Tensor:
        return augment(part, Draws(name, draws.step, draws.size))

    return extract(encoder, images.images, changed, device=device)

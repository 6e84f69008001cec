"""Features of a frozen encoder for pictures or texts, and of networks of the run for vectors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from featlearn.core.errors import ConfigError
from featlearn.core.seeds import generator, seeded
from featlearn.images.augment import Augment
from featlearn.images.datasets import ImageSet, open_splits
from featlearn.images.draws import Draws
from featlearn.images.encoders import build_encoder
from featlearn.images.encoders.base import Encoder
from featlearn.images.features import extract
from featlearn.images.others import LIBRARIES, Borrowed
from featlearn.images.weights import load_weights
from featlearn.transformers.folder import load_encoder
from featlearn.transformers.sentences import features
from featlearn.universality.adapters import Cached
from featlearn.universality.data import noise_of, seen
from featlearn.universality.labelled import PARTS, Scene
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


def of_files(
    model: Mapping[str, Any],
    target: str,
    copies: int,
    deals: int,
    seed: int,
    cache: str,
    device: torch.device | str = "cpu",
) -> Cached:
    """Of pictures or texts on disk, through an encoder with weights from a file.

    Replicates deal the training samples out in another order, stratified: few labels differ.

    Parameters
    ----------
    model
        ``encoder`` and ``weights`` (see :func:`featlearn.images.weights.load_weights`; ``folder``
        where named weights lie), ``targets`` (``data`` groups), ``augmentation``. An encoder of the
        kind ``timm`` or ``torchvision`` is that library's network of this ``name``; one of the kind
        ``text`` has a folder for ``weights``, and its targets are read by :func:`read_texts`.
    deals
        Number of replicates.
    """
    read = _texts if model["encoder"]["kind"] == "text" else _pictures
    parts, views, classes = read(model, target, copies, seed, cache, device)
    x, y = parts["train"]
    orders = [
        dealt(y, generator(seed, "universality", "foundation", one, "order"))
        for one in range(deals)
    ]
    dealt_parts = {part: (own.expand(deals, -1, -1), labels.expand(deals, -1))
                   for part, (own, labels) in parts.items()}  # fmt: skip
    dealt_parts["train"] = (torch.stack([x[order] for order in orders]),
                            torch.stack([y[order] for order in orders]))  # fmt: skip
    return Cached(torch.stack([views[:, order] for order in orders]), dealt_parts, classes)


#: Features (n, width) and classes (n,) of each part, features of the copies (N, n, width), classes.
Read = tuple[dict[str, tuple[Tensor, Tensor]], Tensor, int]


def _pictures(
    model: Mapping[str, Any],
    target: str,
    copies: int,
    seed: int,
    cache: str,
    device: torch.device | str,
) -> Read:
    splits = open_splits(model["targets"][target], cache, seed, "universality", "foundation")
    for role in ("validation", "test"):
        if role not in splits:
            raise ConfigError(
                f"universality.foundation: {target}: expected a {role} split, got none"
            )
    kind, size = model["encoder"]["kind"], int(splits["train"].images.shape[-1])
    with seeded(seed, "universality", "foundation", "start"):
        if kind in LIBRARIES:
            encoder: Encoder = Borrowed(f"{kind}:{model['encoder']['name']}", size)
        else:
            encoder = build_encoder(model["encoder"], size)
    load_weights(encoder, model["weights"], model.get("folder"), model.get("may_differ") or ())
    augment = Augment(model["augmentation"])
    parts = {part: (extract(encoder, own.images, augment.plain(), device=device), own.labels)
             for part, own in splits.items()}  # fmt: skip
    train = splits["train"]
    views = [_copy(train, encoder, augment, device, (seed, "universality", "copy", number))
             for number in range(copies)]  # fmt: skip
    return parts, torch.stack(views), len(train.classes)


def _texts(
    model: Mapping[str, Any],
    target: str,
    copies: int,
    seed: int,
    cache: str,
    device: torch.device | str,
) -> Read:
    found = read_texts(model["targets"][target]["path"])
    loaded = load_encoder(Path(model["weights"]))
    parts = {part: (features(loaded, own, device), labels) for part, (own, labels) in found.items()}
    train = found["train"][0]
    views = [features(loaded, train, device, (seed, "universality", "copy", number))
             for number in range(copies)]  # fmt: skip
    return parts, torch.stack(views), 1 + max(int(labels.max()) for _, labels in parts.values())


def read_texts(folder: str) -> dict[str, tuple[list[str], Tensor]]:
    """Texts and classes of ``train.jsonl``, ``validation.jsonl`` and ``test.jsonl`` of a folder.

    A line is an object with ``text`` and ``label``, 0 for the first class.

    Raises
    ------
    ConfigError
        If a file is missing, or a line is another.
    """
    found = {}
    for part in PARTS:
        file = Path(folder).expanduser() / f"{part}.jsonl"
        try:
            rows = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line]
            labels = torch.tensor([int(row["label"]) for row in rows])
            found[part] = ([str(row["text"]) for row in rows], labels)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigError(f"{file}: {error}; expected lines with text and label") from error
        if not rows or min(labels) < 0:
            raise ConfigError(f"{file}: expected texts, with labels from 0 on")
    return found


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

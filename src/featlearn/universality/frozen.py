"""Features of a frozen encoder for pictures or texts, and of networks of the run for vectors."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from featlearn.core.errors import ConfigError
from featlearn.core.seeds import generator, seeded
from featlearn.images.augment import Augment
from featlearn.images.data.datasets import ImageSet, open_splits
from featlearn.images.encoders import build_encoder
from featlearn.images.encoders.base import Encoder
from featlearn.images.pretrained import LIBRARIES, Borrowed
from featlearn.images.rng import Draws
from featlearn.images.train.features import extract
from featlearn.images.weights import load_weights
from featlearn.transformers.folder import load_encoder
from featlearn.transformers.sentences import LONGEST, features
from featlearn.universality.adapters import Cached
from featlearn.universality.data import noise_of, seen
from featlearn.universality.labelled import PARTS, Scene
from featlearn.universality.methods import Weights, encode, hidden_layer, start
from featlearn.universality.words import RANDOM, RAW, UNTRAINED

#: Pixels a side, at most, of the raw input that a probe reads; most frequent tokens of texts.
SIDE, TOKENS = 16, 1000
#: Random features of the raw input.
NEURONS = 512


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


def floors_of_vectors(drawn: Scene, task: int, hidden: int, out: int) -> dict[str, Any]:
    """What learns nothing: the raw input, random features, and networks at their start."""
    own, width = drawn.tasks[task], drawn.world.width
    wide = start(width, hidden, 1, drawn.streams("start-random"))
    begun = start(width, hidden, out, drawn.streams(f"start-{out}"))
    return {RAW: {part: one.views for part, one in own.items()},
            RANDOM: {part: hidden_layer(wide, one.views) for part, one in own.items()},
            UNTRAINED: {part: encode(begun, one.views) for part, one in own.items()}}  # fmt: skip


def of_files(
    model: Mapping[str, Any], target: str, copies: int, deals: int, seed: int, cache: str,
    device: torch.device | str = "cpu",
) -> Cached:  # fmt: skip
    """Of pictures or texts on disk, through an encoder with weights from a file.

    Replicates deal the training samples out in another order, stratified. ``model``: ``encoder``
    and ``weights`` (see :func:`featlearn.images.weights.load_weights`; ``folder`` where named
    weights lie), ``targets`` (``data`` groups), ``augmentation``. The kind ``timm`` or
    ``torchvision`` is a network of this ``name``, pooled as by timm or ``pooling: mean``; of the
    kind ``text`` ``weights`` are a folder (:func:`read_texts`). ``deals``: number of replicates.
    """
    read = _texts if model["encoder"]["kind"] == "text" else _pictures
    found = read(model, target, copies, seed, cache, device)
    parts = found.parts
    x, y = parts["train"]
    orders = [dealt(y, generator(seed, "universality", "foundation", one, "order"))
              for one in range(deals)]  # fmt: skip
    dealt_parts = {part: (own.expand(deals, -1, -1), labels.expand(deals, -1))
                   for part, (own, labels) in parts.items()}  # fmt: skip
    dealt_parts["train"] = (torch.stack([x[order] for order in orders]),
                            torch.stack([y[order] for order in orders]))  # fmt: skip
    views = torch.stack([found.views[:, order] for order in orders])
    floors = {}
    for name, own in _floors(found, generator(seed, "universality", "foundation", RANDOM)).items():
        floors[name] = {part: features.expand(deals, -1, -1) for part, features in own.items()}
        floors[name]["train"] = torch.stack([own["train"][order] for order in orders])
    return Cached(views, dealt_parts, found.classes, floors)


class Read(NamedTuple):
    """What an encoder makes of a data set."""

    parts: dict[str, tuple[Tensor, Tensor]]  #: features (n, width) and classes (n,)
    views: Tensor  #: features of the copies (N, n, width)
    classes: int
    raw: dict[str, Tensor]  #: the input itself, (n, pixels) or (n, tokens)
    untrained: dict[str, Tensor]  #: features of the encoder with random weights


def _floors(found: Read, random: torch.Generator) -> dict[str, dict[str, Tensor]]:
    """Each scaled by its training samples; pixels by one spread, for some never change."""
    mean, spread = found.raw["train"].mean(0), found.raw["train"].std(0)
    raw = {part: (x - mean) / spread.square().mean().sqrt().clamp_min(1e-6)
           for part, x in found.raw.items()}  # fmt: skip
    width = raw["train"].shape[1]
    directions = torch.randn(width, NEURONS, generator=random) / width**0.5
    x = found.untrained["train"]
    mean, spread = x.mean(0), x.std(0).clamp_min(1e-6)
    return {RAW: raw, RANDOM: {part: torch.relu(own @ directions) for part, own in raw.items()},
            UNTRAINED: {part: (own - mean) / spread
                        for part, own in found.untrained.items()}}  # fmt: skip


def _pixels(images: Tensor) -> Tensor:
    """Pictures (n, 3, S, S) as rows of means over at most :data:`SIDE` x :data:`SIDE` places."""
    side = min(SIDE, images.shape[-1])
    small = [functional.adaptive_avg_pool2d(part.float() / 255, side).flatten(1)
             for part in torch.split(images, 1024)]  # fmt: skip
    return torch.cat(small)


def _pictures(
    model: Mapping[str, Any], target: str, copies: int, seed: int, cache: str,
    device: torch.device | str,
) -> Read:  # fmt: skip
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
    own_pooling = kind == "timm" and model["encoder"].get("pooling", "own") == "own"
    outputs = encoder.core if own_pooling else encoder
    augment = Augment(model["augmentation"])

    def plain(part: ImageSet) -> Tensor:
        return extract(encoder, part.images, augment.plain(), outputs=outputs, device=device)

    untrained = {part: plain(own) for part, own in splits.items()}
    load_weights(encoder, model["weights"], model.get("folder"), model.get("may_differ") or ())
    parts = {part: (plain(own), own.labels) for part, own in splits.items()}
    train = splits["train"]

    def copy(number: int) -> Tensor:
        def changed(part: Tensor, draws: Draws) -> Tensor:
            name = (seed, "universality", "copy", number)
            return augment(part, Draws(name, draws.step, draws.size))

        return extract(encoder, train.images, changed, outputs=outputs, device=device)

    views = torch.stack([copy(number) for number in range(copies)])
    raw = {part: _pixels(own.images) for part, own in splits.items()}
    return Read(parts, views, len(train.classes), raw, untrained)


def _texts(
    model: Mapping[str, Any], target: str, copies: int, seed: int, cache: str,
    device: torch.device | str,
) -> Read:  # fmt: skip
    found = read_texts(model["targets"][target]["path"])
    loaded = load_encoder(Path(model["weights"]))
    with seeded(seed, "universality", "foundation", "start"):
        begun = (type(loaded[0])(loaded[0].config), loaded[1])
    untrained = {part: features(begun, own, device) for part, (own, _) in found.items()}
    parts = {part: (features(loaded, own, device), labels) for part, (own, labels) in found.items()}
    train = found["train"][0]
    views = [features(loaded, train, device, (seed, "universality", "copy", number))
             for number in range(copies)]  # fmt: skip
    classes = 1 + max(int(labels.max()) for _, labels in parts.values())
    raw = _bags(loaded[1], {part: own for part, (own, _) in found.items()})
    return Read(parts, torch.stack(views), classes, raw, untrained)


def _bags(tokenizer: Any, texts: Mapping[str, list[str]]) -> dict[str, Tensor]:
    """Of each text log(1 + count) of the tokens that most training texts hold, (n, tokens)."""
    counts = {}
    for part, own in texts.items():
        read = tokenizer(own, truncation=True, max_length=LONGEST)["input_ids"]
        counts[part] = [Counter(ids) for ids in read]
    held = Counter(token for own in counts["train"] for token in own)
    place = {token: number for number, (token, _) in enumerate(held.most_common(TOKENS))}
    found = {}
    for part, bags in counts.items():
        found[part] = torch.zeros(len(bags), len(place))
        for row, tokens in enumerate(bags):
            for token, count in tokens.items():
                if token in place:
                    found[part][row, place[token]] = count
    return {part: own.log1p() for part, own in found.items()}


def read_texts(folder: str) -> dict[str, tuple[list[str], Tensor]]:
    """Texts and classes of ``train.jsonl``, ``validation.jsonl`` and ``test.jsonl`` of a folder.

    A line is an object with ``text`` and ``label`` from 0 on. Raises ConfigError at what is not so.
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

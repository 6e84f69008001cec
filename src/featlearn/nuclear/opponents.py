"""What learns no features: linear on pixels, random features, the most frequent class."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from featlearn.core.seeds import generator
from featlearn.core.training import heads
from featlearn.images.data.datasets import Labelled
from featlearn.images.worlds.domains import Part, Rows

#: Images that are read together.
AT_ONCE = 512


def opponents(
    learned: Sequence[Part], chosen: Part, unseen: Labelled, classes: int,
    settings: Mapping[str, Any], name: tuple[object, ...],
) -> dict[str, dict[str, Any]]:  # fmt: skip
    """Accuracies by opponent; heads are solved, and their penalties chosen on ``chosen``.

    ``settings``: ``pixels`` (a side; larger images are averaged down to it), ``features`` (random
    rectified features of these pixels). Returns dict: of each opponent ``averaging`` (``best``),
    ``training``, ``validation`` and ``value``.
    """
    parts: tuple[Part | Labelled, ...] = (Part.joined(learned), chosen, unseen)
    raw = [_pixels(one.images, settings["pixels"]) for one in parts]
    g = generator(*name, "random features")
    width = raw[0].shape[1]
    weights = torch.randn(width, settings["features"], generator=g) / math.sqrt(width)
    shift = torch.randn(settings["features"], generator=g)
    random = [(x @ weights + shift).relu() for x in raw]
    most = int(parts[0].labels.bincount(minlength=classes).argmax())
    found = {
        "linear on pixels": _head(raw, parts, classes),
        "random features": _head(random, parts, classes),
        "majority": [float((one.labels == most).float().mean()) for one in parts],
    }
    return {arm: {"averaging": "best", "training": own[0], "validation": own[1], "value": own[2]}
            for arm, own in found.items()}  # fmt: skip


def _pixels(images: Tensor | Rows, side: int) -> Tensor:
    found = []
    for start in range(0, len(images), AT_ONCE):
        x = images[start : start + AT_ONCE].float() / 127.5 - 1
        if x.shape[-1] > side:
            x = torch.nn.functional.adaptive_avg_pool2d(x, side)
        found.append(x.flatten(1))
    return torch.cat(found)


def _head(x: Sequence[Tensor], parts: Sequence[Part | Labelled], classes: int) -> list[float]:
    pairs = [(own[None], one.labels[None]) for own, one in zip(x, parts, strict=True)]
    # every third of the usual path: a factor of 30 between penalties
    fitted = heads.choose(pairs[0], pairs[1], classes, heads.PENALTIES[2::3])
    return [float(fitted.heads.accuracy(*pair)) for pair in pairs]

"""Sets of small pictures that pre-training is widened by, and their mixtures (section F.3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from featlearn.core.files import PathLike
from featlearn.core.seeds import generator
from featlearn.images.classified import open_classified
from featlearn.images.datasets import Labelled, fraction_rows
from featlearn.images.shapes import ShapeDials
from featlearn.images.shapes import sample as sample_shapes

#: Of generated sets: how far pictures are shifted at most, and their pixels' noise.
SHIFT, NOISE = 1, 0.12


def patterns(classes: int, count: int, size: int, looks: int, name: tuple[object, ...]) -> Labelled:
    """Grey pictures of blurred random patterns, shifted, of random contrast, with noise.

    Parameters
    ----------
    looks
        Seed of the patterns; those of class ``i`` do not depend on ``classes``.
    name
        Of the random streams.
    """
    coarse = torch.randn(classes, 1, 5, 5, generator=generator(looks, "patterns"))
    large = functional.interpolate(
        coarse, (size + 2 * SHIFT,) * 2, mode="bilinear", align_corners=False
    )[:, 0]
    large = large / large.flatten(1).std(1)[:, None, None]
    labels = torch.randint(classes, (count,), generator=generator(*name, "class"))
    corner = torch.randint(2 * SHIFT + 1, (count, 2), generator=generator(*name, "corner"))
    line = torch.arange(size)
    rows = corner[:, 0, None, None] + line[:, None]
    own = large[labels[:, None, None], rows, corner[:, 1, None, None] + line]
    contrast = 0.1 + 0.15 * torch.rand(count, 1, 1, generator=generator(*name, "contrast"))
    noise = NOISE * torch.randn(own.shape, generator=generator(*name, "noise"))
    return Labelled(_bytes(0.5 + contrast * own + noise), labels)


def glyphs(count: int, size: int, name: tuple[object, ...]) -> Labelled:
    """Grey pictures of the eight glyphs of :mod:`featlearn.images.shapes`, on a graded ground."""
    dials = ShapeDials(
        image_size=size, glyph_size=(5 * size // 8, size), contrast=0.5, gradient=0.3, noise=0.05
    )
    drawn = sample_shapes(dials, count, name)
    return Labelled(_bytes(drawn.images.float().mean(1) / 255), drawn.labels)


def _bytes(grey: Tensor) -> Tensor:
    """(N, S, S) in [0, 1] to uint8 (N, 3, S, S)."""
    return (grey.clamp(0, 1) * 255).round().to(torch.uint8)[:, None].repeat(1, 3, 1, 1)


class Sets:
    """The sets of a replicate: each with pictures to learn from and to test on.

    Parameters
    ----------
    settings
        By name: ``data``, real pictures as :func:`open_classified` takes them, or ``generated``
        (``glyphs`` or ``patterns``) with ``classes`` and ``looks``; ``train`` and ``test``, numbers
        of pictures.
    size
        Side in pixels.
    cache
        Folder of decoded pictures.
    name
        Of the random streams of the replicate.
    key
        Of ``settings`` in the config, for messages.
    """

    def __init__(
        self,
        settings: Mapping[str, Mapping[str, Any]],
        size: int,
        cache: PathLike,
        name: tuple[object, ...],
        key: str,
    ):
        self.name, self.train, self.test, self.classes = name, {}, {}, {}
        for own, one in settings.items():
            if "data" in one:
                opened = open_classified(
                    one["data"], cache, *name, own, most=one["train"], key=f"{key}.{own}.data"
                )
                # at most as many test pictures, of each class the same share
                share = min(1.0, one["test"] / len(opened.test.labels))
                rows = fraction_rows(opened.test.labels, share, *name, own, "tested")
                test = Labelled(opened.test.images[rows], opened.test.labels[rows])
                self.train[own], self.test[own] = opened.train, test
                self.classes[own] = len(opened.classes)
                continue
            for part, found in (("train", self.train), ("test", self.test)):
                stream = (*name, own, part)
                if one["generated"] == "glyphs":
                    found[own] = glyphs(one[part], size, stream)
                else:
                    found[own] = patterns(one["classes"], one[part], size, one["looks"], stream)
            self.classes[own] = 8 if one["generated"] == "glyphs" else one["classes"]

    def union(self, members: list[str], share: float = 1.0) -> Tensor:
        """Training pictures of these sets, or a random ``share`` of all, uint8 (N, 3, S, S)."""
        pictures = torch.cat([self.train[own].images for own in members])
        if share == 1.0:
            return pictures
        kept = max(2, round(share * len(pictures)))
        order = torch.randperm(len(pictures), generator=generator(*self.name, "share"))
        return pictures[order[:kept].sort()[0]]

    def labelled(self, own: str, count: int) -> Labelled:
        """About ``count`` labelled training pictures, of each class the same share; nested."""
        whole = self.train[own]
        share = min(1.0, count / len(whole.labels))
        rows = fraction_rows(whole.labels, share, *self.name, own, "labelled")
        order = torch.randperm(len(rows), generator=generator(*self.name, own, "order"))
        return Labelled(whole.images[rows[order]], whole.labels[rows[order]])

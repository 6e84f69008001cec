"""Which parts of an image a heat map points at, counted against the parts that are truly there."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

#: From which share of the image's largest heat on a part is hit.
HIT_SHARE = 0.5


@dataclass(frozen=True)
class PartUse:
    """How heat lies on the parts of each image; absent parts hold 0 or False.

    ``hit``: mean heat on the part's pixels is at least a share of the image's maximum. (B, P).
    ``share``: part of the image's heat that lies on the part's pixels, in [0, 1]. (B, P).
    ``density``: ``share`` over the part's share of the image's pixels: 1 is what even heat gives.
    (B, P). ``pointed``: the hottest pixel lies on the part (the pointing game). (B, P).
    ``entropy``: of the heat on the image's parts over these parts, over that of an even split: 1 if
    all are used alike, 0 if one holds all. NaN with fewer than two parts, or no heat on any. (B,).
    """

    hit: Tensor
    share: Tensor
    density: Tensor
    pointed: Tensor
    entropy: Tensor

    @property
    def hits(self) -> Tensor:
        """Number of parts hit an image, (B,)."""
        return self.hit.sum(1)


def part_use(heat: Tensor, masks: Tensor, hit_share: float = HIT_SHARE) -> PartUse:
    """Count which parts the heat of a batch lies on.

    ``heat``: non-negative heat at the image's resolution, (B, H, W). ``masks``: pixels of each
    part, bool (B, P, H, W); an absent part has none. ``hit_share``: A part is hit where its mean
    heat reaches this share of the image's largest heat. Raises ValueError if the shapes do not
    match or the heat is negative somewhere.
    """
    if masks.ndim != 4 or heat.shape != (len(masks), *masks.shape[2:]):
        raise ValueError(
            f"heat {tuple(heat.shape)} and masks {tuple(masks.shape)}: expected "
            "(batch, height, width) and (batch, parts, height, width)"
        )
    if bool((heat < 0).any()):
        raise ValueError("heat: expected no negative number; see eigencam.heat")
    flat, parts = heat.flatten(1), masks.flatten(2)
    pixels = parts.sum(2)
    on_part = (parts.to(flat.dtype) @ flat[:, :, None])[:, :, 0]
    highest, total = flat.amax(1, keepdim=True), flat.sum(1, keepdim=True)
    share = on_part / total.clamp_min(torch.finfo(flat.dtype).tiny)
    hottest = flat.argmax(1)[:, None, None].expand(-1, parts.shape[1], 1)
    warm = highest > 0
    return PartUse(
        hit=(on_part >= hit_share * highest * pixels) & (pixels > 0) & warm,
        share=share,
        density=share * parts.shape[2] / pixels.clamp_min(1),
        pointed=parts.gather(2, hottest)[:, :, 0] & warm,
        entropy=_relative_entropy(on_part, pixels > 0),
    )


def _relative_entropy(amounts: Tensor, present: Tensor) -> Tensor:
    """Entropy of ``amounts`` (B, P) over those present, relative to an even split."""
    even = present.sum(1).log()
    total = amounts.sum(1, keepdim=True)
    probabilities = amounts / total
    entropy = torch.special.entr(probabilities).sum(1)
    undefined = (present.sum(1) < 2) | (total[:, 0] <= 0)
    return torch.where(undefined, torch.nan, entropy / even)

"""Mixup and CutMix between neighbours of the batch.

Image 2i mixes with image 2i + 1 and the other way round. The order of a batch is random, so the
partner is; and a batch that is split between processes at even places mixes as one that is not,
which a random partner somewhere in the batch would not do without sending images about.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from featlearn.images.draws import Draws


@torch.no_grad()
def mix(
    images: Tensor,
    targets: Tensor,
    draws: Draws,
    *,
    mixup: float = 0.8,
    cutmix: float = 1.0,
    probability: float = 1.0,
    switch: float = 0.5,
    purpose: str = "mix",
) -> tuple[Tensor, Tensor]:
    """Mix each image with its neighbour, and their targets in the same proportion.

    Zhang et al. 2018 (mixup), Yun et al. 2019 (CutMix); the proportion is drawn for each image.
    The last image of an odd batch stays as it is.

    Parameters
    ----------
    images : (B, 3, h, w)
        Floating point.
    targets : (B, classes)
        Probabilities of the classes, e.g. one-hot, smoothed or not.
    draws
        Random numbers of this step, for the same B images.
    mixup, cutmix
        Parameter of the symmetric Beta distribution of each one's proportion; 0 for without.
    probability
        That an image is mixed at all.
    switch
        Probability of CutMix where both are wanted.
    purpose
        Name of the random numbers.

    Returns
    -------
    images, targets
        New tensors of the same shape, type and memory format.

    Raises
    ------
    ValueError
        If this process's part of the batch starts at an odd place, or is not as long as ``images``.
    """
    if len(images) != len(draws) or len(targets) != len(images):
        raise ValueError(
            f"images: {len(images)}, targets: {len(targets)}; expected {len(draws)} of both, "
            "as many as draws"
        )
    first = range(draws.size)[slice(None) if draws.rows is None else draws.rows].start
    if first % 2:
        raise ValueError(f"draws.rows: starts at {first}; expected an even place: pairs are mixed")
    if not mixup and not cutmix:
        return images, targets
    uniform = draws.uniform(purpose, 5)
    cuts = uniform[:, 0] < (switch if mixup and cutmix else float(bool(cutmix)))
    mixed = uniform[:, 1] < probability
    own = torch.where(cuts, _beta(uniform[:, 2], cutmix), _beta(uniform[:, 2], mixup))
    own, cuts, mixed, place = (x.to(images.device) for x in (own, cuts, mixed, uniform[:, 3:]))
    height, width = images.shape[2:]
    kept = own.view(-1, 1, 1).expand(-1, height, width)
    outside = ~_boxes(own, place, height, width)
    kept = torch.where(cuts.view(-1, 1, 1), outside.to(own.dtype), kept)
    kept = torch.where(mixed.view(-1, 1, 1), kept, 1.0)
    share = kept.mean((1, 2)).to(targets)
    kept = kept.unsqueeze(1).to(images)
    return (
        torch.lerp(_neighbours(images), images, kept),
        torch.lerp(_neighbours(targets), targets, share.unsqueeze(1)),
    )


def _neighbours(values: Tensor) -> Tensor:
    """Rows 1, 0, 3, 2, ...; a last one without neighbour stays."""
    order = torch.arange(len(values), device=values.device)
    partner = (order ^ 1).clamp(max=len(values) - 1)
    if values.dim() == 4 and values.is_contiguous(memory_format=torch.channels_last):
        return values.permute(0, 2, 3, 1).index_select(0, partner).permute(0, 3, 1, 2)
    return values.index_select(0, partner)


def _beta(uniform: Tensor, parameter: float) -> Tensor:
    """Symmetric Beta numbers from uniform ones, by the inverse distribution function."""
    if parameter in (0.0, 1.0):
        return uniform
    from scipy.special import betaincinv  # slow to import

    drawn = betaincinv(parameter, parameter, uniform.numpy().astype(np.float64))
    return torch.from_numpy(drawn).to(uniform.dtype)


def _boxes(own: Tensor, place: Tensor, height: int, width: int) -> Tensor:
    """Pixels of the other image, bool ``(n, h, w)``: a box of area ``1 - own`` about ``place``."""
    inside = []
    for axis, length in enumerate((height, width)):
        centre = (place[:, axis] * length).floor()
        half = ((1 - own).sqrt() * length).floor().div(2, rounding_mode="floor")
        line = torch.arange(length, device=own.device).view(1, -1)
        inside.append((line >= (centre - half).view(-1, 1)) & (line < (centre + half).view(-1, 1)))
    return inside[0].unsqueeze(2) & inside[1].unsqueeze(1)

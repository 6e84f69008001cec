"""Heat laid over images so that it reads on any picture."""

from __future__ import annotations

import matplotlib
import torch
from torch import Tensor

#: Perceptually even, and its order survives grey print: hotter is lighter.
COLOURS = "inferno"
#: Opacity of the hottest heat; the picture's contrast must stay visible below it.
STRENGTH = 0.75
#: Brightness of what is cold: the picture steps back, the heat stands out.
DIM = 0.75
#: Luma of red, green and blue (ITU-R BT.601).
LUMA = (0.299, 0.587, 0.114)


def overlay(images: Tensor, heat: Tensor) -> Tensor:
    """Pictures in grey with their heat in colour.

    Colours of a picture and of heat cannot be told apart, so the picture gives its brightness only
    and the heat gives the colours, the more opaque the hotter.

    Parameters
    ----------
    images
        uint8 (B, 3, H, W).
    heat
        (B, H, W) in [0, 1]; see :func:`featlearn.images.eigencam.heat`.

    Returns
    -------
    Tensor
        uint8 (B, 3, H, W).

    Raises
    ------
    ValueError
        If shapes or types do not fit, or the heat leaves [0, 1].
    """
    if images.dtype != torch.uint8 or images.ndim != 4 or images.shape[1] != 3:
        raise ValueError(
            f"images: {images.dtype} of shape {tuple(images.shape)}; expected uint8 (B, 3, H, W)"
        )
    if heat.shape != (len(images), *images.shape[2:]):
        raise ValueError(
            f"heat: shape {tuple(heat.shape)}; expected {(len(images), *images.shape[2:])}"
        )
    if not bool(((heat >= 0) & (heat <= 1)).all()):
        raise ValueError("heat: expected numbers in [0, 1]")
    weights = torch.tensor(LUMA, device=images.device)
    grey = torch.einsum("bchw,c->bhw", images.float() / 255, weights)[:, None]
    table = torch.tensor(matplotlib.colormaps[COLOURS](range(256)), dtype=torch.float32)[:, :3]
    place = (heat * 255).round().long()
    coloured = table.to(images.device)[place].permute(0, 3, 1, 2)
    opacity = STRENGTH * heat[:, None]
    blended = (1 - opacity) * DIM * grey + opacity * coloured
    return (blended * 255).round().clamp(0, 255).to(torch.uint8)

"""What the methods that hide a part of the image have in common."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from featlearn.core.errors import ConfigError
from featlearn.images.encoders.base import Encoder
from featlearn.images.encoders.vit import VisionTransformer
from featlearn.images.rng import Draws
from featlearn.images.train.objective import Objective


class MaskedObjective(Objective):
    """A pre-training method with a random mask over square cells; labels are not used.

    Subclasses give :meth:`loss`, free of random numbers, so that it compiles as one graph.
    ``mask_size``: side of a cell in pixels. ``mask_ratio``: share of the cells that are masked,
    rounded up.
    """

    encoder: Encoder

    def __init__(self, encoder: Encoder, mask_size: int, mask_ratio: float):
        super().__init__()
        self.encoder, self.mask_size, self.mask_ratio = encoder, mask_size, mask_ratio

    def forward(self, images: Tensor, labels: Tensor | None, draws: Draws) -> dict[str, Tensor]:
        """``loss``: mean over the images (B, 3, H, W) of what :meth:`loss` gives."""
        return {"loss": self.loss(images, self.draw_mask(images, draws))}

    def draw_mask(self, images: Tensor, draws: Draws) -> Tensor:
        """The step's mask over cells, bool (B, H / mask_size, W / mask_size), on the device."""
        grid = cells((images.shape[-2], images.shape[-1]), self.mask_size)
        return random_mask(draws, grid, self.mask_ratio).to(images.device, non_blocking=True)

    def loss(self, images: Tensor, mask: Tensor) -> Tensor:
        """Mean loss of images (B, 3, H, W) under a mask."""
        raise NotImplementedError(f"{type(self).__name__} has no loss")

    def compile(self, *args: Any, **kwargs: Any) -> None:
        self.loss = torch.compile(self.loss, *args, **kwargs)  # type: ignore[method-assign]


class MaskToken(nn.Module):
    """A learned token in place of what is masked (Xie et al. 2022, section 3.2).

    ``cell``: pixels of a mask cell's sides. In a vision transformer one vector stands for the
    embedding of a masked patch (SimMIM, BEiT), in a convolutional network one colour for the masked
    pixels (ours; no paper says).
    """

    def __init__(self, encoder: Encoder, cell: int):
        super().__init__()
        self.in_stem = isinstance(encoder, VisionTransformer)
        stride = encoder.stem_stride if self.in_stem else 1
        if cell % stride:
            raise ConfigError(
                f"pretraining.mask_size: {cell}; expected a multiple of the {stride} px of a cell "
                "of the encoder's stem, where the mask token is"
            )
        self.factor = cell // stride
        channels = encoder.stem_width if self.in_stem else 3
        self.token = nn.Parameter(torch.empty(1, channels, 1, 1))
        nn.init.trunc_normal_(self.token, std=0.02)

    def forward(self, encoder: Encoder, images: Tensor, mask: Tensor) -> Tensor:
        """The encoder's stem output for images (B, 3, H, W) under a mask over cells (B, h, w)."""
        hidden = upsample(mask, self.factor)[:, None]
        if self.in_stem:
            return self._placed(encoder.stem(images), hidden)
        return encoder.stem(self._placed(images, hidden))

    def _placed(self, maps: Tensor, hidden: Tensor) -> Tensor:
        # the same numbers as torch.where, whose gradient takes three times as long
        share = hidden.to(maps.dtype)
        return torch.addcmul(maps * (1 - share), self.token.to(maps.dtype), share)


# Square cells, a fixed number of them in every image: the masked area is a constant, so a loss over
# masked pixels has the same scale in every image, batch and process.


def cells(size: tuple[int, int], cell: int) -> tuple[int, int]:
    """Rows, columns of ``cell`` pixels in a (height, width); ConfigError if they do not fill it."""
    height, width = size
    if cell < 1 or height % cell or width % cell:
        raise ConfigError(
            f"cells of {cell} px do not fill an image of {height}x{width} px; "
            "expected a divisor of both sides"
        )
    return height // cell, width // cell


def masked_count(ratio: float, number: int) -> int:
    """``ceil(ratio * number)`` cells, as SimMIM counts. Raises ConfigError for none or all."""
    count = math.ceil(ratio * number - 1e-9)  # 0.55 * 100 is a little above 55 in floating point
    if not 0 < count < number:
        raise ConfigError(
            f"mask ratio {ratio}: masks {count} of {number} cells; expected a ratio that leaves "
            "some cells masked and some visible"
        )
    return count


def random_order(draws: Draws, number: int) -> Tensor:
    """A random order of ``number`` cells for each image: int64 (B, number), on the CPU."""
    return draws.uniform("mask", number).argsort(dim=1, stable=True)


def random_mask(draws: Draws, grid: tuple[int, int], ratio: float) -> Tensor:
    """Cells drawn without replacement: bool (B, rows, columns), True is masked, on the CPU."""
    number = grid[0] * grid[1]
    masked = random_order(draws, number)[:, : masked_count(ratio, number)]
    mask = torch.zeros(len(masked), number, dtype=torch.bool)
    return mask.scatter_(1, masked, True).view(-1, *grid)


def upsample(mask: Tensor, factor: int) -> Tensor:
    """Each cell becomes ``factor`` by ``factor``: (B, h, w) to (B, factor * h, factor * w)."""
    batch, rows, columns = mask.shape
    wide = mask[:, :, None, :, None].expand(batch, rows, factor, columns, factor)
    return wide.reshape(batch, rows * factor, columns * factor)


def masked_share(mask: Tensor, cell: int, stride: int) -> Tensor:
    """How much of each cell of a coarser or finer grid is masked: float32 (B, h', w') in [0, 1].

    ``mask``: over cells of ``cell`` px: bool (B, h, w). ``stride``: pixels of the wanted grid's
    cells; a divisor or a multiple of ``cell``.
    """
    if cell % stride == 0:
        return upsample(mask, cell // stride).float()
    if stride % cell == 0:
        return F.avg_pool2d(mask[:, None].float(), stride // cell)[:, 0]
    raise ConfigError(
        f"mask cells of {cell} px over a map of {stride} px a cell; "
        "expected that one is a multiple of the other"
    )

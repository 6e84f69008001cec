"""What the methods that hide a part of the image have in common."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.images.draws import Draws
from featlearn.images.encoders.base import Encoder
from featlearn.images.encoders.vit import VisionTransformer
from featlearn.images.masking import cells, random_mask, upsample
from featlearn.images.objective import Objective


class MaskedObjective(Objective):
    """A pre-training method with a random mask over square cells; labels are not used.

    Subclasses give :meth:`loss`, which is free of random numbers, so that it compiles as one graph.

    Parameters
    ----------
    encoder
    mask_size
        Side of a cell in pixels.
    mask_ratio
        Share of the cells that are masked; their number is rounded up.
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

    def prepare(self, images: Tensor, name: tuple[object, ...]) -> None:
        """What has to be known before the first step; nothing, unless a method says otherwise.

        Parameters
        ----------
        images
            Normalised images (N, 3, H, W).
        name
            Of the random stream.
        """

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile :meth:`loss` in place; drawing the mask stays outside of the graph."""
        self.loss = torch.compile(self.loss, *args, **kwargs)  # type: ignore[method-assign]


class MaskToken(nn.Module):
    """A learned token in place of what is masked (Xie et al. 2022, section 3.2).

    Parameters
    ----------
    encoder
        That sees the image.
    cell
        Pixels of a mask cell's sides.
    place
        ``pixels``: one colour in place of the masked pixels, before anything is computed.
        ``stem``: one vector in place of the stem's output over a masked cell; in a vision
        transformer these are the patch embeddings, as SimMIM and BEiT have it. A convolutional
        stem with overlapping windows has seen a border of its visible neighbours' masked cells.
        None: ``stem`` for a vision transformer, else ``pixels``.
    """

    def __init__(self, encoder: Encoder, cell: int, place: str | None = None):
        super().__init__()
        if place is None:
            place = "stem" if isinstance(encoder, VisionTransformer) else "pixels"
        if place not in ("pixels", "stem"):
            raise ConfigError(f"pretraining.mask_token: {place!r}; expected pixels or stem")
        stride = encoder.stem_stride if place == "stem" else 1
        if cell % stride:
            raise ConfigError(
                f"pretraining.mask_size: {cell}; expected a multiple of the {stride} px of a cell "
                "of the encoder's stem, where the mask token is"
            )
        self.in_stem, self.factor = place == "stem", cell // stride
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


def whole_cells(encoder: Encoder, images: Tensor) -> tuple[int, int]:
    """The encoder's grid over images (B, 3, H, W), which must fill them.

    Raises
    ------
    FeatlearnError
        If the images' sides are no multiples of the encoder's stride.
    """
    height, width = images.shape[-2], images.shape[-1]
    if height % encoder.stride or width % encoder.stride:
        raise FeatlearnError(
            f"images of {height}x{width} px; expected multiples of the encoder's stride of "
            f"{encoder.stride} px"
        )
    return encoder.grid((height, width))

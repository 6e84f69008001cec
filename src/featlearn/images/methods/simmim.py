"""SimMIM (Xie et al. 2022, "SimMIM: A Simple Framework for Masked Image Modeling").

Masked cells are replaced by a token, the encoder sees the whole grid, and a decoder predicts the
pixels below the mask. Works with any encoder, so with convolutional networks too, which cannot drop
the masked cells as MAE does.

The official decoder is one linear layer on each cell. The paper on mask-reconstruction pre-training
puts a transformer of 3 or 4 layers there and says no more; all else about it is our choice.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from featlearn.core.errors import ConfigError
from featlearn.images.encoders.base import Encoder, sin_cos_positions
from featlearn.images.encoders.vit import EPSILON, Block, initialise_transformer
from featlearn.images.masking import upsample
from featlearn.images.methods.masked import MaskedObjective, MaskToken, whole_cells


class SimMIM(MaskedObjective):
    """Mean absolute error of the predicted pixels, over the masked pixels only (equation (1)).

    ``loss = sum over masked pixels |prediction - image| / (masked pixels * 3)``. Every image has
    the same number of masked pixels.

    Parameters
    ----------
    encoder
    mask_size
        Side of a mask cell in pixels; the official 32 is for images of 192 to 224.
    mask_ratio
        Share of masked cells (official 0.6), rounded up to whole cells.
    mask_token
        ``pixels`` or ``stem``, see :class:`MaskToken`; None chooses by the encoder.
    decoder
        ``transformer``, or ``linear``: the official 1x1 convolution and pixel shuffle.
    decoder_depth
        Blocks of the transformer: 4 in the paper, 3 in its first version.
    decoder_width, decoder_heads, decoder_mlp_ratio
        Of the transformer.
    decoder_stride
        Pixels of one cell of the transformer's grid, a multiple of the encoder's stride: a coarser
        grid is cheaper. None for the encoder's own.
    """

    def __init__(
        self,
        encoder: Encoder,
        mask_size: int = 32,
        mask_ratio: float = 0.6,
        mask_token: str | None = None,
        decoder: str = "transformer",
        decoder_depth: int = 4,
        decoder_width: int = 64,
        decoder_heads: int = 2,
        decoder_mlp_ratio: float = 2.0,
        decoder_stride: int | None = None,
    ):
        super().__init__(encoder, mask_size, mask_ratio)
        self.mask = MaskToken(encoder, mask_size, mask_token)
        if decoder == "linear":
            self.decoder: nn.Module = LinearDecoder(encoder)
        elif decoder == "transformer":
            stride = encoder.stride if decoder_stride is None else decoder_stride
            self.decoder = TransformerDecoder(
                encoder, stride, decoder_depth, decoder_width, decoder_heads, decoder_mlp_ratio
            )
        else:
            raise ConfigError(f"pretraining.decoder: {decoder!r}; expected transformer or linear")

    def reconstruct(self, images: Tensor, mask: Tensor) -> Tensor:
        """All pixels of images (B, 3, H, W) as predicted from what the mask (B, h, w) leaves."""
        whole_cells(self.encoder, images)
        return self.decoder(self.encoder.body(self.mask(self.encoder, images, mask)))

    def loss(self, images: Tensor, mask: Tensor) -> Tensor:
        predicted = self.reconstruct(images, mask)
        hidden = upsample(mask, self.mask_size)[:, None].to(images.dtype)
        errors = (predicted.float() - images) * hidden
        return errors.abs().sum() / (hidden.sum() * images.shape[1])


class LinearDecoder(nn.Module):
    """SimMIM's head: from each cell of the map to the pixels of that cell."""

    def __init__(self, encoder: Encoder):
        super().__init__()
        self.stride = encoder.stride
        self.head = nn.Conv2d(encoder.width, 3 * self.stride**2, 1)

    def forward(self, features: Tensor) -> Tensor:
        """(B, width, h, w) to (B, 3, stride * h, stride * w)."""
        return F.pixel_shuffle(self.head(features), self.stride)


class TransformerDecoder(nn.Module):
    """Transformer blocks over the cells of the map, then the pixels of each cell.

    Positions are sines and cosines. With a coarser grid than the encoder's, one token is made of
    several cells.
    """

    def __init__(
        self, encoder: Encoder, stride: int, depth: int, width: int, heads: int, mlp_ratio: float
    ):
        super().__init__()
        if stride % encoder.stride:
            raise ConfigError(
                f"pretraining.decoder_stride: {stride}; expected a multiple of the encoder's "
                f"stride {encoder.stride}"
            )
        self.stride, self.width = stride, width
        merged = stride // encoder.stride
        self.embed = nn.Conv2d(encoder.width, width, merged, merged)
        self.blocks = nn.Sequential(*(Block(width, heads, mlp_ratio) for _ in range(depth)))
        self.norm = nn.LayerNorm(width, EPSILON)
        self.head = nn.Linear(width, 3 * stride**2)
        initialise_transformer(self)

    def forward(self, features: Tensor) -> Tensor:
        """(B, encoder width, h, w) to (B, 3, H, W) pixels."""
        embedded = self.embed(features)
        grid = (embedded.shape[-2], embedded.shape[-1])
        tokens = embedded.flatten(2).transpose(1, 2)
        places = sin_cos_positions(grid, self.width, tokens.device).to(tokens.dtype)
        tokens = self.blocks(tokens + places)
        pixels = self.head(self.norm(tokens)).transpose(1, 2).reshape(len(tokens), -1, *grid)
        return F.pixel_shuffle(pixels, self.stride)

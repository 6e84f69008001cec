"""Masked prediction of pixels: SimMIM and MAE."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from featlearn.core.errors import ConfigError
from featlearn.images.encoders.base import Encoder, sin_cos_positions
from featlearn.images.encoders.vit import EPSILON, Block, VisionTransformer, initialise_transformer
from featlearn.images.methods.masked import (
    MaskedObjective,
    MaskToken,
    cells,
    masked_count,
    random_order,
    upsample,
)
from featlearn.images.rng import Draws


class SimMIM(MaskedObjective):
    """Mean absolute error of the predicted pixels, over the masked pixels only (equation (1)).

    Every image has the same number of masked pixels. The options are explained with ``simmim`` in
    docs/keys/images.md.
    """

    def __init__(
        self, encoder: Encoder, mask_size: int = 32, mask_ratio: float = 0.6,
        decoder_depth: int = 4, decoder_width: int = 64, decoder_heads: int = 2,
    ):  # fmt: skip
        super().__init__(encoder, mask_size, mask_ratio)
        self.mask = MaskToken(encoder, mask_size)
        self.decoder = TransformerDecoder(encoder, decoder_depth, decoder_width, decoder_heads)

    def reconstruct(self, images: Tensor, mask: Tensor) -> Tensor:
        """All pixels of images (B, 3, H, W) as predicted from what the mask (B, h, w) leaves."""
        cells((images.shape[-2], images.shape[-1]), self.encoder.stride)  # or it is refused
        return self.decoder(self.encoder.body(self.mask(self.encoder, images, mask)))

    def loss(self, images: Tensor, mask: Tensor) -> Tensor:
        predicted = self.reconstruct(images, mask)
        hidden = upsample(mask, self.mask_size)[:, None].to(images.dtype)
        errors = (predicted.float() - images) * hidden
        return errors.abs().sum() / (hidden.sum() * images.shape[1])


class TransformerDecoder(nn.Module):
    """Transformer blocks over the cells of the map, then their pixels; sines as positions."""

    def __init__(self, encoder: Encoder, depth: int, width: int, heads: int):
        super().__init__()
        self.stride, self.width = encoder.stride, width
        self.embed = nn.Conv2d(encoder.width, width, 1)
        self.blocks = nn.Sequential(*(Block(width, heads, mlp_ratio=2.0) for _ in range(depth)))
        self.norm = nn.LayerNorm(width, EPSILON)
        self.head = nn.Linear(width, 3 * self.stride**2)
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


# The encoder sees the visible patches only, a small decoder sees them with mask tokens. Tokens stay
# in the drawn order, visible ones in front: attention does not look at it.


class MAE(MaskedObjective):
    """Mean squared error of the pixels of the masked patches, standardised by patch (section 4.1).

    ``encoder``: a vision transformer. The options are explained with ``mae`` in
    docs/keys/images.md.
    """

    encoder: VisionTransformer
    places: Tensor  # (N, decoder_width)

    def __init__(
        self, encoder: Encoder, mask_ratio: float = 0.75, decoder_depth: int = 8,
        decoder_width: int = 512, decoder_heads: int = 16,
    ):  # fmt: skip
        if not isinstance(encoder, VisionTransformer):
            raise ConfigError(
                f"pretraining.kind: mae needs a vision transformer, not {type(encoder).__name__}: "
                "it drops the masked patches (use simmim)"
            )
        if encoder.kinds is not None:
            raise ConfigError(
                "encoder.positions: relative; mae drops patches, expected learned or sin_cos"
            )
        super().__init__(encoder, encoder.stride, mask_ratio)
        self.embed = nn.Linear(encoder.width, decoder_width)
        self.token = nn.Parameter(torch.empty(1, 1, decoder_width))
        places = sin_cos_positions(encoder.grid(encoder.size), decoder_width)
        self.register_buffer("places", places, persistent=False)
        self.blocks = nn.Sequential(
            *(Block(decoder_width, decoder_heads) for _ in range(decoder_depth))
        )
        self.norm = nn.LayerNorm(decoder_width, EPSILON)
        self.head = nn.Linear(decoder_width, 3 * encoder.stride**2)
        for part in (self.embed, self.blocks, self.head):
            initialise_transformer(part)
        nn.init.normal_(self.token, std=0.02)

    def draw_mask(self, images: Tensor, draws: Draws) -> Tensor:
        """A random order of the patches, int64 (B, N); the last of them are masked."""
        number = len(self.places)
        return random_order(draws, number).to(images.device, non_blocking=True)

    def visible(self, order: Tensor) -> int:
        """How many patches stay visible of those in ``order`` (B, N)."""
        return order.shape[1] - masked_count(self.mask_ratio, order.shape[1])

    def predict(self, images: Tensor, order: Tensor) -> Tensor:
        """Predicted patches (B, masked, 3 * patch * patch), in the order of the masked ones."""
        visible = self.visible(order)
        seen = take(self.encoder.embed(self.encoder.stem(images)), order[:, :visible])
        latent = self.embed(self.encoder.encode(seen))
        first, latent = latent.split([self.encoder.leading, visible], 1)
        places = self.places[order].to(latent.dtype)
        hidden = self.token.to(latent.dtype) + places[:, visible:]
        tokens = self.blocks(torch.cat([first, latent + places[:, :visible], hidden], 1))
        return self.head(self.norm(tokens[:, self.encoder.leading + visible :]))

    def loss(self, images: Tensor, mask: Tensor) -> Tensor:
        """Mean loss of images (B, 3, H, W) under an order of their patches (B, N)."""
        target = take(patches(images, self.mask_size), mask[:, self.visible(mask) :])
        variance, mean = torch.var_mean(target, -1, keepdim=True)
        target = (target - mean) * (variance + 1e-6).rsqrt()
        return F.mse_loss(self.predict(images, mask).float(), target)


def take(tokens: Tensor, places: Tensor) -> Tensor:
    """Tokens (B, N, D) at places (B, n) of each image: (B, n, D)."""
    return tokens.gather(1, places[:, :, None].expand(-1, -1, tokens.shape[2]))


def patches(images: Tensor, patch: int) -> Tensor:
    """(B, 3, H, W) to (B, N, 3 * patch * patch), rows of patches one after another."""
    return F.pixel_unshuffle(images, patch).flatten(2).transpose(1, 2)

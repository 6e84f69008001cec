"""MAE (He et al. 2022, "Masked Autoencoders Are Scalable Vision Learners").

The encoder sees the visible patches only, so it must be a vision transformer; a small decoder sees
them together with mask tokens and predicts the pixels of the masked patches.

The tokens stay in the random order in which the patches were drawn, the visible ones in front, and
each carries the position of its patch. Attention does not look at the order, so putting them back
in place before the decoder, as the official code does, would give the same loss.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from featlearn.core.errors import ConfigError
from featlearn.images.draws import Draws
from featlearn.images.encoders.base import Encoder, sin_cos_positions
from featlearn.images.encoders.vit import EPSILON, Block, VisionTransformer, initialise_transformer
from featlearn.images.masking import masked_count, random_order
from featlearn.images.methods.masked import MaskedObjective


class MAE(MaskedObjective):
    """Mean squared error of the pixels of the masked patches.

    ``loss = mean over masked patches and their pixels (prediction - target)^2``, where the target
    is the patch, by default less its mean and over its standard deviation (section 4.1).

    Parameters
    ----------
    encoder
        A vision transformer.
    mask_ratio
        Share of masked patches (0.75 in the paper), rounded up.
    decoder_depth, decoder_width, decoder_heads, decoder_mlp_ratio
        The decoder's transformer; the paper's has 8 blocks of width 512 with 16 heads.
    normalised_target
        Whether each target patch is normalised.
    """

    encoder: VisionTransformer
    places: Tensor  # (N, decoder_width)

    def __init__(
        self,
        encoder: Encoder,
        mask_ratio: float = 0.75,
        decoder_depth: int = 8,
        decoder_width: int = 512,
        decoder_heads: int = 16,
        decoder_mlp_ratio: float = 4.0,
        normalised_target: bool = True,
    ):
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
        self.normalised_target = normalised_target
        self.embed = nn.Linear(encoder.width, decoder_width)
        self.token = nn.Parameter(torch.empty(1, 1, decoder_width))
        places = sin_cos_positions(encoder.grid(encoder.size), decoder_width)
        self.register_buffer("places", places, persistent=False)
        self.blocks = nn.Sequential(
            *(Block(decoder_width, decoder_heads, decoder_mlp_ratio) for _ in range(decoder_depth))
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
        if self.normalised_target:
            variance, mean = torch.var_mean(target, -1, keepdim=True)
            target = (target - mean) * (variance + 1e-6).rsqrt()
        return F.mse_loss(self.predict(images, mask).float(), target)

    def reconstruct(self, images: Tensor, order: Tensor) -> Tensor:
        """Images (B, 3, H, W) with the masked patches (in units of the target) as predicted."""
        whole = patches(images, self.mask_size)
        predicted = self.predict(images, order).to(whole.dtype)
        hidden = order[:, self.visible(order) :, None].expand_as(predicted)
        return fold(whole.scatter(1, hidden, predicted), self.mask_size, self.encoder.size)


def take(tokens: Tensor, places: Tensor) -> Tensor:
    """Tokens (B, N, D) at places (B, n) of each image: (B, n, D)."""
    return tokens.gather(1, places[:, :, None].expand(-1, -1, tokens.shape[2]))


def patches(images: Tensor, patch: int) -> Tensor:
    """(B, 3, H, W) to (B, N, 3 * patch * patch), rows of patches one after another."""
    return F.pixel_unshuffle(images, patch).flatten(2).transpose(1, 2)


def fold(pieces: Tensor, patch: int, size: tuple[int, int]) -> Tensor:
    """Undo :func:`patches` for images of ``size`` = (H, W)."""
    grid = (size[0] // patch, size[1] // patch)
    return F.pixel_shuffle(pieces.transpose(1, 2).unflatten(2, grid), patch)  # type: ignore[no-untyped-call]

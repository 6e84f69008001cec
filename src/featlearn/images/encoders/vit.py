"""A vision transformer (Dosovitskiy et al. 2021) with the parameter names of timm.

Checkpoints of DeiT, MAE and timm load as they are. Shapes: B images, N patches, D width.
"""

from __future__ import annotations

from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.images.encoders.base import Encoder, sin_cos_positions

EPSILON = 1e-6  # of the layer norms; torch's own default is 1e-5


class Attention(nn.Module):
    """Multi-head self-attention: (B, N, D) to (B, N, D).

    With ``distances`` > 0, a learned number a head and kind of distance between two tokens is added
    to their score (BEiT, Bao et al. 2022); ``kinds`` (N, N) says which.
    """

    def __init__(self, width: int, heads: int, distances: int = 0):
        super().__init__()
        self.heads = heads
        if distances:
            self.relative_position_bias_table = nn.Parameter(torch.zeros(distances, heads))
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x: Tensor, kinds: Tensor | None = None) -> Tensor:
        bias = None
        if kinds is not None:
            bias = self.relative_position_bias_table[kinds].permute(2, 0, 1)[None].to(x.dtype)
        heads = (*x.shape[:2], self.heads, x.shape[2] // self.heads)
        q, k, v = (part.view(heads).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        mixed = F.scaled_dot_product_attention(q, k, v, bias)  # (B, heads, N, D / heads)
        return self.proj(mixed.transpose(1, 2).flatten(2))


class LayerScale(nn.Module):
    """A learned factor for each feature of a branch (Touvron et al. 2021)."""

    def __init__(self, width: int, start: float):
        super().__init__()
        self.gamma = nn.Parameter(torch.full((width,), start))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.gamma


class Block(nn.Module):
    """Pre-norm transformer block: (B, N, D) to (B, N, D)."""

    def __init__(
        self, width: int, heads: int, mlp_ratio: float = 4.0, layer_scale: float = 0.0,
        distances: int = 0,
    ):  # fmt: skip
        super().__init__()
        self.norm1 = nn.LayerNorm(width, EPSILON)
        self.attn = Attention(width, heads, distances)
        self.ls1 = LayerScale(width, layer_scale) if layer_scale else nn.Identity()
        self.norm2 = nn.LayerNorm(width, EPSILON)
        hidden = round(width * mlp_ratio)
        self.mlp = nn.Sequential()
        self.mlp.add_module("fc1", nn.Linear(width, hidden))
        self.mlp.add_module("act", nn.GELU())
        self.mlp.add_module("fc2", nn.Linear(hidden, width))
        self.ls2 = LayerScale(width, layer_scale) if layer_scale else nn.Identity()

    def forward(self, x: Tensor, kinds: Tensor | None = None) -> Tensor:
        x = x + self.ls1(self.attn(self.norm1(x), kinds))
        return x + self.ls2(self.mlp(self.norm2(x)))


class VisionTransformer(Encoder):
    """Patches, positions, a class token, transformer blocks.

    ``image_size``: pixels of the images' sides, or (height, width). The options are explained with
    ``vit`` in docs/keys/images.md; ``relative`` positions are a learned bias in every attention.
    ``final_norm`` is timm's ``norm`` or its ``fc_norm``.
    """

    pos_embed: Tensor  # (1, leading + N, D); a parameter where positions are learned
    kinds: Tensor | None  # (leading + N, leading + N) of relative positions

    def __init__(
        self, image_size: int | tuple[int, int], patch: int = 16, width: int = 192, depth: int = 12,
        heads: int = 3, mlp_ratio: float = 4.0, positions: str = "learned",
        class_token: bool = True, pooling: str = "class_token", final_norm: str = "tokens",
        layer_scale: float = 0.0,
    ):  # fmt: skip
        super().__init__()
        _expect("positions", positions, ("learned", "sin_cos", "relative"))
        _expect("pooling", pooling, ("class_token", "mean") if class_token else ("mean",))
        _expect("final_norm", final_norm, ("tokens", "pooled"))
        if width % heads:
            raise ConfigError(f"encoder.heads: {heads}; expected a divisor of the width {width}")
        self.width = self.stem_width = width
        self.stride = self.stem_stride = patch
        self.depth, self.pooling = depth, pooling
        self.cam_layer = f"blocks.{depth - 1}.norm1"
        self.size = (image_size, image_size) if isinstance(image_size, int) else image_size
        if self.size[0] % patch or self.size[1] % patch:
            raise ConfigError(
                f"encoder.patch: {patch}; expected a divisor of the image {self.size}"
            )
        self.leading = int(class_token)  # tokens in front of the patches
        self.patch_embed = nn.Sequential(OrderedDict(proj=nn.Conv2d(3, width, patch, patch)))
        if class_token:
            self.cls_token = nn.Parameter(torch.empty(1, 1, width))
        distances = self._make_positions(positions)
        self.blocks = nn.ModuleList(
            Block(width, heads, mlp_ratio, layer_scale, distances) for _ in range(depth)
        )
        self.norm = nn.LayerNorm(width, EPSILON) if final_norm == "tokens" else nn.Identity()
        self.fc_norm = nn.LayerNorm(width, EPSILON) if final_norm == "pooled" else nn.Identity()
        self._initialise(positions)

    def _make_positions(self, positions: str) -> int:
        """Sets ``pos_embed`` and ``kinds``; returns how many kinds of distance there are."""
        grid = self.grid(self.size)
        nowhere = torch.zeros(1, self.leading + grid[0] * grid[1], self.width)
        self.register_buffer("kinds", None)
        if positions == "learned":
            self.pos_embed = nn.Parameter(nowhere)
        elif positions == "sin_cos":  # none for the class token
            fixed = sin_cos_positions(grid, self.width)[None]
            self.register_buffer("pos_embed", torch.cat([nowhere[:, : self.leading], fixed], 1))
        else:
            self.register_buffer("pos_embed", nowhere, persistent=False)
            kinds = relative_positions(grid, self.leading)
            self.register_buffer("kinds", kinds, persistent=False)
            return (2 * grid[0] - 1) * (2 * grid[1] - 1) + 3
        return 0

    def _initialise(self, positions: str) -> None:
        """As MAE: Xavier uniform for matrices, standard deviation 0.02 for tokens."""
        initialise_transformer(self)
        weight, bias = self.patch_embed.parameters()
        nn.init.xavier_uniform_(weight.view(weight.shape[0], -1))
        nn.init.zeros_(bias)
        if self.leading:
            nn.init.normal_(self.cls_token, std=0.02)
        if positions == "learned":
            nn.init.trunc_normal_(self.pos_embed, std=0.02)

    def stem(self, images: Tensor) -> Tensor:
        if images.shape[-2:] != self.size:
            raise FeatlearnError(
                f"images of {tuple(images.shape[-2:])} px for a vision transformer with positions "
                f"for {self.size} px; build it with that image size and load its weights again"
            )
        return self.patch_embed(images)

    def embed(self, stem: Tensor) -> Tensor:
        """Output of the stem (B, D, h, w) to patch tokens with positions (B, N, D)."""
        return stem.flatten(2).transpose(1, 2) + self.pos_embed[:, self.leading :]

    def encode(self, patches: Tensor) -> Tensor:
        """Patch tokens with positions, all or some (B, n, D), to tokens (B, leading + n, D)."""
        tokens = self._with_class(patches)
        for block in self.blocks:
            tokens = block(tokens, self.kinds)
        return self.norm(tokens)

    def tokens(self, images: Tensor) -> Tensor:
        """(B, 3, H, W) to final tokens (B, leading + N, D), the class token first."""
        return self.encode(self.embed(self.stem(images)))

    def body(self, stem: Tensor) -> Tensor:
        tokens = self.encode(self.embed(stem))
        return self._patch_maps(tokens, (stem.shape[-2], stem.shape[-1]))

    def block_maps(self, stem: Tensor) -> list[Tensor]:
        tokens, outputs = self._with_class(self.embed(stem)), []
        for block in self.blocks:
            tokens = block(tokens, self.kinds)
            outputs.append(self._patch_maps(tokens, (stem.shape[-2], stem.shape[-1])))
        return outputs

    def forward(self, images: Tensor) -> Tensor:
        tokens = self.tokens(images)
        pooled = (
            tokens[:, 0] if self.pooling == "class_token" else tokens[:, self.leading :].mean(1)
        )
        return self.fc_norm(pooled)

    def as_maps(self, output: Tensor, size: tuple[int, int]) -> Tensor:
        return output if output.ndim == 4 else self._patch_maps(output, self.grid(size))

    def _with_class(self, patches: Tensor) -> Tensor:
        if not self.leading:
            return patches
        first = self.cls_token + self.pos_embed[:, :1]
        return torch.cat([first.expand(len(patches), -1, -1), patches], 1)

    def _patch_maps(self, tokens: Tensor, grid: tuple[int, int]) -> Tensor:
        """(B, leading + N, D) to (B, D, h, w) without the leading tokens; a view."""
        return tokens[:, self.leading :].transpose(1, 2).view(len(tokens), self.width, *grid)


def relative_positions(grid: tuple[int, int], leading: int) -> Tensor:
    """The kind of distance between any two tokens, numbered as in BEiT: int64 (T, T)."""
    rows, columns = grid
    row, column = (
        place.flatten()
        for place in torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    )
    down = row[:, None] - row + rows - 1
    right = column[:, None] - column + columns - 1
    kinds = down * (2 * columns - 1) + right
    if not leading:
        return kinds
    others = (2 * rows - 1) * (2 * columns - 1)
    framed = F.pad(kinds, (1, 0, 1, 0))
    framed[0, :], framed[:, 0], framed[0, 0] = others, others + 1, others + 2
    return framed


def initialise_transformer(module: nn.Module) -> None:
    """Xavier uniform matrices and zero biases in all linear layers below ``module``."""
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.xavier_uniform_(part.weight)
            nn.init.zeros_(part.bias)


def _expect(key: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ConfigError(f"encoder.{key}: {value!r}; expected {' or '.join(allowed)}")

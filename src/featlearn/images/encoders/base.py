"""What every encoder offers, whatever it is built of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from featlearn.core.errors import ConfigError


class Encoder(nn.Module, ABC):
    """From images (B, 3, H, W) to features, in two steps so that a mask may come between them.

    ``feature_map = body(stem(images))``. ``width``: number of features. ``stride``: pixels of the
    image for one cell of the last map. ``stem_width``, ``stem_stride``: the same of the stem's
    output. ``depth``: number of blocks. ``cam_layer``: name of the layer that class activation maps
    are read from. ``first_layer``, ``last_layer``: names of the first convolution and of the last
    layer before its rectifier; empty in networks that are not looked at by channel. ``rectified``:
    layers whose answers are rectified, there or right behind. ``built``: ``encoder`` (kind and
    options) and ``image_size`` of :func:`build_encoder`.
    """

    built: Mapping[str, Any] = {}

    width: int
    stride: int
    stem_width: int
    stem_stride: int
    depth: int
    cam_layer: str
    first_layer: str = ""
    last_layer: str = ""
    rectified: tuple[str, ...] = ()

    @property
    def core(self) -> nn.Module:
        """What the names of a file of weights are those of: the encoder, or what it wraps."""
        return self

    def understood(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """Weights (names of a file) with the names and shapes of ``core``, as far as known."""
        return weights

    @abstractmethod
    def stem(self, images: Tensor) -> Tensor:
        """(B, 3, H, W) to (B, stem_width, H / stem_stride, W / stem_stride)."""

    @abstractmethod
    def body(self, stem: Tensor) -> Tensor:
        """Output of the stem to (B, width, h, w) with ``(h, w) = grid(H, W)``."""

    @abstractmethod
    def block_maps(self, stem: Tensor) -> list[Tensor]:
        """Output of the stem to the output of every block, each (B, width_i, h_i, w_i)."""

    def feature_map(self, images: Tensor) -> Tensor:
        """(B, 3, H, W) to (B, width, h, w)."""
        return self.body(self.stem(images))

    def forward(self, images: Tensor) -> Tensor:
        """(B, 3, H, W) to features (B, width): the mean over the map."""
        return self.feature_map(images).mean((2, 3))

    def grid(self, size: int | tuple[int, int]) -> tuple[int, int]:
        """Rows and columns of the last map for images of this size in pixels."""
        height, width = (size, size) if isinstance(size, int) else size
        return -(-height // self.stride), -(-width // self.stride)

    def layer_maps(self, images: Tensor, layer: str | None = None) -> Tensor:
        """Output of one layer on the way to the features, as maps (B, channels, h, w).

        ``layer``: name of a module; ``cam_layer`` by default. Raises ConfigError if there is none,
        or it takes no part.
        """
        name = self.cam_layer if layer is None else layer
        modules = dict(self.named_modules())
        if name not in modules or not name:
            raise ConfigError(f"layer: {name!r}; expected one such as {self.cam_layer!r}")
        _, output = watched(self, modules[name], images)
        return self.as_maps(output, (images.shape[-2], images.shape[-1]))

    def as_maps(self, output: Tensor, size: tuple[int, int]) -> Tensor:
        """What a layer gave for images of ``size`` pixels, as (B, channels, h, w)."""
        return output


def watched(
    run: Callable[[Tensor], Tensor], layer: nn.Module, inputs: Tensor
) -> tuple[Tensor, Tensor]:
    """``run(inputs)``, and what ``layer`` gave on the way."""
    outputs: list[Tensor] = []
    handle = layer.register_forward_hook(lambda _, __, output: outputs.append(output))
    try:
        result = run(inputs)
    finally:
        handle.remove()
    if not outputs:
        raise ConfigError(f"layer: {type(layer).__name__} takes no part in the network's pass")
    return result, outputs[-1]


class Shortcut(nn.Conv2d):
    """A 1x1 convolution (B, channels_in, H, W) to (B, channels, ceil(H / stride), ...), no bias.

    As ``nn.Conv2d(channels_in, channels, 1, stride)``, but cells are chosen first: with a stride,
    oneDNN's gradient of the weight writes past its workspace on processors without AVX-512, in
    channels-last order with fewer than 8 channels (uxlfoundation/oneDNN, issue 6035).
    """

    def __init__(self, channels_in: int, channels: int, stride: int):
        super().__init__(channels_in, channels, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        if self.stride != (1, 1):
            # means over single cells: unlike a slice, their gradient keeps the order of x
            x = functional.avg_pool2d(x, 1, self.stride)
        return functional.conv2d(x, self.weight)


def initialise_convolutions(module: nn.Module) -> None:
    """He's normal initialisation by the number of outputs, as torchvision's residual networks."""
    for part in module.modules():
        if isinstance(part, nn.Conv2d):
            nn.init.kaiming_normal_(part.weight, mode="fan_out", nonlinearity="relu")
        elif isinstance(part, nn.BatchNorm2d | nn.GroupNorm):
            nn.init.ones_(part.weight)
            nn.init.zeros_(part.bias)


def normalisation(kind: str, channels: int, groups: int = 8) -> nn.Module:
    """A batch norm, or a group norm of at most ``groups`` groups that divide the channels."""
    if kind == "batch":
        return nn.BatchNorm2d(channels)
    if kind == "group":
        fitting = next(number for number in range(groups, 0, -1) if channels % number == 0)
        return nn.GroupNorm(fitting, channels)
    raise ConfigError(f"encoder.norm: {kind!r}; expected batch or group")


def sin_cos_positions(
    grid: tuple[int, int], width: int, device: torch.device | None = None
) -> Tensor:
    """Fixed two-dimensional positions (h * w, width) of MAE (He et al. 2022, section A.1).

    A quarter of the features each for sine and cosine of column and row, with geometric wavelengths
    from 2 pi to 10000 * 2 pi.
    """
    if width % 4:
        raise ConfigError(f"width: {width}; expected a multiple of 4 for sine-cosine positions")
    rate = 1 / 10000 ** (torch.arange(width // 4, dtype=torch.float64, device=device) * 4 / width)
    steps = [torch.arange(side, dtype=torch.float64, device=device) for side in grid]
    row, column = torch.meshgrid(*steps, indexing="ij")
    angles = [place.reshape(-1, 1) * rate for place in (column, row)]
    parts = [wave for angle in angles for wave in (angle.sin(), angle.cos())]
    return torch.cat(parts, 1).float()

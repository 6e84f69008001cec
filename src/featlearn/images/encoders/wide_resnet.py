"""Wide residual networks (Zagoruyko and Komodakis 2016) for 32-pixel images."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from featlearn.core.errors import ConfigError
from featlearn.images.encoders.base import Encoder, Shortcut, initialise_convolutions


class WideBlock(nn.Module):
    """Pre-activation block: (B, before, H, W) to (B, width, h, w).

    Norm and rectifier stand before each of the two 3x3 convolutions. Where size or width change, a
    1x1 convolution of the rectified input is the shortcut.
    """

    def __init__(self, before: int, width: int, stride: int):
        super().__init__()
        self.bn1, self.relu1 = nn.BatchNorm2d(before), nn.ReLU()
        self.conv1 = nn.Conv2d(before, width, 3, stride, 1, bias=False)
        self.bn2, self.relu2 = nn.BatchNorm2d(width), nn.ReLU()
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.shortcut = None
        if stride != 1 or before != width:
            self.shortcut = Shortcut(before, width, stride)

    def forward(self, x: Tensor) -> Tensor:
        active = self.relu1(self.bn1(x))
        kept = x if self.shortcut is None else self.shortcut(active)
        return kept + self.conv2(self.relu2(self.bn2(self.conv1(active))))


class WideResNet(Encoder):
    """WRN-``layers``-``widen``: three groups of ``(layers - 4) / 6`` pre-activation blocks.

    Widths are 16, then ``widen`` times 16, 32 and 64; maps are halved in the second and third
    group; the features are the mean over the last map, after norm and rectifier.

    Parameters
    ----------
    layers
        4 more than a multiple of 6; 34 in Wen and Li.
    widen
        Factor on the widths; 5 in Wen and Li.
    stem_stride
        Of the first convolution: 2 makes everything four times cheaper (ours).
    """

    def __init__(self, layers: int = 34, widen: int = 5, stem_stride: int = 1):
        super().__init__()
        blocks, rest = divmod(layers - 4, 6)
        if rest or blocks < 1:
            raise ConfigError(
                f"encoder.layers: {layers}; expected 4 more than a multiple of 6, such as 34"
            )
        self.conv1 = nn.Conv2d(3, 16, 3, stem_stride, 1, bias=False)
        before = 16
        for number, (width, stride) in enumerate([(16, 1), (32, 2), (64, 2)], 1):
            wide = width * widen
            parts = [WideBlock(before, wide, stride)]
            parts += [WideBlock(wide, wide, 1) for _ in range(blocks - 1)]
            self.add_module(f"group{number}", nn.Sequential(*parts))
            before = wide
        self.bn, self.relu = nn.BatchNorm2d(before), nn.ReLU()
        self.groups = ("group1", "group2", "group3")
        self.width, self.stride, self.depth = before, 4 * stem_stride, 3 * blocks
        self.stem_width, self.stem_stride = 16, stem_stride
        self.first_layer = "conv1"
        last = blocks - 1
        self.rectified = (*(f"{group}.{last}.relu2" for group in self.groups), "relu")
        self.last_layer = "bn"
        self.cam_layer = "relu"
        initialise_convolutions(self)

    def stem(self, images: Tensor) -> Tensor:
        return self.conv1(images)

    def body(self, stem: Tensor) -> Tensor:
        for group in self.groups:
            stem = getattr(self, group)(stem)
        return self.relu(self.bn(stem))

    def block_maps(self, stem: Tensor) -> list[Tensor]:
        outputs = []
        for group in self.groups:
            for block in getattr(self, group):
                stem = block(stem)
                outputs.append(stem)
        # the last block's answer is what the features are made of
        outputs[-1] = functional.relu(self.bn(outputs[-1]))
        return outputs

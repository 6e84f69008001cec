"""Residual networks: a small one for 32-pixel images, and ResNet-18/50 in torchvision's layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from torch import Tensor, nn

from featlearn.core.errors import ConfigError
from featlearn.images.encoders.base import (
    Encoder,
    Shortcut,
    initialise_convolutions,
    normalisation,
)


class BasicBlock(nn.Module):
    """Two 3x3 convolutions beside a shortcut: (B, channels_in, H, W) to (B, planes, h, w).

    Here and in :class:`Bottleneck`, names, arithmetic and the order in which weights are drawn are
    torchvision's (held to it by a test), whose import alone would take seconds of every job.
    """

    expansion = 1

    def __init__(
        self,
        channels_in: int,
        planes: int,
        stride: int = 1,
        shortcut: nn.Module | None = None,
        make_norm: Callable[[int], nn.Module] = nn.BatchNorm2d,
    ):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, planes, 3, stride, 1, bias=False)
        self.bn1 = make_norm(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(planes, planes, 3, 1, 1, bias=False)
        self.bn2 = make_norm(planes)
        self.downsample = shortcut

    def forward(self, x: Tensor) -> Tensor:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)

    @property
    def last_norm(self) -> nn.Module:
        """The norm before the shortcut is added."""
        return self.bn2


class Bottleneck(nn.Module):
    """Convolutions 1x1, 3x3 (with the stride) and 1x1 beside a shortcut, to 4 planes channels."""

    expansion = 4

    def __init__(
        self,
        channels_in: int,
        planes: int,
        stride: int = 1,
        shortcut: nn.Module | None = None,
        make_norm: Callable[[int], nn.Module] = nn.BatchNorm2d,
    ):
        super().__init__()
        channels = planes * self.expansion
        self.conv1 = nn.Conv2d(channels_in, planes, 1, bias=False)
        self.bn1 = make_norm(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, stride, 1, bias=False)
        self.bn2 = make_norm(planes)
        self.conv3 = nn.Conv2d(planes, channels, 1, bias=False)
        self.bn3 = make_norm(channels)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = shortcut

    def forward(self, x: Tensor) -> Tensor:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)

    @property
    def last_norm(self) -> nn.Module:
        """The norm before the shortcut is added."""
        return self.bn3


Block = type[BasicBlock] | type[Bottleneck]
#: Block and number of blocks of each stage, by the number of layers.
LAYOUTS: dict[int, tuple[Block, tuple[int, ...]]] = {
    18: (BasicBlock, (2, 2, 2, 2)),
    50: (Bottleneck, (3, 4, 6, 3)),
}


def _stage(
    block: Block,
    channels_in: int,
    planes: int,
    blocks: int,
    stride: int,
    norm: str,
) -> nn.Sequential:
    """``blocks`` residual blocks in torchvision's layout; the first one changes size and width."""
    make_norm = partial(normalisation, norm)
    channels = planes * block.expansion
    shortcut = None
    if stride != 1 or channels_in != channels:
        shortcut = nn.Sequential(Shortcut(channels_in, channels, stride), make_norm(channels))
    parts = [block(channels_in, planes, stride, shortcut, make_norm)]
    parts += [block(channels, planes, make_norm=make_norm) for _ in range(blocks - 1)]
    return nn.Sequential(*parts)


class ResidualNet(Encoder):
    """Residual stages ``layer1``, ``layer2``, ... behind a stem (He et al. 2016).

    Subclasses build the modules and call :meth:`_finish`.
    """

    stages: tuple[str, ...]
    conv1: nn.Conv2d
    bn1: nn.Module
    relu: nn.ReLU
    maxpool: nn.Module

    def _finish(self, depths: Sequence[int], zero_init_last: bool) -> None:
        initialise_convolutions(self)
        if zero_init_last:
            for part in self.modules():
                if isinstance(part, BasicBlock | Bottleneck):
                    nn.init.zeros_(part.last_norm.weight)  # type: ignore[arg-type]
        self.depth = sum(depths)
        self.cam_layer, self.cam_layers = self.stages[-1], self.stages

    def stem(self, images: Tensor) -> Tensor:
        return self.maxpool(self.relu(self.bn1(self.conv1(images))))

    def body(self, stem: Tensor) -> Tensor:
        for stage in self.stages:
            stem = getattr(self, stage)(stem)
        return stem

    def block_maps(self, stem: Tensor) -> list[Tensor]:
        outputs = []
        for stage in self.stages:
            for block in getattr(self, stage):
                stem = block(stem)
                outputs.append(stem)
        return outputs


class SmallResNet(ResidualNet):
    """A residual network of basic blocks for small images; the design is ours.

    Parameters
    ----------
    widths
        Channels of each stage; each stage after the first halves the map.
    blocks
        Blocks of each stage; each has two 3x3 convolutions.
    norm
        ``batch`` or ``group`` (at most 8 groups).
    stem_stride
        Stride of the 3x3 convolution in front: 2 makes everything four times cheaper.
    zero_init_last
        Start each block as the identity (Goyal et al. 2017): its last norm's scale is zero.
    """

    def __init__(
        self,
        widths: Sequence[int] = (16, 32, 64),
        blocks: int = 1,
        norm: str = "batch",
        stem_stride: int = 1,
        zero_init_last: bool = False,
    ):
        super().__init__()
        self.conv1 = nn.Conv2d(3, widths[0], 3, stem_stride, 1, bias=False)
        self.bn1 = normalisation(norm, widths[0])
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.Identity()
        self.stages = tuple(f"layer{number + 1}" for number in range(len(widths)))
        before = [widths[0], *widths]
        for number, (name, planes) in enumerate(zip(self.stages, widths, strict=True)):
            stride = 1 if number == 0 else 2
            self.add_module(name, _stage(BasicBlock, before[number], planes, blocks, stride, norm))
        self.width, self.stem_width, self.stem_stride = widths[-1], widths[0], stem_stride
        self.stride = stem_stride * 2 ** (len(widths) - 1)
        self._finish([blocks] * len(widths), zero_init_last)


class ResNet(ResidualNet):
    """ResNet-18 or ResNet-50 (He et al. 2016) with the names and numbers of torchvision.

    Parameters
    ----------
    layers
        18 or 50.
    stem
        ``imagenet``: 7x7 convolution of stride 2 and max-pooling. ``cifar``: 3x3 convolution of
        stride 1 and no pooling, for images of about 32 pixels. ``stl``: 3x3 convolution of stride 1
        and max-pooling, for images of about 64 pixels.
    width_multiplier
        Times torchvision's channels; the result is rounded to whole channels.
    norm
        ``batch`` or ``group``.
    zero_init_last
        Start each block as the identity (Goyal et al. 2017): its last norm's scale is zero.
    """

    def __init__(
        self,
        layers: int,
        stem: str = "imagenet",
        width_multiplier: float = 1.0,
        norm: str = "batch",
        zero_init_last: bool = False,
    ):
        super().__init__()
        block, counts = LAYOUTS[layers]
        if stem not in ("imagenet", "cifar", "stl"):
            raise ConfigError(f"encoder.stem: {stem!r}; expected imagenet, cifar or stl")
        planes = round(64 * width_multiplier)
        if planes < 1:
            raise ConfigError(f"encoder.width_multiplier: {width_multiplier}; no channel is left")
        large = stem == "imagenet"
        kernel, stride, padding = (7, 2, 3) if large else (3, 1, 1)
        self.conv1 = nn.Conv2d(3, planes, kernel, stride, padding, bias=False)
        self.bn1 = normalisation(norm, planes)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.Identity() if stem == "cifar" else nn.MaxPool2d(3, 2, 1)
        self.stages = ("layer1", "layer2", "layer3", "layer4")
        channels = planes
        for number, (name, blocks) in enumerate(zip(self.stages, counts, strict=True)):
            wide = planes * 2**number
            step = 1 if number == 0 else 2
            self.add_module(name, _stage(block, channels, wide, blocks, step, norm))
            channels = wide * block.expansion
        self.width, self.stem_width = channels, planes
        self.stem_stride = {"imagenet": 4, "cifar": 1, "stl": 2}[stem]
        self.stride = self.stem_stride * 8
        self._finish(counts, zero_init_last)

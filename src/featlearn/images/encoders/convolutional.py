"""Convolutional networks: residual ones, wide ones, and plain ones without shortcuts."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial

from torch import Tensor, nn
from torch.nn import functional

from featlearn.core.errors import ConfigError
from featlearn.core.run.checks import must
from featlearn.images.encoders.base import Encoder, Shortcut, initialise_convolutions, normalisation


class ResidualBlock(nn.Module):
    """Convolutions beside a shortcut: (B, channels_in, H, W) to (B, channels, h, w).

    ``sizes``: of each convolution channels, side of the kernel and stride. Names, arithmetic and
    order of random weights are those of torchvision's BasicBlock and Bottleneck.
    """

    def __init__(
        self, channels_in: int, sizes: Sequence[tuple[int, int, int]], shortcut: nn.Module | None,
        make_norm: Callable[[int], nn.Module],
    ):  # fmt: skip
        super().__init__()
        self.names = [(f"conv{number}", f"bn{number}") for number in range(1, len(sizes) + 1)]
        for (conv, norm), (channels, kernel, stride) in zip(self.names, sizes, strict=True):
            made = nn.Conv2d(channels_in, channels, kernel, stride, kernel // 2, bias=False)
            self.add_module(conv, made)
            self.add_module(norm, make_norm(channels))
            channels_in = channels
        self.relu = nn.ReLU(inplace=True)
        self.downsample = shortcut

    def forward(self, x: Tensor) -> Tensor:
        out = x
        for number, (conv, norm) in enumerate(self.names):
            out = self.relu(out) if number else out
            out = getattr(self, norm)(getattr(self, conv)(out))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


#: Blocks of each stage by the number of layers, and whether they have three convolutions and four
#: times the channels.
LAYOUTS = {18: ((2, 2, 2, 2), False), 50: ((3, 4, 6, 3), True)}


def _stage(
    channels_in: int, planes: int, blocks: int, stride: int, norm: str, bottleneck: bool
) -> nn.Sequential:
    """``blocks`` residual blocks in torchvision's layout; the first one changes size and width."""
    make_norm = partial(normalisation, norm)
    channels = 4 * planes if bottleneck else planes
    parts: list[nn.Module] = []
    for before, step in [(channels_in, stride), *[(channels, 1)] * (blocks - 1)]:
        sizes = [(planes, 3, step), (planes, 3, 1)]
        if bottleneck:
            sizes = [(planes, 1, 1), (planes, 3, step), (channels, 1, 1)]
        shortcut = None
        if step != 1 or before != channels:
            shortcut = nn.Sequential(Shortcut(before, channels, step), make_norm(channels))
        parts.append(ResidualBlock(before, sizes, shortcut, make_norm))
    return nn.Sequential(*parts)


class ResidualNet(Encoder):
    """Residual stages ``layer1``, ``layer2``, ... behind a stem (He et al. 2016).

    ``kernel``, ``stride``: of the first convolution. ``pooled``: whether a max-pool halves the maps
    behind it. ``planes``, ``blocks``: channels and number of blocks of each stage.
    """

    def __init__(
        self, kernel: int, stride: int, pooled: bool, planes: Sequence[int], blocks: Sequence[int],
        norm: str, bottleneck: bool = False,
    ):  # fmt: skip
        super().__init__()
        self.conv1 = nn.Conv2d(3, planes[0], kernel, stride, kernel // 2, bias=False)
        self.bn1 = normalisation(norm, planes[0])
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1) if pooled else nn.Identity()
        self.stages = tuple(f"layer{number}" for number in range(1, len(planes) + 1))
        self.width = self.stem_width = planes[0]
        for name, wide, count in zip(self.stages, planes, blocks, strict=True):
            step = 1 if name == "layer1" else 2
            self.add_module(name, _stage(self.width, wide, count, step, norm, bottleneck))
            self.width = 4 * wide if bottleneck else wide
        self.stem_stride = 2 * stride if pooled else stride
        self.stride = self.stem_stride * 2 ** (len(planes) - 1)
        self.depth, self.cam_layer = sum(blocks), self.stages[-1]
        initialise_convolutions(self)

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

    The options are explained with ``small_resnet`` in docs/keys/images.md.
    """

    def __init__(
        self, widths: Sequence[int] = (16, 32, 64), blocks: int = 1, norm: str = "batch",
        stem_stride: int = 1,
    ):  # fmt: skip
        super().__init__(3, stem_stride, False, widths, [blocks] * len(widths), norm)


class ResNet(ResidualNet):
    """ResNet-18 or ResNet-50 (He et al. 2016) with the names and numbers of torchvision.

    ``layers``: 18 or 50. The others are explained with ``resnet`` in docs/keys/images.md.
    """

    def __init__(
        self, layers: int, stem: str = "imagenet", width_multiplier: float = 1.0,
        norm: str = "batch",
    ):  # fmt: skip
        if stem not in ("imagenet", "cifar", "stl"):
            raise ConfigError(f"encoder.stem: {stem!r}; expected imagenet, cifar or stl")
        planes = round(64 * width_multiplier)
        if planes < 1:
            raise ConfigError(f"encoder.width_multiplier: {width_multiplier}; no channel is left")
        kernel, stride = (7, 2) if stem == "imagenet" else (3, 1)
        blocks, bottleneck = LAYOUTS[layers]
        widths = [planes * 2**number for number in range(4)]
        super().__init__(kernel, stride, stem != "cifar", widths, blocks, norm, bottleneck)


class Padded(nn.Module):
    """Shortcut of option A, without weights: (B, C, H, W) to (B, 2 C, ceil(H / 2), ceil(W / 2)).

    Every second cell, between channels of zeros.
    """

    def forward(self, x: Tensor) -> Tensor:
        beside = x.shape[1] // 2
        return functional.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, beside, beside))


class CifarResNet(SmallResNet):
    """ResNet-20, -32, -44, -56, -110 for CIFAR-10 (He et al. 2016, section 4.2).

    Three stages of ``(layers - 2) / 6`` basic blocks, of widths 16, 32 and 64. Names are those of
    akamaster/pytorch_resnet_cifar10, whose weights fit. Raises ConfigError if ``layers`` is another
    number.
    """

    def __init__(self, layers: int = 20):
        blocks, rest = divmod(layers - 2, 6)
        if rest or blocks < 1:
            raise ConfigError(must("encoder.layers", "2 more than a multiple of 6", layers))
        super().__init__((16, 32, 64), blocks)
        for stage in ("layer2", "layer3"):
            self.get_submodule(f"{stage}.0").downsample = Padded()

    def understood(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """The head, ``linear`` in the file, under a name that tells it as one."""
        return {name.replace("linear.", "fc."): value for name, value in weights.items()}


class WideBlock(nn.Module):
    """Pre-activation block: (B, before, H, W) to (B, width, h, w).

    Where size or width change, a 1x1 convolution of the rectified input is the shortcut.
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

    Widths are 16, then ``widen`` times 16, 32 and 64; the second and third group halve the maps.
    Wen and Li have WRN-34-5. A ``stem_stride`` of 2 makes everything four times cheaper (ours).
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


class PlainNet(Encoder):
    """A chain of 3x3 convolutions, rectifiers and max-pools, with PyTorch's random start.

    ``widths``: channels of each layer. ``pooled``: numbers, from 1, of the layers after which maps
    are halved. ``strides``: of each convolution. ``norm``: ``batch`` or ``none``. The features are
    the mean over the last map.
    """

    def __init__(
        self, widths: Sequence[int], pooled: Sequence[int], strides: Sequence[int],
        norm: str = "none",
    ):  # fmt: skip
        super().__init__()
        before, scale, names = 3, 1, []
        normed = norm == "batch"
        for number, (width, stride) in enumerate(zip(widths, strides, strict=True), 1):
            # a norm brings its own shift
            convolution = nn.Conv2d(before, width, 3, stride, 1, bias=not normed)
            parts: dict[str, nn.Module] = {"conv": convolution}
            if normed:
                parts["norm"] = nn.BatchNorm2d(width)
            # the largest rectified answer is the largest answer, rectified: a quarter of the work
            if number in pooled:
                parts["pool"] = nn.MaxPool2d(2)
            # not in place: a layer's answer is read off before and behind it
            parts["relu"] = nn.ReLU()
            names.append("first" if number == 1 else f"layer_{number}")
            self.add_module(names[-1], nn.Sequential(OrderedDict(parts)))
            before, scale = width, scale * stride * (2 if number in pooled else 1)
            if number == 1:
                self.stem_width, self.stem_stride = width, scale
        self.names = tuple(names)
        self.width, self.stride, self.depth = before, scale, len(widths) - 1
        answer = "norm" if normed else "conv"
        self.first_layer, self.last_layer = "first.conv", f"{names[-1]}.{answer}"
        self.rectified = tuple(f"{name}.{answer}" for name in names)
        self.cam_layer = names[-1]

    def stem(self, images: Tensor) -> Tensor:
        return self.get_submodule("first")(images)

    def body(self, stem: Tensor) -> Tensor:
        return self.block_maps(stem)[-1]

    def block_maps(self, stem: Tensor) -> list[Tensor]:
        outputs = []
        for name in self.names[1:]:
            stem = self.get_submodule(name)(stem)
            outputs.append(stem)
        return outputs


class SmallPlainNet(PlainNet):
    """Five layers of widths ``width`` (1, 2, 3, 2, 2) for images of about 32 pixels; ours.

    Maps are halved after layers 1, 2 and 5.
    """

    def __init__(self, width: int = 16, norm: str = "none"):
        widths = [width * factor for factor in (1, 2, 3, 2, 2)]
        super().__init__(widths, pooled=(1, 2, 5), strides=(1, 1, 1, 1, 1), norm=norm)


class AlexNet(PlainNet):
    """AlexNet (Krizhevsky et al. 2012) for 32-pixel images: five convolutions, no dropout.

    The first has stride 2, maps are halved after layers 1, 2 and 5; features are the mean over the
    last map (ours).
    """

    def __init__(self) -> None:
        super().__init__((64, 192, 384, 256, 256), pooled=(1, 2, 5), strides=(2, 1, 1, 1, 1))

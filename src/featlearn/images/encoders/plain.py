"""Plain convolutional networks whose layers can be told apart by number.

Every layer is a convolution ``conv<l>`` and a rectifier ``relu<l>``; pools stand between them. What
a layer answers is read off at these names.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from featlearn.images.encoders.base import Encoder


class PlainNet(Encoder):
    """A chain of convolutions, rectifiers and max-pools, with PyTorch's own random start.

    The features are the mean over the last map. ``conv1`` with its rectifier is the stem.

    Parameters
    ----------
    widths
        Channels of each layer.
    pooled
        Numbers, from 1, of the layers after which maps are halved.
    strides
        Of each convolution; all have 3x3 kernels and a border of one pixel.
    """

    def __init__(self, widths: Sequence[int], pooled: Sequence[int], strides: Sequence[int]):
        super().__init__()
        before, scale = 3, 1
        self.numbers = range(1, len(widths) + 1)
        for number, width, stride in zip(self.numbers, widths, strides, strict=True):
            self.add_module(f"conv{number}", nn.Conv2d(before, width, 3, stride, 1))
            # a module each, not in place: what a layer answers is read off before and behind it
            self.add_module(f"relu{number}", nn.ReLU())
            pool = nn.MaxPool2d(2) if number in pooled else nn.Identity()
            self.add_module(f"pool{number}", pool)
            before, scale = width, scale * stride * (2 if number in pooled else 1)
            if number == 1:
                self.stem_width, self.stem_stride = width, scale
        self.width, self.stride, self.depth = before, scale, len(widths)
        self.first_layer = "conv1"
        self.rectified = tuple(f"relu{number}" for number in self.numbers)
        self.last_layer = f"conv{len(widths)}"
        self.cam_layer = self.rectified[-1]

    def layer(self, number: int, maps: Tensor) -> Tensor:
        """What layer ``number`` makes of maps, pooled if it is."""
        for part in ("conv", "relu", "pool"):
            maps = getattr(self, f"{part}{number}")(maps)
        return maps

    def stem(self, images: Tensor) -> Tensor:
        return self.layer(1, images)

    def body(self, stem: Tensor) -> Tensor:
        for number in self.numbers[1:]:
            stem = self.layer(number, stem)
        return stem

    def block_maps(self, stem: Tensor) -> list[Tensor]:
        outputs = []
        for number in self.numbers[1:]:
            stem = self.layer(number, stem)
            outputs.append(stem)
        return outputs


class SmallPlainNet(PlainNet):
    """Five layers of widths ``w (1, 2, 3, 2, 2)`` for images of about 32 pixels; ours.

    Maps are halved after layers 1, 2 and 5.

    Parameters
    ----------
    width
        ``w``.
    """

    def __init__(self, width: int = 16):
        widths = [width * factor for factor in (1, 2, 3, 2, 2)]
        super().__init__(widths, pooled=(1, 2, 5), strides=(1, 1, 1, 1, 1))


class AlexNet(PlainNet):
    """AlexNet (Krizhevsky et al. 2012) in the form usual for 32-pixel images.

    Widths 64, 192, 384, 256, 256; the first convolution has stride 2, maps are halved after layers
    1, 2 and 5. No dropout and no fully connected layers; the features are the mean over the last
    map (ours).
    """

    def __init__(self) -> None:
        super().__init__((64, 192, 384, 256, 256), pooled=(1, 2, 5), strides=(2, 1, 1, 1, 1))

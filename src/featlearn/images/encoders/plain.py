"""Plain convolutional networks whose layers can be told apart by number.

Every layer is a convolution ``conv``, with batch norm a ``norm`` behind it, in some a max-pool,
and a rectifier. The layers are called ``first``, ``layer_2``, ``layer_3``, ...; what one answers
is read off at these names.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from torch import Tensor, nn

from featlearn.images.encoders.base import Encoder


class PlainNet(Encoder):
    """A chain of convolutions, rectifiers and max-pools, with PyTorch's own random start.

    The features are the mean over the last map. The first layer is the stem.

    Parameters
    ----------
    widths
        Channels of each layer.
    pooled
        Numbers, from 1, of the layers after which maps are halved.
    strides
        Of each convolution; all have 3x3 kernels and a border of one pixel.
    norm
        ``batch`` or ``none``.
    """

    def __init__(
        self,
        widths: Sequence[int],
        pooled: Sequence[int],
        strides: Sequence[int],
        norm: str = "none",
    ):
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
    """Five layers of widths ``w (1, 2, 3, 2, 2)`` for images of about 32 pixels; ours.

    Maps are halved after layers 1, 2 and 5.

    Parameters
    ----------
    width
        ``w``.
    norm
        ``batch`` or ``none``.
    """

    def __init__(self, width: int = 16, norm: str = "none"):
        widths = [width * factor for factor in (1, 2, 3, 2, 2)]
        super().__init__(widths, pooled=(1, 2, 5), strides=(1, 1, 1, 1, 1), norm=norm)


class AlexNet(PlainNet):
    """AlexNet (Krizhevsky et al. 2012) in the form usual for 32-pixel images.

    Widths 64, 192, 384, 256, 256; the first convolution has stride 2, maps are halved after layers
    1, 2 and 5. No dropout and no fully connected layers; the features are the mean over the last
    map (ours).
    """

    def __init__(self) -> None:
        super().__init__((64, 192, 384, 256, 256), pooled=(1, 2, 5), strides=(2, 1, 1, 1, 1))

"""Residual networks for CIFAR-10 (He et al. 2016, section 4.2), as released weights have them."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from featlearn.core.checks import must
from featlearn.core.errors import ConfigError
from featlearn.images.encoders.convolutional import SmallResNet


class Padded(nn.Module):
    """Shortcut of option A, without weights: (B, C, H, W) to (B, 2 C, ceil(H / 2), ceil(W / 2)).

    Every second cell, between channels of zeros.
    """

    def forward(self, x: Tensor) -> Tensor:
        beside = x.shape[1] // 2
        return functional.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, beside, beside))


class CifarResNet(SmallResNet):
    """ResNet-20, -32, -44, -56, -110: three stages of ``(layers - 2) / 6`` basic blocks.

    Their widths are 16, 32 and 64. Names are those of akamaster/pytorch_resnet_cifar10, whose
    weights fit. Raises ConfigError if ``layers`` is another number.
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

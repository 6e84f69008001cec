"""Encoders: from images to features."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from inspect import signature
from typing import Any

from featlearn.images.encoders.base import Encoder
from featlearn.images.encoders.convolutional import (
    AlexNet,
    ResNet,
    SmallPlainNet,
    SmallResNet,
    WideResNet,
)
from featlearn.images.encoders.vit import VisionTransformer
from featlearn.images.kinds import construct, options_of

__all__ = [
    "AlexNet",
    "Encoder",
    "ResNet",
    "SmallPlainNet",
    "SmallResNet",
    "VisionTransformer",
    "WideResNet",
    "build_encoder",
]

#: Width and heads of the named vision transformers (Dosovitskiy et al. 2021, Touvron et al. 2021).
SHAPES: dict[str, dict[str, Any]] = {
    "vit_tiny": {"width": 192, "depth": 12, "heads": 3},
    "vit_small": {"width": 384, "depth": 12, "heads": 6},
    "vit_base": {"width": 768, "depth": 12, "heads": 12},
}


def build_encoder(settings: Mapping[str, Any], image_size: int | tuple[int, int]) -> Encoder:
    """The encoder that the config asks for, with random weights from torch's global generator.

    Parameters
    ----------
    settings
        ``kind`` (``small_resnet``, ``resnet18``, ``resnet50``, ``vit_tiny``, ``vit_small``,
        ``vit_base``, ``vit``, ``plain``, ``alexnet`` or ``wide_resnet``) and the options of that
        kind: the arguments of :class:`SmallResNet`, :class:`ResNet`, :class:`VisionTransformer`,
        :class:`SmallPlainNet`, :class:`AlexNet` or :class:`WideResNet`. They may also stand in a
        group named after the class of kinds (``small_resnet``, ``resnet``, ``vit``, ``plain``,
        ``wide_resnet``).
    image_size
        Pixels of the images' sides, or (height, width).

    Raises
    ------
    ConfigError
        For an unknown kind, an option that the kind does not have, or an impossible value.

    Examples
    --------
    >>> with seeded(0, "example"):
    ...     encoder = build_encoder({"kind": "small_resnet", "widths": [16, 32, 64]}, 32)
    >>> encoder(torch.zeros(2, 3, 32, 32)).shape
    torch.Size([2, 64])
    """
    kinds: dict[str, tuple[str, Callable[..., Encoder]]] = {
        "small_resnet": ("small_resnet", SmallResNet),
        "resnet18": ("resnet", partial(ResNet, 18)),
        "resnet50": ("resnet", partial(ResNet, 50)),
        "vit": ("vit", partial(VisionTransformer, image_size)),
        "plain": ("plain", SmallPlainNet),
        "alexnet": ("alexnet", AlexNet),
        "wide_resnet": ("wide_resnet", WideResNet),
    }
    for name, shape in SHAPES.items():
        kinds[name] = ("vit", partial(VisionTransformer, image_size, **shape))
    made = construct("encoder", settings, kinds)
    defaults = {
        name: option.default
        for name, option in signature(kinds[settings["kind"]][1]).parameters.items()
        if option.default is not option.empty
    }
    own = {"kind": settings["kind"], **defaults, **options_of(settings, kinds)}
    # as JSON gives it back
    made.built = json.loads(json.dumps({"encoder": own, "image_size": image_size}))
    return made

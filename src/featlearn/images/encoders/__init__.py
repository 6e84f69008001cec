"""Encoders: from images to features."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from inspect import signature
from typing import Any, TypeVar

from featlearn.core.errors import ConfigError
from featlearn.core.run.checks import unknown
from featlearn.images.encoders.base import Encoder
from featlearn.images.encoders.convolutional import (
    AlexNet,
    CifarResNet,
    ResNet,
    SmallPlainNet,
    SmallResNet,
    WideResNet,
)
from featlearn.images.encoders.vit import VisionTransformer

__all__ = ["Encoder", "ResNet", "SmallResNet", "VisionTransformer", "build_encoder", "construct"]

Made = TypeVar("Made")
#: Of each kind its family, and a function whose keyword arguments are its options.
Kinds = Mapping[str, tuple[str, Callable[..., Made]]]
#: Width and heads of the named vision transformers (Dosovitskiy et al. 2021, Touvron et al. 2021).
SHAPES: dict[str, dict[str, Any]] = {
    "vit_tiny": {"width": 192, "depth": 12, "heads": 3},
    "vit_small": {"width": 384, "depth": 12, "heads": 6},
    "vit_base": {"width": 768, "depth": 12, "heads": 12},
}


def build_encoder(settings: Mapping[str, Any], image_size: int | tuple[int, int]) -> Encoder:
    """The encoder that the config asks for, with random weights from torch's global generator.

    ``settings``: ``kind`` and the options of that kind, the arguments of its class; they may also
    stand in a group named after the class of kinds. ``image_size``: pixels of the images' sides, or
    (height, width). Raises ConfigError for an unknown kind, an option that the kind does not have,
    or an impossible value.
    """
    kinds: dict[str, tuple[str, Callable[..., Encoder]]] = {
        "small_resnet": ("small_resnet", SmallResNet),
        "resnet18": ("resnet", partial(ResNet, 18)),
        "resnet50": ("resnet", partial(ResNet, 50)),
        "vit": ("vit", partial(VisionTransformer, image_size)),
        "plain": ("plain", SmallPlainNet),
        "alexnet": ("alexnet", AlexNet),
        "wide_resnet": ("wide_resnet", WideResNet),
        "cifar_resnet": ("cifar_resnet", CifarResNet),
    }
    for name, shape in SHAPES.items():
        kinds[name] = ("vit", partial(VisionTransformer, image_size, **shape))
    made = construct("encoder", settings, kinds)
    defaults = {name: option.default
                for name, option in signature(kinds[settings["kind"]][1]).parameters.items()
                if option.default is not option.empty}  # fmt: skip
    own = {"kind": settings["kind"], **defaults, **options_of(settings, kinds)}
    # as JSON gives it back
    made.built = json.loads(json.dumps({"encoder": own, "image_size": image_size}))
    return made


def construct(key: str, settings: Mapping[str, Any], kinds: Kinds[Made], *given: Any) -> Made:
    """Call the function of ``settings["kind"]`` with the options of that kind.

    ``key``: name of the settings in the config, for messages. ``*given``: first arguments of the
    function. Raises ConfigError for an unknown kind or option.
    """
    kind = settings.get("kind", "")
    if kind not in kinds:
        raise ConfigError(f"{key}.kind: {kind!r}; expected one of {', '.join(kinds)}")
    make, options = kinds[kind][1], options_of(settings, kinds)
    known = list(signature(make).parameters)[len(given) :]
    for name in options:
        if name not in known:
            hint = unknown(name, known).partition("; ")[2]
            raise ConfigError(f"{key}.{name}: unknown option of {kind}; {hint}")
    return make(*given, **options)


def options_of(settings: Mapping[str, Any], kinds: Kinds[Any]) -> dict[str, Any]:
    """The options beside ``kind``, or in the group of the kind's family."""
    families = {name for name, _ in kinds.values()}
    options = {name: value for name, value in settings.items() if name not in families | {"kind"}}
    return options | settings.get(kinds[settings["kind"]][0], {})

"""Pre-training methods: objectives that need no labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from featlearn.images.encoders import Encoder, construct
from featlearn.images.methods.masked import MaskedObjective
from featlearn.images.methods.reconstruction import MAE, SimMIM
from featlearn.images.methods.teachers import Data2Vec


def build_method(settings: Mapping[str, Any], encoder: Encoder) -> MaskedObjective:
    """The pre-training method that the config asks for, around ``encoder``, which is trained.

    ``settings``: ``kind`` and the options of that kind; they may also stand in a group named as the
    kind. New modules get random weights from torch's global generator. Raises ConfigError for an
    unknown kind or option, or an impossible value.
    """
    kinds: dict[str, tuple[str, Callable[..., MaskedObjective]]] = {
        "simmim": ("simmim", SimMIM),
        "mae": ("mae", MAE),
        "data2vec": ("data2vec", Data2Vec),
    }
    return construct("pretraining", settings, kinds, encoder)

"""Pre-training methods: objectives that need no labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from featlearn.images.augment import Augment
from featlearn.images.encoders import Encoder, construct
from featlearn.images.methods.masked import MaskedObjective
from featlearn.images.methods.queued import NNCLR, MoCo
from featlearn.images.methods.reconstruction import MAE, SimMIM
from featlearn.images.methods.siamese import Siamese
from featlearn.images.methods.simclr import SimCLR
from featlearn.images.methods.teachers import BEiT, Data2Vec
from featlearn.images.methods.two_view import TwoViewObjective


def build_method(
    settings: Mapping[str, Any], encoder: Encoder, teacher: Encoder | None = None
) -> MaskedObjective:
    """The pre-training method that the config asks for, around ``encoder``, which is trained.

    ``settings``: ``kind`` and the options of that kind; they may also stand in a group named as the
    kind. ``teacher``: the fixed teacher of ``beit``. New modules get random weights from torch's
    global generator. Raises ConfigError for an unknown kind or option, or an impossible value.
    """
    kinds: dict[str, tuple[str, Callable[..., MaskedObjective]]] = {
        "simmim": ("simmim", SimMIM),
        "mae": ("mae", MAE),
        "data2vec": ("data2vec", Data2Vec),
        "beit": ("beit", partial(BEiT, teacher=teacher)),
    }
    return construct("pretraining", settings, kinds, encoder)


def build_two_view(
    settings: Mapping[str, Any], encoder: Encoder, augment: Augment
) -> TwoViewObjective:
    """As :func:`build_method`, of the methods that compare two views, which ``augment`` makes.

    The loop itself gets :func:`~featlearn.images.methods.two_view.untouched`.
    """
    kinds: dict[str, tuple[str, Callable[..., TwoViewObjective]]] = {
        "siamese": ("siamese", Siamese), "simclr": ("simclr", SimCLR), "moco": ("moco", MoCo),
        "nnclr": ("nnclr", NNCLR),
    }  # fmt: skip
    return construct("pretraining", settings, kinds, encoder, augment)

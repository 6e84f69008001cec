"""Pre-training methods: objectives that need no labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from featlearn.images.encoders.base import Encoder
from featlearn.images.kinds import construct
from featlearn.images.methods.masked import MaskedObjective
from featlearn.images.methods.simmim import SimMIM

__all__ = ["MaskedObjective", "SimMIM", "build_method"]


def build_method(settings: Mapping[str, Any], encoder: Encoder) -> MaskedObjective:
    """The pre-training method that the config asks for, around ``encoder``.

    Parameters
    ----------
    settings
        ``kind`` (``simmim``) and the arguments of the class of that name, beside it or in a group
        named as the kind.
    encoder
        Is trained.

    Raises
    ------
    ConfigError
        For an unknown kind, an option that the kind does not have, or an impossible value.
    """
    kinds = {"simmim": ("simmim", SimMIM)}
    return construct("pretraining", settings, kinds, encoder)

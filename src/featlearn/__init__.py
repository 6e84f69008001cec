"""featlearn: the experiments, figures, tables and claims of a family of feature-learning papers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from featlearn.core.files import PathLike
    from featlearn.images.saved import Network

__version__ = "1.0.0"


def load(path: PathLike) -> Network:
    """A network that a run trained on images; see :func:`featlearn.images.pretrained.restored`."""
    # an import statement would make every fingerprint cover the room of images
    return cast("Network", import_module("featlearn.images.pretrained").restored(path))

"""Images: what several papers do with pictures. Knows no paper.

For code of one's own ``from featlearn import images`` is enough: ``images.read``, ``images.fit``,
``images.probe``, ``images.heat_maps`` and ``images.network``; see :mod:`featlearn.images.api`.
"""

from importlib import import_module
from typing import Any

API = ("fit", "heat_maps", "network", "probe", "read")


def __getattr__(name: str) -> Any:
    # an import statement would make every fingerprint cover the door, and import torch
    if name in API:
        return getattr(import_module("featlearn.images.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

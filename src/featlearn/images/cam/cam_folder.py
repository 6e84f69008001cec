"""Eigen-CAM of any network on a folder of photographs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import PathLike
from featlearn.images.api import heat_maps
from featlearn.images.cam.eigencam import overlay
from featlearn.images.data.readers import READERS
from featlearn.images.data.readers.decode import BrokenImage, decode
from featlearn.images.encoders import build_encoder
from featlearn.images.weights import load_weights


def photographs(folder: PathLike, size: int = 224, count: int | None = None) -> Tensor:
    """Middle squares of the first photographs, (N, 3, size, size) uint8; FeatlearnError if none."""
    source = READERS["folder"]({"path": str(folder)}, "all")
    pictures: list[Tensor] = []
    for record in sorted(source.records(), key=lambda record: record.name):
        if len(pictures) == count:  # a folder may hold many more than are shown
            break
        try:
            pictures.append(torch.from_numpy(decode(record.data, size, "crop")[0]))
        except BrokenImage as error:
            print(f"{source.what}: {record.name} is left out: {error}", file=sys.stderr)
    if not pictures:
        raise FeatlearnError(f"{source.what}: no image can be used")
    return torch.stack(pictures)


def weighted_maps(
    models: Sequence[Mapping[str, Any]], images: Tensor, folder: PathLike,
    device: torch.device | str = "cpu",
) -> dict[str, Tensor]:  # fmt: skip
    """Overlays of several encoders with weights from files: uint8 (N, 3, S, S) by name.

    ``models``: each with ``name``, ``encoder`` (see
    :func:`~featlearn.images.encoders.build_encoder`) and ``weights``: a file in ``folder``, or a
    name; see :func:`~featlearn.images.weights.load_weights`. ``images`` (N, 3, S, S) uint8. Raises
    FeatlearnError if a file is missing or does not fit its encoder.
    """
    found = {}
    for model in models:
        encoder = build_encoder(model["encoder"], images.shape[-1])
        source = str(model["weights"])
        if ":" not in source:
            source = str(Path(folder) / source)
        load_weights(encoder, source, Path(folder))
        found[str(model["name"])] = overlay(images, heat_maps(encoder, images, device=str(device)))
    return found

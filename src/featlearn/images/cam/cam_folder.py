"""Eigen-CAM of any network on a folder of photographs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.core.files import PathLike
from featlearn.images.augment import Augment
from featlearn.images.cam.eigencam import eigen_cam, heat, overlay
from featlearn.images.data.readers import READERS
from featlearn.images.data.readers.decode import BrokenImage, decode
from featlearn.images.encoders import Encoder, build_encoder
from featlearn.images.encoders.base import watched
from featlearn.images.train.features import extract
from featlearn.images.weights import load_weights


def photographs(folder: PathLike, size: int = 224, count: int | None = None) -> Tensor:
    """The first ``count`` photographs of a folder by name, their middle squares.

    Returns (N, 3, size, size) uint8, RGB. Raises FeatlearnError if there is no such folder, or no
    image in it that can be read.
    """
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


def heat_maps(
    network: nn.Module, images: Tensor, layer: nn.Module | None = None,
    preprocess: Augment | None = None, device: torch.device | str = "cpu",
) -> Tensor:  # fmt: skip
    """Eigen-CAM heat of a network, batch by batch.

    ``network``: any module from normalised images (B, 3, S, S) to anything. ``images`` (N, 3, S, S)
    uint8. ``layer``: which module's output is looked at: (B, channels, h, w). Of an
    :class:`~featlearn.images.encoders.base.Encoder` also one that gives tokens; its ``cam_layer``
    if None. ``preprocess``: normalisation; that of ImageNet if None. Returns (N, S, S) in [0, 1].
    Raises ConfigError if no layer is given for a network that names none, or the layer gives no
    maps.
    """
    if layer is None:
        if not isinstance(network, Encoder):
            raise ConfigError(f"layer: expected a module of {type(network).__name__}, got none")
        layer = network.get_submodule(network.cam_layer)
    size = (images.shape[-2], images.shape[-1])

    def maps(inputs: Tensor) -> Tensor:
        _, output = watched(network, layer, inputs)
        if isinstance(network, Encoder):
            output = network.as_maps(output, size)
        if not isinstance(output, Tensor) or output.ndim != 4:
            raise ConfigError(
                f"layer: {type(layer).__name__} gives no maps; expected (batch, channels, h, w)"
            )
        return eigen_cam(output)

    seen = preprocess or Augment({"preset": "none"})
    return heat(extract(network, images, seen, outputs=maps, batch=32, device=device), size)


def weighted_maps(
    models: Sequence[Mapping[str, Any]], images: Tensor, folder: PathLike,
    device: torch.device | str = "cpu",
) -> dict[str, Tensor]:  # fmt: skip
    """Overlays of several encoders with weights from files.

    ``models``: each with ``name``, ``encoder`` (see
    :func:`~featlearn.images.encoders.build_encoder`) and ``weights``: a file in ``folder``, or a
    name; see :func:`~featlearn.images.weights.load_weights`. ``images`` (N, 3, S, S) uint8.
    ``folder``: where the files lie. Raises FeatlearnError if a file is missing (it says which one
    belongs where) or does not fit its encoder. Returns a dict: uint8 (N, 3, S, S) by name.
    """
    found = {}
    for model in models:
        encoder = build_encoder(model["encoder"], images.shape[-1])
        source = str(model["weights"])
        if ":" not in source:
            source = str(Path(folder) / source)
        load_weights(encoder, source, Path(folder))
        found[str(model["name"])] = overlay(images, heat_maps(encoder, images, device=device))
    return found

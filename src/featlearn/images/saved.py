"""Weights that say which network they are of, and that network, ready to use.

The header of a safetensors file has encoder and options, side and normalisation of the images,
names of the classes, how it was trained, a digest of the config, and the version of this header.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import Described, PathLike, write_tensors
from featlearn.core.run.provenance import FIXED_VERSION
from featlearn.images.augment import Augment
from featlearn.images.data.readers.decode import decode
from featlearn.images.encoders import Encoder
from featlearn.images.rng import Draws
from featlearn.images.train.classifier import Classifier
from featlearn.images.train.features import evaluating


def described(
    network: nn.Module, augment: Augment, method: str, config: Mapping[str, Any],
    classes: Sequence[str] = (),
) -> Described:  # fmt: skip
    """Weights of ``network`` with all that it takes to make it again.

    ``network``: an encoder that :func:`build_encoder` made, or a :class:`Classifier` of one.
    ``augment``: says how images are normalised. ``method``: how it was trained. ``config``: that it
    follows from. ``classes``: names of a classifier's classes.
    """
    encoder = network.encoder if isinstance(network, Classifier) else network
    assert isinstance(encoder, Encoder)
    digest = hashlib.sha256(json.dumps(config, sort_keys=True, default=str).encode()).hexdigest()
    return Described(network.state_dict(), **encoder.built, mean=augment.mean.flatten().tolist(),
                     std=augment.std.flatten().tolist(), classes=list(classes),
                     several=isinstance(network, Classifier) and network.several, method=method,
                     config=digest[:16], version=FIXED_VERSION)  # fmt: skip


class Viewer(nn.Module):
    """A network that knows the ``size`` of its images and their normalisation, ``plain``."""

    size: int
    plain: Augment

    def pixels(self, files: Iterable[PathLike]) -> Tensor:
        """Files at the network's size, the largest square in the middle: uint8 (N, 3, S, S)."""
        found = [decode(Path(file), self.size, "crop")[0] for file in files]
        return torch.from_numpy(np.stack(found))


class Network(Viewer):
    """A trained network and all that it takes to look at a picture with it.

    ``classes``: empty for one that was trained without labels. ``size``: side of its images.
    ``about``: what the file says of it.
    """

    def __init__(self, network: nn.Module, about: Mapping[str, Any]):
        super().__init__()
        self.network, self.about = network, dict(about)
        self.classes, self.size = tuple(about["classes"]), int(about["image_size"])
        self.plain = Augment({"preset": "none", "mean": about["mean"], "std": about["std"]})

    @property
    def encoder(self) -> Encoder:
        return self.network.encoder if isinstance(self.network, Classifier) else self.network  # type: ignore[return-value]

    def images(self, pictures: Tensor | Iterable[PathLike]) -> Tensor:
        """Files, or uint8 pixels, as inputs of the network: float32 (N, 3, S, S).

        Raises FeatlearnError if a file is no picture, or pixels have another type or size.
        """
        if not isinstance(pictures, Tensor):
            pictures = self.pixels(pictures)
        wanted = (3, self.size, self.size)
        if pictures.dtype != torch.uint8 or pictures.shape[1:] != wanted:
            raise FeatlearnError(
                f"pictures: {pictures.dtype} {tuple(pictures.shape)}; expected uint8 pixels "
                f"(N, 3, {self.size}, {self.size}), or files"
            )
        return self.plain(pictures, Draws(("evaluation",), 0, len(pictures)))

    def features(self, pictures: Tensor | Iterable[PathLike]) -> Tensor:
        """Of pictures as :meth:`images` takes them: float32 (N, width)."""
        with evaluating(self), torch.inference_mode():
            return self.encoder(self.images(pictures))

    def forward(self, pictures: Tensor | Iterable[PathLike]) -> Tensor:
        """How probable each class is, (N, classes), for pictures as :meth:`images` takes them.

        With several labels each class has a probability of its own. Raises FeatlearnError without
        classes.
        """
        if not isinstance(self.network, Classifier):
            raise FeatlearnError(
                f"a network trained by {self.about['method']} has no classes; expected features()"
            )
        with evaluating(self), torch.inference_mode():
            scores = self.network.scores(self.images(pictures))
            return scores.sigmoid() if self.network.several else scores.softmax(1)

    def save(self, file: PathLike) -> None:
        """Write a safetensors file. Raises FeatlearnError if its name has another ending."""
        file = Path(file)
        if file.suffix != ".safetensors":
            raise FeatlearnError(f"{file}: expected a name that ends in .safetensors")
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=".save-") as staging:
            staged = Path(staging) / file.name
            write_tensors(Described(self.network.state_dict(), **self.about), staged)
            staged.replace(file)

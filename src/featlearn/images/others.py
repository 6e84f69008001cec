"""Networks of torchvision and timm by name, with their weights where those are at hand.

Nothing is downloaded: weights lie where :func:`~featlearn.images.weights.find_weights` looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.core.files import PathLike
from featlearn.images.augment import Augment
from featlearn.images.draws import Draws
from featlearn.images.readers.decode import decode
from featlearn.images.weights import find_weights, read_weights

LIBRARIES = ("torchvision", "timm")
#: Largest picture that a file may hold, in pixels.
MOST_PIXELS = 50_000_000


class Foreign(nn.Module):
    """A network of another library and all that it takes to look at a picture with it.

    Attributes
    ----------
    network : Module
        From normalised images (B, 3, S, S) to scores, or to features.
    size : int
        Side of its images.
    plain : Augment
        Its normalisation.
    """

    def __init__(self, network: nn.Module, size: int, mean: list[float], std: list[float]):
        super().__init__()
        self.network, self.size = network.eval(), size
        self.plain = Augment({"preset": "none", "mean": mean, "std": std})

    def pixels(self, files: Iterable[PathLike], resize: str = "crop") -> Tensor:
        """Files at the network's size: uint8 (N, 3, S, S)."""
        found = [decode(Path(file), self.size, resize, MOST_PIXELS)[0] for file in files]  # type: ignore[arg-type]
        return torch.from_numpy(np.stack(found))

    def images(self, pictures: Tensor) -> Tensor:
        """uint8 pixels (N, 3, S, S) as inputs of the network."""
        return self.plain(pictures, Draws(("evaluation",), 0, len(pictures)))

    def forward(self, inputs: Tensor) -> Tensor:
        return self.network(inputs)


def is_name(source: PathLike) -> bool:
    """Whether ``source`` names a network of another library, and is no file."""
    library, colon, _ = str(source).partition(":")
    return bool(colon) and library in LIBRARIES


def named(source: str, weights: bool = True) -> Foreign:
    """A network by name, in evaluation mode.

    Parameters
    ----------
    source
        ``torchvision:`` and a weights enum such as ``ResNet18_Weights.IMAGENET1K_V1``, or
        ``timm:`` and a model such as ``resnet18``.
    weights
        False: random ones, from torch's global generator, so that no file is needed.

    Raises
    ------
    FeatlearnError
        If the library is not installed, the name is unknown, or weights are missing (it says which
        file belongs where) or do not fit.

    Examples
    --------
    >>> network = named("torchvision:ResNet18_Weights.IMAGENET1K_V1", weights=False)
    >>> network.size
    224
    """
    library, _, name = str(source).partition(":")
    if library not in LIBRARIES or not name:
        raise ConfigError(f"{source}: expected torchvision:<weights> or timm:<model>")
    # what is not there is said before a network is built
    file = find_weights(source) if weights else None
    made = _torchvision(name) if library == "torchvision" else _timm(name)
    if file is not None:
        try:
            made.network.load_state_dict(read_weights(file))
        except RuntimeError as error:
            raise FeatlearnError(f"{file}: does not fit {source}: {error}") from error
    return made


def _torchvision(name: str) -> Foreign:
    from torchvision.models import get_model, get_weight

    try:
        about: Any = get_weight(name).transforms()
        made = get_model(name.partition("_Weights")[0].lower())
        return Foreign(made, int(about.crop_size[0]), list(about.mean), list(about.std))
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise ConfigError(
            f"torchvision:{name}: unknown, or no classifier of images; expected a name such as "
            "ResNet50_Weights.IMAGENET1K_V1"
        ) from error


def _timm(name: str) -> Foreign:
    try:
        create: Callable[..., Any] = import_module("timm").create_model
    except ImportError as error:
        raise FeatlearnError(f"timm:{name}: timm is not installed; pip install timm") from error
    try:
        made = create(name, pretrained=False)
    except Exception as error:  # its errors for unknown names are of many kinds
        raise ConfigError(f"timm:{name}: {error}") from error
    about = made.pretrained_cfg
    return Foreign(made, int(about["input_size"][-1]), list(about["mean"]), list(about["std"]))

"""Networks of torchvision and timm by name, with their weights where those are at hand.

Nothing is downloaded: weights lie where :func:`~featlearn.images.weights.find_weights` looks. Where
a network of others has its maps, :mod:`~featlearn.images.layers` finds out.
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.core.files import Described, PathLike, read_tensors, write_tensors
from featlearn.images.augment import Augment
from featlearn.images.classifier import Classifier
from featlearn.images.draws import Draws
from featlearn.images.encoders import build_encoder
from featlearn.images.encoders.base import Encoder
from featlearn.images.features import evaluating
from featlearn.images.layers import activations, layers, leading_tokens, positions
from featlearn.images.readers.decode import decode
from featlearn.images.saved import Network, load
from featlearn.images.weights import find_weights, read_weights

LIBRARIES = ("torchvision", "timm")
#: Largest picture that a file may hold, in pixels.
MOST_PIXELS = 50_000_000
#: Largest number, and most blocks, that the header of a file of weights may ask for.
LARGEST, DEEPEST = 8192, 200
#: Largest image of a network of another library, which is tried out at this size and twice it.
LARGEST_BORROWED = 1024


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
    library, name = _parts(source)
    # what is not there is said before a network is built
    file = find_weights(source) if weights else None
    made = _torchvision(name) if library == "torchvision" else _timm(name)
    if file is not None:
        try:
            made.network.load_state_dict(read_weights(file))
        except RuntimeError as error:
            raise FeatlearnError(f"{file}: does not fit {source}: {error}") from error
    return made


def _parts(source: str) -> tuple[str, str]:
    library, _, name = str(source).partition(":")
    if library not in LIBRARIES or not name:
        raise ConfigError(f"{source}: expected torchvision:<weights> or timm:<model>")
    return library, name


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
    made = _timm_model(name)
    about = made.pretrained_cfg
    return Foreign(made, int(about["input_size"][-1]), list(about["mean"]), list(about["std"]))


def _timm_model(name: str, **options: Any) -> Any:
    try:
        library = import_module("timm")
    except ImportError as error:
        raise FeatlearnError(
            f"timm:{name}: timm is not installed: pip install 'featlearn[timm]'"
        ) from error
    # also asked for weights, timm would ask its hub, under names with such prefixes
    if "/" in name or name.startswith(("hf-hub", "hf_hub", "local-dir")):
        raise ConfigError(f"timm:{name}: expected a name such as resnet18, without / and :")
    try:
        return library.create_model(name, pretrained=False, **options)
    except TypeError:
        raise
    except Exception as error:  # its errors for unknown names are of many kinds
        raise ConfigError(f"timm:{name}: {error}") from error


# --------------------------------------------------------------------------- to be trained


class Borrowed(Encoder):
    """A network of another library as an encoder of ours, without its head.

    Its feature map is the last output that has places: maps, or the tokens of the picture laid out
    on their grid.

    Parameters
    ----------
    source
        ``timm:`` and a model, or ``torchvision:`` and a model (``resnet18``) or a weights enum, of
        which the model is taken. Its weights are random, from torch's global generator.
    size
        Pixels of the images' sides.

    Raises
    ------
    FeatlearnError
        If the library is missing, the name unknown, the size beyond :data:`LARGEST_BORROWED`, or
        the network has no maps at it.
    """

    stem_width, stem_stride, depth = 3, 1, 1

    def __init__(self, source: str, size: int):
        super().__init__()
        if size > LARGEST_BORROWED:
            raise ConfigError(f"{source}: {size} pixels; expected at most {LARGEST_BORROWED}")
        blank = torch.zeros(2, 3, size, size)
        try:
            made = _at(source, size)
            found = layers(made, blank)
            if _last_of_larger(made, size) not in (found.last, None):
                raise ConfigError(
                    f"{source}: of {size} x {size} pixels one place is left; expected larger "
                    f"pictures, such as size={2 * size}"
                )
            self.network: Any = _headless(made, found.last)
            self.num_prefix_tokens = leading_tokens(made)
            self.gives_maps, self.cam_layer = found.maps, f"network.{found.shown}"
            with evaluating(self), torch.no_grad():
                _, self.width, rows, _ = self.body(blank).shape
        except FeatlearnError:
            raise
        except Exception as error:  # theirs are of many kinds
            raise ConfigError(f"{source}: cannot see {size} x {size} pixels: {error}") from error
        self.stride = size // rows
        self.built = {"encoder": {"kind": source}, "image_size": size}

    @property
    def core(self) -> nn.Module:
        own: nn.Module = self.network
        return own

    def understood(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """As timm converts a file of those who made the network: CLIP's tower, Microsoft's Swin."""
        convert = getattr(sys.modules[type(self.network).__module__], "checkpoint_filter_fn", None)
        if convert is None:
            return weights
        try:
            return dict(convert(weights, self.network))
        except Exception as error:  # of many kinds, where a file is of another network
            kind = self.built["encoder"]["kind"]
            raise FeatlearnError(f"weights do not fit {kind}: {error}") from error

    def stem(self, images: Tensor) -> Tensor:
        return images

    def body(self, stem: Tensor) -> Tensor:
        last = str(getattr(self.network, "output_fmt", "")).endswith("NHWC")
        if hasattr(self.network, "forward_features"):  # timm's
            output = self.network.forward_features(stem)
        else:
            output, last = self.network(stem)["maps"], False
        maps = positions(output, (stem.shape[-2], stem.shape[-1]), self.num_prefix_tokens, last)
        if maps is None:
            raise ConfigError(f"encoder: {type(self.network).__name__} gives no maps")
        return maps

    def block_maps(self, stem: Tensor) -> list[Tensor]:
        return [self.body(stem)]

    def layer_maps(self, images: Tensor, layer: str | None = None) -> Tensor:
        if layer is None and self.gives_maps:
            return self.feature_map(images)
        return activations(self, images, layer or self.cam_layer)


def _last_of_larger(network: nn.Module, size: int) -> str | None:
    """The last layer with places for images of twice the size; None where there can be none."""
    try:
        return layers(network, torch.zeros(2, 3, 2 * size, 2 * size)).last
    except Exception:  # a transformer for images of one size: their errors are of many kinds
        return None


def _at(source: str, size: int) -> nn.Module:
    """A network with random weights for images of ``size`` pixels."""
    library, name = _parts(source)
    if library == "timm":
        make: Callable[..., Any] = _timm_model
        option = "img_size"
    else:
        from torchvision.models import get_model, list_models

        make, name, option = get_model, name.partition("_Weights")[0].lower(), "image_size"
        if name not in list_models():
            raise ConfigError(f"{source}: unknown; expected a model such as torchvision:resnet18")
    try:  # transformers belong to one size
        return make(name, **{option: size})
    except TypeError:  # others have no such option
        return make(name)


def _headless(network: Any, last: str) -> Any:
    """The network up to its last layer with places: nothing behind it is trained."""
    if hasattr(network, "reset_classifier"):  # timm's
        network.reset_classifier(0)
        return network
    from torchvision.models.feature_extraction import create_feature_extractor

    return create_feature_extractor(network, {last: "maps"})


class Trained(Network):
    """A network in memory that can be written: as a run's, with all that it takes to use it."""

    def save(self, file: PathLike) -> None:
        """Write it as safetensors; a file that is there is replaced.

        Raises
        ------
        FeatlearnError
            If the name does not end in ``.safetensors``.
        """
        file = Path(file)
        if file.suffix != ".safetensors":
            raise FeatlearnError(f"{file}: expected a name that ends in .safetensors")
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=".save-") as staging:
            staged = Path(staging) / file.name
            write_tensors(Described(self.network.state_dict(), **self.about), staged)
            staged.replace(file)


def restored(path: PathLike) -> Trained:
    """The network of a safetensors file: see :func:`~featlearn.images.saved.load`; also borrowed.

    Raises
    ------
    FeatlearnError
        If the file is damaged, does not say which network it is of, or the library is missing.
    """
    weights = read_tensors(path)
    about = weights.about
    if about:
        _check_header(about, str(path))
    kind = str(about.get("encoder", {}).get("kind", ""))
    try:
        if not is_name(kind):
            if about:
                _check_extent(weights, str(path))
            made = load(path)
            return Trained(made.network, made.about).eval()
        borrowed = Borrowed(kind, int(about["image_size"]))
        borrowed.load_state_dict(dict(weights))
    except (RuntimeError, TypeError, ValueError, KeyError, ArithmeticError) as error:
        if isinstance(error, FeatlearnError):
            raise
        raise FeatlearnError(f"{path}: its tensors are not those of its header: {error}") from error
    return Trained(borrowed, about).eval()


def _check_header(about: Mapping[str, Any], path: str) -> None:
    """Refuse a header that asks for a network beyond measure: it is a stranger's word.

    Raises
    ------
    FeatlearnError
        Naming what is wrong.
    """
    encoder, size, classes = (about.get(key) for key in ("encoder", "image_size", "classes"))
    numbers = [about.get("mean"), about.get("std")]
    wrong = None
    if not isinstance(encoder, dict) or not isinstance(encoder.get("kind"), str):
        wrong = "encoder"
    elif not isinstance(size, int) or not 0 < size <= LARGEST:
        wrong = "image_size"
    elif not isinstance(classes, list) or not all(isinstance(one, str) for one in classes):
        wrong = "classes"
    elif not all(
        isinstance(row, list)
        and len(row) == 3
        and all(isinstance(one, int | float) and math.isfinite(one) for one in row)
        for row in numbers
    ):
        wrong = "mean or std"
    else:
        for name, value in encoder.items():
            parts = value if isinstance(value, list) else [value]
            most = DEEPEST if name == "depth" else LARGEST
            if len(parts) > DEEPEST or any(
                isinstance(one, int | float) and not abs(one) <= most for one in parts
            ):
                wrong = f"encoder.{name}"
    if wrong:
        raise FeatlearnError(
            f"{path}: its header is not one that a run of featlearn wrote: {wrong}"
        )


def _check_extent(weights: Described, path: str) -> None:
    """Refuse a header whose network is not the file's, before it takes any memory."""
    about = weights.about
    made: nn.Module
    with torch.device("meta"):
        made = build_encoder(about["encoder"], about["image_size"])
        if about["classes"]:
            made = Classifier(made, len(about["classes"]), several=bool(about.get("several")))
    wanted, here = (
        {name: tuple(value.shape) for name, value in tensors.items()}
        for tensors in (made.state_dict(), weights)
    )
    for name in {**wanted, **here}:
        if wanted.get(name) != here.get(name):
            raise FeatlearnError(
                f"{path}: its tensors are not those of its header, a {about['encoder']['kind']}: "
                f"{name} is {here.get(name, 'missing')}; expected {wanted.get(name, 'none')}"
            )

"""Networks of torchvision and timm by name, with weights from the disk."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.core.files import Described, PathLike, read_tensors
from featlearn.images.augment import Augment
from featlearn.images.cam.eigencam import token_maps
from featlearn.images.config_data import find_weights
from featlearn.images.encoders import build_encoder
from featlearn.images.encoders.base import Encoder, watched
from featlearn.images.saved import Network, Viewer
from featlearn.images.train.classifier import Classifier
from featlearn.images.train.features import evaluating
from featlearn.images.weights import read_weights

LIBRARIES = ("torchvision", "timm")
#: Largest number, and most blocks, that the header of a file of weights may ask for.
LARGEST, DEEPEST = 8192, 200
_OPTION = {"minimum": -LARGEST, "maximum": LARGEST}
_DEPTH = {"type": "integer", "minimum": 1, "maximum": DEEPEST}
_OF_CHANNELS = {"type": "array", "minItems": 3, "maxItems": 3}
#: What such a header must be, as JSON Schema.
HEADER: dict[str, Any] = {
    "properties": {
        "encoder": {
            "type": "object",
            "required": ["kind"],
            "properties": {"kind": {"type": "string"}, "depth": _DEPTH},
            "additionalProperties": {
                "type": ["number", "string", "boolean", "null", "array"],
                "maxItems": DEEPEST,
                "items": _OPTION,
                **_OPTION,
            },
        },
        "image_size": {"type": "integer", "minimum": 1, "maximum": LARGEST},
        "classes": {"type": "array", "items": {"type": "string"}},
        "mean": {**_OF_CHANNELS, "items": {"type": "number", "minimum": -1e6, "maximum": 1e6}},
        "std": {**_OF_CHANNELS, "items": {"type": "number", "minimum": 1e-6}},
    }
}
#: Largest image of a network of another library, which is tried out at this size and twice it.
LARGEST_BORROWED = 1024


class Foreign(Viewer):
    """A network of another library and all that it takes to look at a picture with it.

    ``network``: from normalised images (B, 3, S, S) to scores, or to features. ``size``: side of
    its images. ``plain``: its normalisation.
    """

    def __init__(self, network: nn.Module, size: int, mean: list[float], std: list[float]):
        super().__init__()
        self.network, self.size = network.eval(), size
        self.plain = Augment({"preset": "none", "mean": mean, "std": std})

    def forward(self, inputs: Tensor) -> Tensor:
        return self.network(inputs)


def is_name(source: PathLike) -> bool:
    """Whether ``source`` names a network of another library, and is no file."""
    library, colon, _ = str(source).partition(":")
    return bool(colon) and library in LIBRARIES


def named(source: str, weights: bool = True) -> Foreign:
    """A network by name, in evaluation mode.

    ``source``: ``torchvision:`` and a weights enum such as ``ResNet18_Weights.IMAGENET1K_V1``, or
    ``timm:`` and a model such as ``resnet18``. ``weights``: False: random ones, from torch's global
    generator. Raises FeatlearnError if the library is not installed, the name is unknown, or
    weights are missing or do not fit.
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


class Borrowed(Encoder):
    """A network of another library as an encoder: without its head, with random weights.

    Its map is the last output that has places: maps, or tokens on their grid. ``source``: ``timm:``
    and a model, or ``torchvision:`` and a model (``resnet18``) or a weights enum. ``size``: side of
    the images in pixels. Raises FeatlearnError if the library is missing, the name unknown, the
    size beyond :data:`LARGEST_BORROWED`, or the network has no maps at it.
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


def restored(path: PathLike) -> Network:
    """The network of a safetensors file that a run wrote, in evaluation mode, on the CPU.

    Raises FeatlearnError if the file is damaged, does not say which network it is of, or the
    library of a borrowed one is missing.
    """
    weights = read_tensors(path)
    about = weights.about
    if not {"encoder", "image_size", "classes", "mean", "std"} <= about.keys():
        raise FeatlearnError(
            f"{path}: does not say which network it is of; expected weights that a run of "
            "featlearn wrote (others: featlearn.images.weights.load_weights fills an encoder)"
        )
    _check_header(about, str(path))
    for name, tensor in weights.items():
        if not tensor.isfinite().all():
            raise FeatlearnError(f"{path}: {name} must hold finite numbers, got NaN or infinity")
    try:
        if is_name(about["encoder"]["kind"]):
            network: nn.Module = Borrowed(about["encoder"]["kind"], int(about["image_size"]))
        else:
            _check_extent(weights, str(path))
            network = _network(about)
        network.load_state_dict(dict(weights))
    except (RuntimeError, TypeError, ValueError, KeyError, ArithmeticError) as error:
        if isinstance(error, FeatlearnError):
            raise
        raise FeatlearnError(f"{path}: its tensors are not those of its header: {error}") from error
    return Network(network, about).eval()


def _network(about: Mapping[str, Any]) -> nn.Module:
    encoder = build_encoder(about["encoder"], about["image_size"])
    if not about["classes"]:
        return encoder
    return Classifier(encoder, len(about["classes"]), several=bool(about.get("several")))


def _check_header(about: Mapping[str, Any], path: str) -> None:
    """Refuse a header that asks for a network beyond measure, naming what is wrong."""
    from featlearn.core.run.config import faults  # slow to import

    if wrong := next(faults(about, HEADER), None):
        raise FeatlearnError(
            f"{path}: its header is not one that a run of featlearn wrote: {wrong}"
        )


def _check_extent(weights: Described, path: str) -> None:
    """Refuse a header whose network is not the file's, before it takes any memory."""
    about = weights.about
    with torch.device("meta"):
        made = _network(about)
    wanted, here = ({name: tuple(value.shape) for name, value in tensors.items()}
                    for tensors in (made.state_dict(), weights))  # fmt: skip
    for name in {**wanted, **here}:
        if wanted.get(name) != here.get(name):
            raise FeatlearnError(
                f"{path}: its tensors are not those of its header, a {about['encoder']['kind']}: "
                f"{name} is {here.get(name, 'missing')}; expected {wanted.get(name, 'none')}"
            )


#: Most tokens that stand for no place (class, register, distillation), where a network tells none.
MOST_LEADING = 9


class Layers(NamedTuple):
    """Names of layers.

    ``last``: the last one whose output has places. ``shown``: the one that is looked at: the first
    norm of the last block where ``last`` gives tokens, else ``last``. ``maps``: whether ``last``
    gives maps, not tokens.
    """

    last: str
    shown: str
    maps: bool


def positions(
    output: Any, size: tuple[int, int], leading: int | None = None, channels_last: bool = False
) -> Tensor | None:
    """What a layer gave for images of ``size`` (height, width) pixels, as maps (B, C, h, w).

    ``output``: maps (B, C, h, w), with ``channels_last`` (B, h, w, C), or tokens (B, n, C), row by
    row. ``leading``: tokens before those of the picture; None: as few as leave an even grid.
    Returns None if the output has no places, or a single one.
    """
    if not isinstance(output, Tensor) or not output.is_floating_point():
        return None
    if output.dim() == 4:
        maps = output.permute(0, 3, 1, 2) if channels_last else output
        return maps if maps.shape[2] * maps.shape[3] > 1 else None
    if output.dim() != 3:
        return None
    count = output.shape[1] - (leading or 0)
    for side in range(1, max(size) + 1):  # of a patch, from fine to coarse
        grid = (size[0] // side, size[1] // side)
        if (cells := grid[0] * grid[1]) <= count:
            before = output.shape[1] - cells
            fits = before == leading if leading is not None else before <= MOST_LEADING
            return token_maps(output, grid, before) if fits and cells > 1 else None
    return None


def leading_tokens(network: nn.Module) -> int | None:
    """Tokens before those of the picture, where a network tells; timm's do."""
    told = getattr(network, "num_prefix_tokens", None)
    return told if isinstance(told, int) else None


def layers(network: nn.Module, inputs: Tensor) -> Layers:
    """The layers of a network that maps can be read from. Raises ConfigError if there are none."""
    size, leading = (inputs.shape[-2], inputs.shape[-1]), leading_tokens(network)
    seen: list[tuple[str, bool, bool]] = []  # name, whether maps, whether a norm

    def keep(name: str, module: nn.Module, output: Any) -> None:
        found = positions(output, size, leading, _channels_last(network, module, output))
        if found is None or len(found) != len(inputs):
            return
        if abs(found.shape[2] * size[1] - found.shape[3] * size[0]) > max(size):
            return  # what attention does to pairs of tokens
        seen.append((name, output.dim() == 4, "norm" in type(module).__name__.lower()))

    handles = [module.register_forward_hook(lambda m, _, output, name=name: keep(name, m, output))
               for name, module in network.named_modules() if name]  # fmt: skip
    try:
        with evaluating(network), torch.no_grad():
            network(inputs)
    finally:
        for handle in handles:
            handle.remove()
    if not seen:
        raise ConfigError(
            f"layer: none of {type(network).__name__} gives maps (batch, channels, h, w) or tokens "
            "(batch, n, channels) of more than one place"
        )
    last, maps, _ = seen[-1]
    if not maps:
        norms = [name for name, is_map, norm in seen if norm and not is_map]
        blocks = [found.group(0) for name in norms if (found := re.match(r".*\d\.", name))]
        if blocks:
            shown = next(name for name in norms if name.startswith(blocks[-1]))
            return Layers(last, shown, False)
    return Layers(last, last, maps)


def activations(network: nn.Module, inputs: Tensor, layer: str) -> Tensor:
    """A layer's output for (B, 3, H, W) as maps (B, C, h, w); ConfigError if there are none."""
    every = dict(network.named_modules())
    if layer not in every or not layer:
        raise ConfigError(f"layer: {layer!r} is no module of {type(network).__name__}")
    output = watched(network, every[layer], inputs)[1]
    last = _channels_last(network, every[layer], output)
    size = (inputs.shape[-2], inputs.shape[-1])
    maps = positions(output, size, leading_tokens(network), last)
    if maps is None:
        shape = tuple(output.shape) if isinstance(output, Tensor) else type(output).__name__
        raise ConfigError(
            f"layer: {layer!r} gives {shape}; expected maps (batch, channels, h, w), or tokens "
            "(batch, n, channels) of an even grid"
        )
    return maps


def _channels_last(network: nn.Module, module: nn.Module, output: Any) -> bool:
    """Whether maps are (B, h, w, C): timm's networks tell, a plain layer norm shows it."""
    if not isinstance(output, Tensor) or output.dim() != 4:
        return False
    if isinstance(module, nn.LayerNorm) and not type(module).__name__.endswith("2d"):
        return output.shape[-1:] == torch.Size(module.normalized_shape)
    width = getattr(network, "num_features", None)
    told = str(getattr(network, "output_fmt", "")).endswith("NHWC")
    return told and output.shape[-1] == width

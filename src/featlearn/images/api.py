"""``from featlearn import images``: pre-train, probe and map in memory, without a workflow."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike as Path_
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn

from featlearn.core.errors import FeatlearnError
from featlearn.core.evidence.stats import estimate_share
from featlearn.core.seeds import seeded
from featlearn.images.augment import Augment, channel_statistics
from featlearn.images.cam.eigencam import eigen_cam, heat
from featlearn.images.data.datasets import open_splits, repeats, split_rows
from featlearn.images.data.on_disk import as_opened, look
from featlearn.images.data.readers.common import shown
from featlearn.images.data.readers.decode import BrokenImage, decode
from featlearn.images.encoders import build_encoder
from featlearn.images.encoders.base import Encoder
from featlearn.images.methods import build_method
from featlearn.images.pretrained import (
    Borrowed,
    Foreign,
    activations,
    is_name,
    layers,
    named,
    restored,
)
from featlearn.images.probes import choose_probe
from featlearn.images.rng import Draws
from featlearn.images.saved import Network, described
from featlearn.images.train.features import evaluating, extract
from featlearn.images.train.loop import fit as train

#: Images that are looked at together where maps are made.
BATCH = 64
#: Labels of a dataset are below this.
MOST_CLASSES = 100_000


@dataclass(frozen=True)
class Pictures:
    """Pictures of one size, some to train on and some to test on.

    ``train``, ``test`` (N, 3, S, S) uint8. ``train_labels``, ``test_labels`` (N,) int64.
    ``classes``: their names.
    """

    train: Tensor
    train_labels: Tensor
    test: Tensor
    test_labels: Tensor
    classes: tuple[str, ...]

    @property
    def size(self) -> int:
        return int(self.train.shape[-1])


@dataclass(frozen=True)
class Probed:
    """A linear probe on frozen features, and how good it is on the test pictures.

    ``accuracy``, ``low``, ``high``: share of right answers, and Wilson's 95 % interval for other
    pictures of the same kind. ``said`` (N,) int64: the class of each test picture.
    """

    accuracy: float
    low: float
    high: float
    said: Tensor

    def __str__(self) -> str:
        return (
            f"{self.accuracy:.2f} ({self.low:.2f} to {self.high:.2f}) of {len(self.said)} test "
            "pictures"
        )


#: A folder, a dataset of (picture, label), or what :func:`read` made of one.
Data = str | Path_[str] | Sequence[tuple[Any, int]] | torch.utils.data.Dataset[Any] | Pictures


def read(data: Data, *, size: int = 64, test: float = 0.2, seed: int = 0) -> Pictures:
    """Pictures at one size, split for the test.

    ``data``: a folder with a folder a class (or with such below ``train/`` and ``test/``), or a
    dataset of pairs (picture, label): pictures as PIL gives them, uint8 arrays (H, W, 3), or
    tensors (3, H, W), uint8 or floats from 0 to 1; labels from 0 on. A dataset's ``classes`` are
    taken as their names. ``size``: side in pixels; the largest square in the middle of a picture is
    kept. ``test``: share of each class that is kept for the test, where the folder has no
    ``test/``. ``seed``: of the split. Raises FeatlearnError if there are no such pictures, or of
    fewer than two classes.

    Examples
    --------
    >>> flowers = images.read("flowers", size=32)
    >>> flowers.train.shape, flowers.classes
    (torch.Size([24, 3, 32, 32]), ('daisy', 'rose'))
    """
    if isinstance(data, Pictures):
        return data
    if isinstance(data, (str, Path_)):
        return _folder(Path(data), size, test, seed)
    return _dataset(data, size, test, seed)


def fit(
    data: Data, *, method: str = "simmim", encoder: str | Mapping[str, Any] = "small_resnet",
    epochs: int = 30, batch_size: int | None = None, learning_rate: float = 2e-3, size: int = 64,
    seed: int = 0, device: str = "cpu",
) -> Network:  # fmt: skip
    """Pre-train an encoder on the training pictures, without their labels.

    ``data``, ``size``: see :func:`read`. ``method``: ``simmim``, or ``mae`` and ``data2vec`` for a
    vision transformer. ``encoder``: a kind, such as ``small_resnet``, ``resnet18``, ``vit_tiny``,
    or a kind with options; see :func:`featlearn.images.encoders.build_encoder`. Or a network of
    another library, with random weights: ``torchvision:resnet18``, ``timm:resnet18``; those take
    ``simmim``. ``batch_size``: so that an epoch has at least four steps, but at most 64, if None.
    ``seed``: of the initial weights, the order of the pictures and the masks. Returns Network:
    ready to use: ``network.features(files)``, ``network.encoder``,
    ``network.save("flowers.safetensors")``.

    Examples
    --------
    >>> network = images.fit("flowers", epochs=2, size=32)
    >>> network.features(["flowers/rose/1.png"]).shape
    torch.Size([1, 64])
    >>> network.save("flowers.safetensors")  # for images.network, and for the command
    >>> images.network("flowers.safetensors").size
    32
    """
    own = read(data, size=size, seed=seed)
    kind = {"kind": encoder} if isinstance(encoder, str) else dict(encoder)
    if kind == {"kind": "small_resnet"}:
        kind |= {"stem_stride": 2 if own.size >= 48 else 1}
    augment = Augment({"preset": "simmim", **channel_statistics(own.train)})
    with seeded(seed, "images", "door"):
        other = str(kind.get("kind", ""))
        made = Borrowed(other, own.size) if is_name(other) else build_encoder(kind, own.size)
        objective = build_method({"kind": method, **_fitting(method, own.size, made.depth)}, made)
    batch = batch_size or max(4, min(64, len(own.train) // 4))
    settings = {
        "epochs": epochs, "batch_size": batch, "learning_rate": learning_rate,
        "warmup": min(2, epochs / 4),
    }  # fmt: skip
    train(objective, own.train, None, augment, settings, (seed, "images", "door"), device)
    weights = described(made.cpu(), augment, method, {"training": settings, "encoder": kind})
    return Network(made, weights.about).eval()


def network(source: str | Path_[str], *, weights: bool = True) -> Network | Foreign:
    """A trained network: of a file that a run wrote, or of torchvision or timm by name.

    ``source``: a safetensors file; ``torchvision:`` and a weights enum; or ``timm:`` and a model.
    Nothing is downloaded: a message says which file belongs where. ``weights``: False: random ones,
    for a name.

    Examples
    --------
    >>> resnet = images.network("torchvision:ResNet18_Weights.IMAGENET1K_V1", weights=False)
    >>> images.heat_maps(resnet, ["flowers/rose/1.png"]).shape
    torch.Size([1, 224, 224])
    """
    return named(str(source), weights) if is_name(str(source)) else restored(str(source))


def probe(
    network: nn.Module, data: Data, *, size: int = 64, seed: int = 0, device: str = "cpu"
) -> Probed:
    """Accuracy of a linear probe on the features of a frozen network.

    The penalty is chosen on a fifth of the training pictures, never on test pictures.

    ``network``: from :func:`fit` or :func:`network`, or any module from images (B, 3, S, S),
    normalised as for ImageNet, to one row of numbers each. ``data``, ``size``: see :func:`read`;
    pictures come to the size of a network that tells its own.

    Examples
    --------
    >>> print(images.probe(images.fit("flowers", epochs=2, size=32), "flowers"))
    1.00 (0.61 to 1.00) of 6 test pictures
    """
    own = read(data, size=getattr(network, "size", size), seed=seed)
    wanted = getattr(network, "size", own.size)
    if own.size != wanted:
        raise FeatlearnError(
            f"data: pictures of {own.size} pixels; expected {wanted}, as the network's: "
            f"images.read(..., size={wanted})"
        )
    inner, plain = _sight(network)
    if isinstance(network, Network):
        inner = network.encoder
    before, after = (extract(inner, part, plain, device=device).flatten(1)
                     for part in (own.train, own.test))  # fmt: skip
    share = max(0.2, 1 / len(before))
    rows = split_rows(own.train_labels, {"chosen": share}, seed, "images", "door", "probe")
    parts = [(before[rows[part]], own.train_labels[rows[part]]) for part in ("train", "chosen")]
    chosen = choose_probe(parts[0], parts[1], len(own.classes))
    said = chosen.scores(after).argmax(1).cpu()
    seen = estimate_share((said == own.test_labels).double().numpy())
    return Probed(seen.mean, seen.low, seen.high, said)


def heat_maps(
    network: nn.Module, pictures: Tensor | Iterable[str | Path_[str]], *, layer: str | None = None,
    device: str = "cpu",
) -> Tensor:  # fmt: skip
    """Eigen-CAM of any network.

    ``network``: from :func:`fit` or :func:`network`, or any module from images (B, 3, S, S).
    ``pictures``: files; uint8 pixels (N, 3, S, S), which are normalised as the network knows or, of
    a plain module, as for ImageNet; or floating-point numbers, which are taken as they are:
    normalised already. ``layer``: name of a module, as ``named_modules`` gives it, whose output is
    looked at: maps (B, channels, h, w), or tokens (B, n, channels) of a grid. If None that of our
    encoders; else the last one that gives maps of more than one position or, in a transformer, the
    first norm of its last block. Returns Tensor: (N, S, S) float32 in [0, 1]. Raises FeatlearnError
    if no layer gives maps, or one that is not finite, a file is no picture, or pixels have another
    type or shape.

    Examples
    --------
    >>> from torchvision.models import resnet18
    >>> images.heat_maps(resnet18(), torch.rand(2, 3, 64, 64, dtype=torch.float64)).shape
    torch.Size([2, 64, 64])
    """
    inner, plain = _sight(network)
    if not isinstance(pictures, Tensor):
        pictures = _files(pictures, getattr(network, "size", 224))
    if pictures.dim() != 4 or pictures.shape[1] != 3 or not len(pictures):
        raise FeatlearnError(
            f"pictures: shape {tuple(pictures.shape)}; expected (N, 3, height, width)"
        )
    if pictures.dtype != torch.uint8 and not pictures.is_floating_point():
        raise FeatlearnError(
            f"pictures: {pictures.dtype}; expected uint8 pixels, or normalised floating point"
        )
    size = (pictures.shape[-2], pictures.shape[-1])
    kind = next((one.dtype for one in inner.parameters()), torch.float32)
    inner.to(device)
    maps = []
    with evaluating(inner), torch.inference_mode():
        for part in pictures.split(BATCH):  # type: ignore[no-untyped-call]
            inputs = part.to(device)
            if part.dtype == torch.uint8:
                inputs = plain(inputs, Draws(("evaluation",), 0, len(part)))
            seen = _activations(inner, inputs.to(kind), layer).float()
            if not seen.isfinite().all():
                raise FeatlearnError("network: must give finite numbers, got NaN or infinity")
            maps.append(eigen_cam(seen))
    return heat(torch.cat(maps), size).cpu().clone()


def _folder(path: Path, size: int, test: float, seed: int) -> Pictures:
    data = {"kind": "folder", "path": str(path), "size": size, "resize": "crop",
            "shares": {"test": test}}  # fmt: skip
    look(data, writes=False)
    with tempfile.TemporaryDirectory() as cache:
        opened = open_splits(as_opened(data), cache, seed, "images", "door")
        first, second = opened["train"], opened["test"]
        return _two_classes(
            Pictures(first.images.clone(), first.labels, second.images.clone(), second.labels,
                     tuple(first.classes)),
            str(path),
        )  # fmt: skip


def _dataset(data: Any, size: int, test: float, seed: int) -> Pictures:
    pixels, labels = [], []
    for number in range(len(data)):
        picture, label = data[number]
        pixels.append(decode(_array(picture, number), size, "crop")[0])
        labels.append(int(label))
    if not pixels:
        raise FeatlearnError("data: no pictures; expected a dataset of (picture, label)")
    images, known = torch.from_numpy(np.stack(pixels)), torch.tensor(labels)
    if int(known.min()) < 0:
        raise FeatlearnError(f"data: label {int(known.min())}; expected whole numbers from 0 on")
    if int(known.max()) >= MOST_CLASSES:
        raise FeatlearnError(f"data: label {int(known.max())}; expected less than {MOST_CLASSES}")
    names = list(getattr(data, "classes", None) or range(int(known.max()) + 1))
    if int(known.max()) >= len(names):
        raise FeatlearnError(
            f"data: label {int(known.max())}; expected less than {len(names)}, as there are classes"
        )
    rows = split_rows(known, {"test": test}, seed, "images", "door")
    return _two_classes(
        Pictures(images[rows["train"]], known[rows["train"]], images[rows["test"]],
                 known[rows["test"]], tuple(map(str, names))),
        "data",
    )  # fmt: skip


def _two_classes(made: Pictures, what: str) -> Pictures:
    if len(made.classes) < 2:
        raise FeatlearnError(f"{what}: {len(made.classes)} classes; expected two or more")
    again = repeats(
        {"train": (made.train, made.train_labels), "test": (made.test, made.test_labels)}
    )["test"][0]
    if count := int(again.sum()):
        warnings.warn(
            f"{what}: {count} of {len(again)} test pictures are, pixel for pixel, training "
            "pictures as well: accuracies will be too high",
            stacklevel=3,
        )
    return made


def _array(picture: Any, number: int) -> np.ndarray[Any, Any]:
    if isinstance(picture, Image.Image):
        return np.asarray(picture.convert("RGB"))
    if isinstance(picture, Tensor):
        picture = picture.detach().cpu()
        if picture.is_floating_point():
            if not (float(picture.min()) >= 0 and float(picture.max()) <= 1):
                raise FeatlearnError(
                    f"data: picture {number}: numbers from {float(picture.min()):.3g} to "
                    f"{float(picture.max()):.3g}; expected 0 to 1 (without Normalize), or uint8"
                )
            picture = (picture * 255).round().to(torch.uint8)
        picture = picture.permute(1, 2, 0).numpy() if picture.dim() == 3 else picture.numpy()
        if picture.ndim == 3 and picture.shape[-1] == 1:
            picture = picture[..., 0]
    if not isinstance(picture, np.ndarray) or picture.dtype != np.uint8:
        kind = getattr(picture, "dtype", type(picture).__name__)
        raise FeatlearnError(
            f"data: picture {number}: {kind}; expected a PIL picture, a tensor (3, H, W), or a "
            "uint8 array (H, W, 3)"
        )
    return picture


def _files(files: Iterable[str | Path_[str]], size: int) -> Tensor:
    if isinstance(files, (str, Path_)):
        files = [files]
    found = []
    for file in files:
        try:
            found.append(decode(Path(file), size, "crop")[0])
        except BrokenImage as error:
            raise FeatlearnError(f"{shown(file)}: {error}") from error
    if not found:
        raise FeatlearnError("pictures: none; expected some")
    return torch.from_numpy(np.stack(found))


def _fitting(method: str, size: int, depth: int) -> dict[str, int]:
    """Options that follow the size: cells of an eighth of a side and a light decoder, ours."""
    if method == "data2vec":
        return {"top_blocks": min(6, depth)}
    if method == "simmim":
        return {"mask_size": max(4, size // 8), "decoder_width": 32}
    return {}


def _sight(network: nn.Module) -> tuple[nn.Module, Augment]:
    """The module to run, and how pixels are normalised for it."""
    if isinstance(network, (Network, Foreign)):
        return network.network, network.plain
    return network, Augment({"preset": "none"})


def _activations(network: nn.Module, inputs: Tensor, layer: str | None) -> Tensor:
    encoder = getattr(network, "encoder", network)
    if layer is None and isinstance(encoder, Encoder):
        return encoder.layer_maps(inputs)
    if layer is None:  # of two pictures: networks look at parts of one apart
        layer = layers(network, inputs[:1].expand(2, -1, -1, -1)).shown
    return activations(network, inputs, layer)

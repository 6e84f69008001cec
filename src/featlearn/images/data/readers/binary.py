"""Data sets that come as arrays: CIFAR, STL-10, SVHN, MNIST, the digits of scikit-learn.

Only formats that hold numbers are read: never the pickled ones, which may run code when opened.
"""

from __future__ import annotations

import gzip
import math
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featlearn.core.errors import FeatlearnError
from featlearn.images.data.readers.common import (
    NO_LABEL,
    Record,
    Source,
    existing,
    read_words,
    shown,
    unknown_split,
)

Arrays = tuple[NDArray[np.uint8], NDArray[np.int64]]
DIGITS = tuple("0123456789")
CIFAR10 = (
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck",
)  # fmt: skip
STL10 = (
    "airplane", "bird", "car", "cat", "deer", "dog", "horse", "monkey", "ship", "truck",
)  # fmt: skip


def read_cifar10(settings: Mapping[str, Any], split: str) -> Source:
    """CIFAR-10, binary version: ``data_batch_1.bin`` to ``data_batch_5.bin``, ``test_batch.bin``.

    They lie in ``path`` or in ``path/cifar-10-batches-bin``.
    """
    names = {
        "train": [f"data_batch_{number}.bin" for number in range(1, 6)],
        "test": ["test_batch.bin"],
    }
    folder = _cifar_folder(settings, "cifar10", "cifar-10-batches-bin", names["test"][0])
    files = _files_of_split(folder, names, "cifar10", split)
    return _source("CIFAR-10", split, CIFAR10, files, lambda path: _cifar(path, labels=1))


def read_cifar100(settings: Mapping[str, Any], split: str) -> Source:
    """CIFAR-100, binary version, fine labels: ``train.bin``, ``test.bin``.

    They lie in ``path`` or in ``path/cifar-100-binary``, with ``fine_label_names.txt``.
    """
    names = {"train": ["train.bin"], "test": ["test.bin"]}
    folder = _cifar_folder(settings, "cifar100", "cifar-100-binary", "test.bin")
    files = _files_of_split(folder, names, "cifar100", split)
    words = folder / "fine_label_names.txt"
    classes = tuple(str(number) for number in range(100))
    if words.is_file():
        classes = tuple(read_words(words).split())
    return _source("CIFAR-100", split, classes, files, lambda path: _cifar(path, labels=2))


def read_stl10(settings: Mapping[str, Any], split: str) -> Source:
    """STL-10: ``<split>_X.bin`` and ``<split>_y.bin``; ``unlabeled`` has no labels.

    They lie in ``path`` or in ``path/stl10_binary``. Splits: train, test, unlabeled.
    """
    names = {
        "train": ["train_X.bin", "train_y.bin"],
        "test": ["test_X.bin", "test_y.bin"],
        "unlabeled": ["unlabeled_X.bin"],
    }
    root = Path(settings["path"])
    advice = "STL-10 is to be had as stl10_binary.tar.gz: unpack it there"
    folder = existing([root / "stl10_binary", root], "stl10", advice)
    files = _files_of_split(folder, names, "stl10", split)

    def load(path: Path) -> Arrays:
        flat = np.memmap(path, np.uint8, "r")
        _check_length(path, len(flat), 3 * 96 * 96)
        # stored column by column
        images = flat.reshape(-1, 3, 96, 96).transpose(0, 3, 2, 1)
        if len(files) == 1:
            return images, np.full(len(images), NO_LABEL)
        labels = np.fromfile(files[1], np.uint8).astype(np.int64) - 1
        return images, _matching(labels, images, files[1])

    classes = STL10 if split != "unlabeled" else ()
    return _source("STL-10", split, classes, files, load, read=files[:1])


def read_svhn(settings: Mapping[str, Any], split: str) -> Source:
    """SVHN, cropped digits: ``train_32x32.mat``, ``test_32x32.mat``, ``extra_32x32.mat``."""
    names = {part: [f"{part}_32x32.mat"] for part in ("train", "test", "extra")}
    files = _files_of_split(Path(settings["path"]), names, "svhn", split)

    def load(path: Path) -> Arrays:
        from scipy.io import loadmat

        try:
            content = loadmat(path, variable_names=["X", "y"])
            images, labels = content["X"], content["y"].reshape(-1).astype(np.int64)
        except Exception as error:  # damaged files raise errors of many kinds
            raise FeatlearnError(
                f"{shown(path)}: cannot be read as SVHN: {shown(str(error))}"
            ) from error
        if images.dtype != np.uint8 or images.shape[:3] != (32, 32, 3):
            raise FeatlearnError(
                f"{shown(path)}: X is {images.dtype} {images.shape}; expected uint8 (32, 32, 3, N)"
            )
        images = images.transpose(3, 0, 1, 2)
        # the digit 0 has the label 10
        return images, _matching(np.where(labels == 10, 0, labels), images, path)

    return _source("SVHN", split, DIGITS, files, load)


def read_mnist(settings: Mapping[str, Any], split: str) -> Source:
    """MNIST: ``train-images-idx3-ubyte``, ``train-labels-idx1-ubyte``, ``t10k-...``, or with .gz.

    They lie in ``path``, ``path/raw`` or ``path/MNIST/raw``. Sets of the same layout, such as
    Fashion-MNIST, are read likewise; ``classes`` gives their names.
    """
    prefix = {"train": "train", "test": "t10k"}
    if split not in prefix:
        raise unknown_split("mnist", split, list(prefix))
    root = Path(settings["path"])
    advice = "MNIST's four idx files belong there, packed with gzip or not"
    files = tuple(
        existing(
            [
                folder / f"{prefix[split]}-{what}-ubyte{ending}"
                for folder in (root, root / "raw", root / "MNIST" / "raw")
                for ending in ("", ".gz")
            ],
            "mnist",
            advice,
        )
        for what in ("images-idx3", "labels-idx1")
    )

    def load(path: Path) -> Arrays:
        images = _idx(path, 3)
        return images, _matching(_idx(files[1], 1).astype(np.int64), images, files[1])

    classes = tuple(settings.get("classes") or DIGITS)
    return _source("MNIST", split, classes, files, load, read=files[:1])


def read_digits(settings: Mapping[str, Any], split: str) -> Source:
    """The 1797 digits of 8 x 8 pixels that come with scikit-learn; split: all."""
    if split != "all":
        raise unknown_split("digits", split, ["all"])
    # looked for and not imported: a plan asks, too, and the import takes a second
    if find_spec("sklearn") is None:
        raise FeatlearnError(
            "digits: scikit-learn is not installed; expected it, as these images come with it "
            "(pip install scikit-learn)"
        )

    def load(path: Path) -> Arrays:
        from sklearn.datasets import (  # type: ignore[import-untyped, import-not-found, unused-ignore]
            load_digits,
        )

        content = load_digits()
        # levels 0 to 16
        return np.round(content.images * (255 / 16)).astype(np.uint8), content.target

    # no file of the user's: where a package lies and when it was installed changes no picture
    return _source("digits", split, DIGITS, (), load, read=(Path("digits"),))


def _source(
    what: str,
    split: str,
    classes: Sequence[str],
    files: Sequence[Path],
    load: Callable[[Path], Arrays],
    read: Sequence[Path] | None = None,
) -> Source:
    """A source of arrays: ``load`` gives images (n, h, w[, 3]) and labels of a file in ``read``."""

    def records() -> Iterator[Record]:
        for path in files if read is None else read:
            images, labels = load(path)
            for row, (image, label) in enumerate(zip(images, labels.tolist(), strict=True)):
                fault = ""
                if classes and not 0 <= label < len(classes):
                    fault = f"label {label}; expected 0 to {len(classes) - 1}"
                yield Record(
                    f"{shown(path.name)} image {row}",
                    np.ascontiguousarray(image),
                    label,
                    fault=fault,
                )

    return Source(f"{what} ({split})", tuple(classes), tuple(files), records)


def _files_of_split(
    folder: Path, names: Mapping[str, list[str]], kind: str, split: str
) -> tuple[Path, ...]:
    if split not in names:
        raise unknown_split(kind, split, list(names))
    advice = f"the {kind} files {', '.join(names[split])} belong there"
    return tuple(existing([folder / name], kind, advice) for name in names[split])


def _cifar_folder(settings: Mapping[str, Any], kind: str, unpacked: str, sample: str) -> Path:
    root = Path(settings["path"])
    for folder in (root / unpacked, root):
        if (folder / sample).is_file():
            return folder
    pickled = [root / unpacked.replace("binary", "python").replace("-bin", "-py")]
    also = ""
    if pickled[0].is_dir():
        also = f" ({shown(pickled[0])} is the version of Python pickles, which are never read)"
    raise FeatlearnError(
        f"{kind}: expected {shown(root / unpacked / sample)}, from the binary version of the data "
        f"set{also}; or Parquet files with kind: parquet"
    )


def _cifar(path: Path, labels: int) -> Arrays:
    """Records of one or two labels and 3 x 32 x 32 pixels; the last label is the fine one."""
    flat = np.fromfile(path, np.uint8)
    _check_length(path, len(flat), labels + 3072)
    rows = flat.reshape(-1, labels + 3072)
    images = rows[:, labels:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return images, rows[:, labels - 1].astype(np.int64)


def _check_length(path: Path, length: int, record: int) -> None:
    if length == 0 or length % record:
        raise FeatlearnError(
            f"{shown(path)}: {length} bytes; expected a multiple of {record}: is it truncated?"
        )


def _matching(
    labels: NDArray[np.int64], images: NDArray[np.uint8], path: Path
) -> NDArray[np.int64]:
    if len(labels) != len(images):
        raise FeatlearnError(
            f"{shown(path)}: {len(labels)} labels; expected {len(images)}, one an image"
        )
    return labels


def _idx(path: Path, dimensions: int) -> NDArray[np.uint8]:
    """An array of bytes in the idx format: magic number, sizes, values."""
    try:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        raise FeatlearnError(f"{shown(path)}: cannot be unpacked: {error}") from error
    header = 4 + 4 * dimensions
    sizes = [int.from_bytes(content[at : at + 4], "big") for at in range(4, header, 4)]
    if content[:4] != bytes([0, 0, 8, dimensions]) or len(content) != header + math.prod(sizes):
        raise FeatlearnError(
            f"{shown(path)}: {len(content)} bytes beginning with {content[:4].hex()}; expected the "
            f"idx format: 000008{dimensions:02x}, {dimensions} sizes, and as many bytes as they say"
        )
    return np.frombuffer(content, np.uint8, offset=header).reshape(sizes)

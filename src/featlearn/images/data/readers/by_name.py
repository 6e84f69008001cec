"""Data sets by their names in torchvision, as it lays them out, and the digits of scikit-learn.

torchvision reads plain numbers (idx, MATLAB, CSV). Pickles may run code and are never read: of
CIFAR the binary version is.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featlearn.core.errors import FeatlearnError
from featlearn.images.config_data import place
from featlearn.images.data.published import DIGITS, PUBLISHED
from featlearn.images.data.readers.common import (
    NO_LABEL,
    Record,
    Source,
    existing,
    read_words,
    shown,
    unknown_split,
)
from featlearn.images.data.readers.folder import read_class_folders

#: Images (n, h, w) or (n, h, w, 3), and labels (n,).
Arrays = tuple[Sequence[NDArray[np.uint8]] | NDArray[np.uint8], NDArray[np.int64]]


def read_torchvision(settings: Mapping[str, Any], split: str) -> Source:
    """A split of the set ``name`` below ``root``; see :data:`featlearn.images.data.published`."""
    name, root = settings["name"], place(settings)
    own = PUBLISHED[name]
    if split not in own.splits:
        raise unknown_split(name, split, list(own.splits))
    advice = f"featlearn data get {name} --root {shown(root)} puts it there"
    if name.startswith("CIFAR"):
        advice += ": the binary version, as pickles are never read"
    files = tuple(existing([root / file], name, advice) for file in own.splits[split])
    if files[0].is_dir():
        # torchvision leaves the folder of backgrounds out, too
        named = {"classes": own.classes, **settings} if own.classes else settings
        return read_class_folders(files[0], named, without=["BACKGROUND_Google"])
    classes = tuple(settings.get("classes") or own.classes)
    words = files[0].with_name("fine_label_names.txt")
    if name == "CIFAR100" and not settings.get("classes") and words.is_file():
        classes = tuple(read_words(words).split())
    if name == "GTSRB":
        return _gtsrb_test(files[0], files[1], classes)
    load = _LOADERS.get(name, _idx)
    return _source(f"{name} ({split})", classes, files, lambda: load(root, split, files))


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

    def load() -> Arrays:
        from sklearn.datasets import (  # type: ignore[import-untyped, import-not-found, unused-ignore]
            load_digits,
        )

        content = load_digits()
        # levels 0 to 16
        return np.round(content.images * (255 / 16)).astype(np.uint8), content.target

    # no file of the user's: where a package lies and when it was installed changes no picture
    return _source(f"digits ({split})", DIGITS, (), load)


def _source(
    what: str, classes: Sequence[str], files: Sequence[Path], load: Callable[[], Arrays]
) -> Source:
    def records() -> Iterator[Record]:
        try:
            images, labels = load()
        except MemoryError:
            raise
        except Exception as error:  # damaged files raise errors of many kinds
            told = shown(f"{type(error).__name__}: {error}")
            raise FeatlearnError(f"{shown(files[0])}: cannot be read as {what}: {told}") from error
        if len(images) != len(labels):
            raise FeatlearnError(
                f"{shown(files[-1])}: {len(labels)} labels; expected {len(images)}, one an image"
            )
        for row, (image, label) in enumerate(zip(images, labels.tolist(), strict=True)):
            wrong = not 0 <= label < len(classes) and label != NO_LABEL
            fault = f"label {label}; expected 0 to {len(classes) - 1}" if wrong else ""
            yield Record(f"{what} image {row}", np.ascontiguousarray(image), label, fault=fault)

    return Source(what, tuple(classes), tuple(files), records)


def _idx(root: Path, split: str, files: Sequence[Path]) -> Arrays:
    # not the class MNIST, which prefers a file of torch if one lies beside
    from torchvision.datasets.mnist import read_image_file, read_label_file

    return read_image_file(str(files[0])).numpy(), read_label_file(str(files[1])).numpy()


def _of_class(name: str, root: Path, split: str, files: Sequence[Path]) -> Arrays:
    from torchvision import datasets

    found = getattr(datasets, name)(root, split)
    # STL10 has no label as 255
    return found.data.transpose(0, 2, 3, 1), np.asarray(found.labels).astype(np.int8).astype(int)


def _fer2013(root: Path, split: str, files: Sequence[Path]) -> Arrays:
    from torchvision.datasets import FER2013

    images, labels = zip(*FER2013(root, split), strict=True)
    return [np.asarray(image) for image in images], np.array(labels)


def _cifar(root: Path, split: str, files: Sequence[Path]) -> Arrays:
    """Records of one or two labels and 3 x 32 x 32 pixels; the last label is the fine one."""
    labels = 1 if len(files) > 1 or files[0].stem == "test_batch" else 2
    rows = [np.fromfile(file, np.uint8).reshape(-1, labels + 3072) for file in files]
    flat = np.concatenate(rows)
    images = flat[:, labels:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return images, flat[:, labels - 1].astype(np.int64)


_LOADERS: dict[str, Callable[[Path, str, Sequence[Path]], Arrays]] = {
    "CIFAR10": _cifar, "CIFAR100": _cifar, "FER2013": _fer2013,
    **{name: partial(_of_class, name) for name in ("STL10", "SVHN")},
}  # fmt: skip


def _gtsrb_test(answers: Path, folder: Path, classes: tuple[str, ...]) -> Source:
    rows = list(csv.DictReader(read_words(answers).splitlines(), delimiter=";"))
    if not rows or not {"Filename", "ClassId"} <= set(rows[0]):
        raise FeatlearnError(
            f"{shown(answers)}: expected the columns Filename and ClassId, and rows"
        )
    names = [Path(row["Filename"] or "").name for row in rows]

    def records() -> Iterator[Record]:
        for name, row in zip(names, rows, strict=True):
            number = row["ClassId"] or ""
            right = bool(name) and number.isdecimal() and int(number) < len(classes)
            fault = "" if right else f"label {shown(number)}; expected 0 to {len(classes) - 1}"
            label = int(number) if right else NO_LABEL
            yield Record(shown(name), folder / name, label, fault=fault)

    return Source("GTSRB (test)", classes, (answers, *(folder / one for one in names)), records)

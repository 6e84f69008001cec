"""Real images with one class each, for experiments that train on some and test on others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from torch import Tensor

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import PathLike
from featlearn.images.datasets import ImageSet, Labelled, fraction_rows, open_splits
from featlearn.images.on_disk import as_opened


class Classified(NamedTuple):
    """Images for training and for testing, and the names of their classes."""

    train: Labelled
    test: Labelled
    classes: tuple[str, ...]


def open_classified(
    data: Mapping[str, Any],
    cache_folder: PathLike,
    *name: object,
    most: int | None = None,
    key: str = "data",
) -> Classified:
    """The images of a data set that have a class.

    Parameters
    ----------
    data
        Settings of the data set, as for :func:`featlearn.images.datasets.open_splits`.
    cache_folder
        Folder of decoded images.
    *name
        Name of the random stream that splits the set, where it has no split for testing, and that
        takes the training images.
    most
        About how many training images are taken, of each class the same share; all if absent.
    key
        Of ``data`` in the config, for messages.

    Raises
    ------
    FeatlearnError
        If files are missing, or images do not have one class each, of two classes or more.
    """
    try:
        opened = open_splits(as_opened(data), cache_folder, *name)
    except FeatlearnError as error:
        raise FeatlearnError(f"{key}: {error}") from error
    train, test = opened["train"], opened["test"]
    if train.labels.dim() > 1 or len(train.classes) < 2:
        raise FeatlearnError(f"{key}: expected images with one class each, of two classes or more")
    known, tested = ((one.labels >= 0).nonzero().squeeze(1) for one in (train, test))
    for role, rows in (("training", known), ("testing", tested)):
        if not len(rows):
            raise FeatlearnError(f"{key}: no image for {role} has a class; expected some")
    if most is not None and most < len(known):
        known = fraction_rows(train.labels, most / len(known), *name, "train-images")
    return Classified(
        _rows(train, known, cache_folder), _rows(test, tested, cache_folder), tuple(train.classes)
    )


def _rows(images: ImageSet, rows: Tensor, cache_folder: PathLike) -> Labelled:
    # all of them stay mapped from the cache
    chosen = images if len(rows) == len(images) else images.subset(rows, cache_folder)
    return Labelled(chosen.images, chosen.labels)

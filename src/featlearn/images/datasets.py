"""Real images behind one interface: opened from disk, cached, split, subset by label."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import PathLike
from featlearn.core.seeds import generator
from featlearn.images.cache import (
    BOX_COLUMNS,
    cached,
    cached_rows,
    chosen_boxes,
    read_meta,
    read_table,
)
from featlearn.images.config_data import given_splits
from featlearn.images.readers import READERS

ROLES = ("train", "validation", "test")
SHARES = {"validation": 0.1, "test": 0.2}
# a made split larger than this is not copied into memory but written to a cache of its own
COPIED = 1 << 30
FAULTS_SHOWN = 10
# sets up to this size are kept on the device: nothing then waits for copies
RESIDENT = 8 << 30


class Labelled(NamedTuple):
    """Images uint8 (N, 3, S, S) and their classes int64 (N,)."""

    images: Tensor
    labels: Tensor


def placed(tensor: Tensor, device: torch.device) -> Tensor:
    """Images or labels on the device if they are small against its memory, else as they are."""
    return tensor.to(device) if tensor.nbytes <= RESIDENT else tensor


@dataclass(frozen=True)
class ImageSet:
    """Images of one size with what is known about them.

    Attributes
    ----------
    images : (N, 3, S, S) uint8
        RGB; mapped from the cache, not held in memory.
    labels : (N,) or (N, classes) int64
        Index of the class, -1 for none. Where an image shows several classes: 1 (there), 0 (not
        there), -1 (there, but too difficult to be judged).
    classes
        Names of the classes; empty without labels.
    names
        What each image is called, e.g. its path in the folder.
    faults
        One row an image that could not be used: ``file``, ``reason``.
    objects
        One row an object: ``image`` (row), ``label``, ``difficult``, ``x0 y0 x1 y1`` in pixels of
        ``images``, half-open. None for a set without boxes.
    folder
        The cache behind it; None if the images were copied.
    """

    images: Tensor
    labels: Tensor
    classes: tuple[str, ...]
    names: pd.Series[str]
    faults: pd.DataFrame
    objects: pd.DataFrame | None = None
    folder: Path | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def boxes(self, row: int) -> tuple[Tensor, Tensor, Tensor]:
        """Objects of one image: boxes ``(n, 4)`` float32 xyxy, labels ``(n,)``, difficult ``(n,)``.

        Raises
        ------
        FeatlearnError
            If the set has no boxes.
        """
        if self.objects is None:
            raise FeatlearnError("boxes: this set has none; expected a detection set such as VOC")
        found = self.objects[self.objects["image"] == row]
        return (
            torch.tensor(found[list(BOX_COLUMNS)].to_numpy(np.float32)),
            torch.tensor(found["label"].to_numpy(np.int64)),
            torch.tensor(found["difficult"].to_numpy(bool)),
        )

    def subset(self, rows: Tensor, cache_folder: PathLike | None = None) -> ImageSet:
        """The images ``rows`` (int64), in that order.

        More than a gibibyte is not copied into memory but into a cache of its own, if
        ``cache_folder`` says where.
        """
        chosen = rows.numpy()
        large = len(rows) * self.images[0].numel() > COPIED
        if large and cache_folder is not None and self.folder is not None:
            return _from_cache(cached_rows(self.folder, chosen, cache_folder))
        return replace(
            self,
            images=self.images[rows],
            labels=self.labels[rows],
            names=self.names.iloc[chosen].reset_index(drop=True),
            objects=None if self.objects is None else chosen_boxes(self.objects, chosen),
            folder=None,
        )


def open_images(
    settings: Mapping[str, Any],
    cache_folder: PathLike,
    split: str | None = None,
    classes: Sequence[str] | None = None,
) -> ImageSet:
    """One split of a data set on disk, decoded into a cache.

    Parameters
    ----------
    settings
        ``kind`` (what lies there), ``path``, ``size`` (side in pixels), ``resize``, ``broken``
        (``report`` leaves images out that cannot be used, and tells which; ``refuse`` stops), and
        what the kind asks for: see ``config_data`` and the documentation of the readers.
    cache_folder
        Where caches lie.
    split
        A split that the set itself has; its training images if None.
    classes
        Names of the classes in the order of the labels, from another split of the same set.

    Raises
    ------
    FeatlearnError
        If files are missing (it says which, and where they go), or if nothing can be used, or if
        images are broken and ``broken`` is ``refuse``.
    """
    if split is None:
        split = given_splits(settings)["train"]
    source = READERS[settings["kind"]](
        settings if classes is None else {**settings, "classes": list(classes)}, split
    )
    opened = _from_cache(cached(source, {**settings, "split": split}, cache_folder))
    _tell_faults(opened, source.what, settings.get("broken", "report"))
    return opened


def open_splits(
    settings: Mapping[str, Any], cache_folder: PathLike, *name: object
) -> dict[str, ImageSet]:
    """Training, validation and test images.

    A role that the data set has no split of its own for is carved out of the training images, with
    its share from ``settings["shares"]`` (a tenth and a fifth if absent; 0 for no such part),
    stratified by class, by the random stream ``name``.

    Parameters
    ----------
    settings, cache_folder
        As for :func:`open_images`; ``splits`` says which split has which role,
        ``{train: train, test: val}``, where the names of the set's own splits do not.
    *name
        Name of the random stream, e.g. ``seed, "mrp", "images", replicate``.
    """
    given = given_splits(settings)
    train = open_images(settings, cache_folder, given["train"])
    opened = {
        role: open_images(settings, cache_folder, split, train.classes)
        for role, split in given.items()
        if role != "train"
    }
    wanted = settings.get("shares")
    shares = {
        role: share
        for role, share in (SHARES if wanted is None else wanted).items()
        if role not in opened and share > 0
    }
    if shares:
        rows = split_rows(train.labels, shares, *name, "split")
        opened |= {role: train.subset(rows[role], cache_folder) for role in shares}
        train = train.subset(rows["train"], cache_folder)
    return {role: part for role in ROLES if (part := {"train": train, **opened}.get(role))}


def split_rows(labels: Tensor, shares: Mapping[str, float], *name: object) -> dict[str, Tensor]:
    """Rows of the images, dealt out at random, class by class.

    Parameters
    ----------
    labels : (N,) or (N, classes)
        Only labels of shape (N,) stratify.
    shares
        Share of each part, e.g. ``{"validation": 0.1, "test": 0.2}``; ``train`` is what is left.
    *name
        Name of the random stream.

    Returns
    -------
    dict
        Sorted rows of each part. A part has ``floor(N * share)`` images, and of each class a
        number within one or two of its share.

    Raises
    ------
    FeatlearnError
        If a part would be empty.
    """
    order = _by_class(labels, *name)
    parts: dict[str, Tensor] = {}
    left = 1.0
    for part, share in shares.items():
        # every (left / share)-th image of the row of classes, as even as it can be
        steps = torch.arange(len(order) + 1, dtype=torch.float64) * (share / left)
        taken = (steps[1:] + 1e-9).floor() > (steps[:-1] + 1e-9).floor()
        parts[part], order = _sorted(order[taken]), order[~taken]
        left -= share
    parts["train"] = _sorted(order)
    for part, rows in parts.items():
        if not len(rows):
            raise FeatlearnError(
                f"shares: {dict(shares)} of {len(labels)} images leave none for {part}; "
                "expected at least one"
            )
    return parts


def fraction_rows(labels: Tensor, fraction: float, *name: object) -> Tensor:
    """Sorted rows of a share of the labelled images, the same share of each class, at least one.

    Subsets are nested: those of 1 % are among those of 10 % of the same ``name``.
    """
    order = _by_class(labels, *name)
    if labels.dim() > 1:
        return _sorted(order[: max(1, round(fraction * len(order)))])
    kept = [
        rows[: max(1, round(fraction * len(rows)))]
        for label in _present(labels)
        if label >= 0 and len(rows := order[labels[order] == label])
    ]
    if not kept:
        raise FeatlearnError("fraction: no image has a label; expected some")
    return _sorted(torch.cat(kept))


def _sorted(rows: Tensor) -> Tensor:
    return torch.sort(rows)[0]


def _present(labels: Tensor) -> list[int]:
    return np.unique(labels.numpy()).tolist()


def _by_class(labels: Tensor, *name: object) -> Tensor:
    """All rows, class after class, at random within each; a class has a stream of its own."""
    if labels.dim() > 1:
        return torch.randperm(len(labels), generator=generator(*name))
    shuffled = []
    for label in _present(labels):
        rows = (labels == label).nonzero().squeeze(1)
        shuffled.append(rows[torch.randperm(len(rows), generator=generator(*name, label))])
    return torch.cat(shuffled)


def _from_cache(folder: Path) -> ImageSet:
    meta = read_meta(folder)
    rows = read_table(folder, "rows")
    shape = (meta["count"], 3, meta["size"], meta["size"])
    # a private map: nothing is read before it is used, and nobody can change the file through it
    images = torch.from_file(
        str(folder / "images.u8"), shared=False, size=int(np.prod(shape)), dtype=torch.uint8
    ).view(shape)
    return ImageSet(
        images=images,
        labels=torch.from_numpy(np.stack(rows["label"].to_list()).astype(np.int64)),
        classes=tuple(meta["classes"]),
        names=rows["name"],
        faults=read_table(folder, "faults"),
        objects=read_table(folder, "boxes") if meta["boxes"] else None,
        folder=folder,
    )


def _tell_faults(opened: ImageSet, what: str, broken: str) -> None:
    faults = opened.faults
    if faults.empty:
        return
    lines = [f"  {row.file}: {row.reason}" for row in faults.head(FAULTS_SHOWN).itertuples()]
    if len(faults) > FAULTS_SHOWN:
        lines.append(f"  ... and {len(faults) - FAULTS_SHOWN} more")
    text = (
        f"{what}: {len(faults)} of {len(faults) + len(opened)} images cannot be used:\n"
        + "\n".join(lines)
    )
    if broken == "refuse":
        raise FeatlearnError(f"{text}\nbroken: refuse; expected none, or broken: report")
    print(text, file=sys.stderr, flush=True)

"""Real images behind one interface: opened from disk, cached, split, subset by label."""

from __future__ import annotations

import hashlib
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import PathLike
from featlearn.core.run.provenance import note_read
from featlearn.core.seeds import generator
from featlearn.images.config_data import given_splits
from featlearn.images.data.cache import cached, cached_rows, chosen_boxes, read_meta, read_table
from featlearn.images.data.on_disk import as_opened
from featlearn.images.data.published import PUBLISHED
from featlearn.images.data.readers import READERS
from featlearn.images.data.readers.common import Record, Source

ROLES = ("train", "validation", "test")
SHARES = {"validation": 0.1, "test": 0.2}
# a made split larger than this is not copied into memory but written to a cache of its own
COPIED = 1 << 30
FAULTS_SHOWN = 10
# what must not be separated in named sets
TOGETHER = {name: one.together for name, one in PUBLISHED.items()}
# sets up to this size are kept on the device: nothing then waits for copies
RESIDENT = 8 << 30


class Labelled(NamedTuple):
    """Images uint8 (N, 3, S, S) and their classes int64 (N,); ``groups`` as :func:`together`."""

    images: Tensor
    labels: Tensor
    groups: Tensor | None = None


def placed(tensor: Tensor, device: torch.device) -> Tensor:
    """Images or labels on the device if they are small against its memory, else as they are."""
    return tensor.to(device) if tensor.nbytes <= RESIDENT else tensor


@dataclass(frozen=True)
class ImageSet:
    """Images of one size with what is known about them.

    ``images`` (N, 3, S, S) uint8: RGB, mapped from the cache. ``labels`` (N,) int64: class, -1 for
    none; or (N, classes), where an image shows several: 1 (there), 0 (not there), -1 (not to be
    judged). ``classes``: their names; empty without labels. ``names``: of the images, such as
    paths. ``faults``: a row an image that could not be used: ``file``, ``reason``. ``objects``: a
    row an object: ``image`` (row), ``label``, ``difficult``, ``x0 y0 x1 y1`` in pixels of
    ``images``, half-open; None without boxes. ``folder``: the cache; None for copies. ``sha256``:
    of all pixels of a cache.
    """

    images: Tensor
    labels: Tensor
    classes: tuple[str, ...]
    names: pd.Series[str]
    faults: pd.DataFrame
    objects: pd.DataFrame | None = None
    folder: Path | None = None
    sha256: str = ""

    def __len__(self) -> int:
        return len(self.labels)

    def subset(self, rows: Tensor, cache_folder: PathLike | None = None) -> ImageSet:
        """The images ``rows`` (int64), in that order.

        More than a gibibyte is copied into a cache of its own, if ``cache_folder`` says where.
        """
        chosen = rows.numpy()
        large = len(rows) * self.images[0].numel() > COPIED
        if large and cache_folder is not None and self.folder is not None:
            return _from_cache(cached_rows(self.folder, chosen, cache_folder))
        return replace(self, images=self.images[rows], labels=self.labels[rows],
                       names=self.names.iloc[chosen].reset_index(drop=True),
                       objects=None if self.objects is None else chosen_boxes(self.objects, chosen),
                       folder=None, sha256="")  # fmt: skip


def open_images(
    settings: Mapping[str, Any], cache_folder: PathLike, split: str | None = None,
    classes: Sequence[str] | None = None, rows: Sequence[Sequence[int]] | None = None,
) -> ImageSet:  # fmt: skip
    """One split of a data set on disk, decoded into a cache.

    ``settings``: ``kind`` (what lies there), ``path``, ``size`` (side in pixels), ``resize``,
    ``broken`` (``report`` leaves images out that cannot be used, ``refuse`` stops), and what the
    kind asks for: see ``config_data`` and the readers. ``cache_folder``: where caches lie.
    ``split``: of the set; its training images if None. ``classes``: names in the order of the
    labels, from another split. ``rows``: ranges of the official order that are taken, half-open;
    all if None. Raises FeatlearnError if files are missing, nothing can be used, ``rows`` has more
    than the set, or images are broken and ``broken`` is ``refuse``.
    """
    if split is None:
        split = given_splits(settings)["train"]
    source = READERS[settings["kind"]](
        settings if classes is None else {**settings, "classes": list(classes)}, split
    )
    if rows:
        source = _only(source, rows)
    opened = _from_cache(cached(source, {**settings, "split": split, "rows": rows}, cache_folder))
    note_read(source.what, settings["kind"], len(opened), opened.sha256)
    _tell_faults(opened, source.what, settings.get("broken", "report"))
    return opened


def _only(source: Source, rows: Sequence[Sequence[int]]) -> Source:
    """The images of a source in some ranges of its order."""
    told = ", ".join(f"{first}-{end - 1}" for first, end in rows)

    def records() -> Iterator[Record]:
        seen = 0
        for row, record in enumerate(source.records()):
            if row == rows[-1][1]:
                return
            if any(first <= row < end for first, end in rows):
                yield record
            seen = row + 1
        if seen < rows[-1][1]:
            raise FeatlearnError(f"rows: {told}; expected at most the {seen} of {source.what}")

    return replace(source, what=f"{source.what}, rows {told}", records=records)


def open_splits(
    settings: Mapping[str, Any], cache_folder: PathLike, *name: object
) -> dict[str, ImageSet]:
    """Training, validation and test images.

    A role that the set has no split for is carved out of the training images, stratified by class,
    with its share from ``settings["shares"]`` (a tenth and a fifth if absent).

    ``settings``, ``cache_folder``: as for :func:`open_images`; ``splits`` says which split has
    which role, ``{train: train, test: val}``; ``rows`` which of its images, ``{train: [[0,
    20000]]}``; ``together`` what must not be separated. ``*name``: of the random stream, such as
    ``seed, "mrp", "images", replicate``.
    """
    given = given_splits(settings)
    ranges: Mapping[str, Any] = settings.get("rows") or {}
    train = open_images(settings, cache_folder, given["train"], rows=ranges.get("train"))
    opened = {role: open_images(settings, cache_folder, split, train.classes, ranges.get(role))
              for role, split in given.items() if role != "train"}  # fmt: skip
    wanted = settings.get("shares")
    shares = {role: share for role, share in (SHARES if wanted is None else wanted).items()
              if role not in opened and share > 0}  # fmt: skip
    if shares:
        groups = together(train.names, settings)
        rows = split_rows(train.labels, shares, *name, "split", groups=groups)
        opened |= {role: train.subset(rows[role], cache_folder) for role in shares}
        train = train.subset(rows["train"], cache_folder)
    return {role: part for role in ROLES if (part := {"train": train, **opened}.get(role))}


def together(names: pd.Series[str], settings: Mapping[str, Any]) -> Tensor | None:
    """Number of the group of each image, (N,) int64, of a set whose images are not independent.

    Frames of one track are such: their names agree in what the pattern ``together`` captures.
    """
    pattern = settings.get("together") or TOGETHER.get(settings.get("name", ""))
    if not pattern:
        return None
    # a name that does not match is a group of its own
    keys = names.str.extract(f"(?:{pattern})", expand=True)[0].fillna(names)
    return torch.from_numpy(pd.factorize(keys)[0].astype(np.int64))


def in_random_order(
    count: int, groups: Tensor | None, parts: Sequence[int], random: torch.Generator
) -> list[Tensor]:
    """Rows of parts of a set, of these lengths; images of one group stand in one part only.

    ``count``: of images. ``groups`` (count,): see :func:`together`. Raises FeatlearnError if there
    are too few images; the rest of a group that a part ends in is left out.
    """
    own = torch.arange(count) if groups is None else groups
    order = torch.randperm(int(own.max()) + 1, generator=random)
    if groups is not None:
        order = order[groups].argsort(stable=True)
    found, start = [], 0
    for length in parts:
        while 0 < start < count and own[order[start]] == own[order[start - 1]]:
            start += 1
        found.append(order[start : start + length])
        start += length
    if start > count:
        raise FeatlearnError(f"{count} images; expected {start} for parts that share no group")
    return found


def split_rows(
    labels: Tensor, shares: Mapping[str, float], *name: object, groups: Tensor | None = None
) -> dict[str, Tensor]:
    """Rows of the images, dealt out at random, class by class.

    ``labels`` (N,) or (N, classes): only (N,) stratifies. ``shares``: of each part, such as
    ``{"validation": 0.1, "test": 0.2}``; ``train`` is what is left. ``*name``: of the random
    stream. ``groups`` (N,): images of one group stay together, in the class of its first. Returns
    sorted rows of each part: ``floor(N * share)`` images (with groups: of them), of each class a
    number within one or two of its share. Raises FeatlearnError if a part would be empty.
    """
    if groups is not None:
        known, first = np.unique(groups.numpy(), return_index=True)
        dealt = split_rows(labels[torch.from_numpy(first)], shares, *name)
        return {part: torch.isin(groups, torch.from_numpy(known)[own]).nonzero()[:, 0]
                for part, own in dealt.items()}  # fmt: skip
    order = _by_class(labels, *name)
    parts: dict[str, Tensor] = {}
    left = 1.0
    for part, share in shares.items():
        # every (left / share)-th image of the row of classes, as even as it can be
        steps = torch.arange(len(order) + 1, dtype=torch.float64) * (share / left)
        taken = (steps[1:] + 1e-9).floor() > (steps[:-1] + 1e-9).floor()
        parts[part], order = order[taken].sort()[0], order[~taken]
        left -= share
    parts["train"] = order.sort()[0]
    for part, rows in parts.items():
        if not len(rows):
            raise FeatlearnError(
                f"shares: {dict(shares)} of {len(labels)} images leave none for {part}; "
                "expected at least one"
            )
    return parts


def in_turn(labels: Tensor) -> Tensor:
    """Rows with a label, int64 (N,): the first of each class, then the second of each class, ..."""
    rank = torch.zeros_like(labels)
    for label in torch.unique(labels).tolist():
        rows = labels == label
        rank[rows] = torch.arange(int(rows.sum()))
    known = (labels >= 0).nonzero()[:, 0]
    place = rank[known] * (int(labels.max()) + 1) + labels[known]
    return known[place.argsort()]


def fraction_rows(labels: Tensor, fraction: float, *name: object) -> Tensor:
    """Sorted rows of a share of each class, at least one; subsets of one ``name`` are nested."""
    order = _by_class(labels, *name)
    if labels.dim() > 1:
        return order[: max(1, round(fraction * len(order)))].sort()[0]
    kept = [rows[: max(1, round(fraction * len(rows)))] for label in _present(labels)
            if label >= 0 and len(rows := order[labels[order] == label])]  # fmt: skip
    if not kept:
        raise FeatlearnError("fraction: no image has a label; expected some")
    return torch.cat(kept).sort()[0]


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
    return ImageSet(images=images,
                    labels=torch.from_numpy(np.stack(rows["label"].to_list()).astype(np.int64)),
                    classes=tuple(meta["classes"]), names=rows["name"],
                    faults=read_table(folder, "faults"),
                    objects=read_table(folder, "boxes") if meta["boxes"] else None, folder=folder,
                    sha256=meta["sha256"])  # fmt: skip


def _tell_faults(opened: ImageSet, what: str, broken: str) -> None:
    faults = opened.faults
    if faults.empty:
        return
    lines = [f"  {row.file}: {row.reason}" for row in faults.head(FAULTS_SHOWN).itertuples()]
    if len(faults) > FAULTS_SHOWN:
        lines.append(f"  ... and {len(faults) - FAULTS_SHOWN} more")
    text = (f"{what}: {len(faults)} of {len(faults) + len(opened)} images cannot be used:\n"
            + "\n".join(lines))  # fmt: skip
    if broken == "refuse":
        raise FeatlearnError(f"{text}\nbroken: refuse; expected none, or broken: report")
    print(text, file=sys.stderr, flush=True)


class Classified(NamedTuple):
    """Images for training and for testing, and the names of their classes."""

    train: Labelled
    test: Labelled
    classes: tuple[str, ...]


def open_classified(
    data: Mapping[str, Any], cache_folder: PathLike, *name: object, most: int | None = None,
    key: str = "data",
) -> Classified:  # fmt: skip
    """The images of a data set that have a class.

    ``data``, ``cache_folder``: see :func:`open_splits`. ``*name``: of the random stream that splits
    the set and takes the training images. ``most``: about how many training images are taken, the
    same share of each class; all if absent. ``key``: of ``data`` in the config, for messages.
    Raises FeatlearnError if files are missing, or images do not have one class each, of two or
    more.
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
        sha256 = hashlib.sha256(train.images[known].numpy().data).hexdigest()
        note_read(f"{key}, taken to train on", data["kind"], len(known), sha256)
    # all of them stay mapped from the cache
    parts = [one if len(rows) == len(one) else one.subset(rows, cache_folder)
             for one, rows in ((train, known), (test, tested))]  # fmt: skip
    taken, held = (Labelled(one.images, one.labels, together(one.names, data)) for one in parts)
    return Classified(taken, held, tuple(train.classes))


def digests(images: Tensor) -> list[bytes]:
    """A digest of each of ``images`` (N, 3, S, S) uint8."""
    return [hashlib.blake2b(one.numpy().data, digest_size=16).digest() for one in images]


def repeats(parts: Mapping[str, tuple[Tensor, Tensor]]) -> dict[str, tuple[Tensor, Tensor]]:
    """Which pictures stand in another part as well, and which under another class.

    ``parts``: by name images (N, 3, S, S) uint8 and labels (N,) or (N, classes) int64. Returns by
    name bool (N,): the same pixels stand in another part; bool (N,): they have another label
    somewhere.
    """
    known = {name: digests(images) for name, (images, _) in parts.items()}
    places: dict[bytes, set[str]] = defaultdict(set)
    labels: dict[bytes, set[tuple[int, ...]]] = defaultdict(set)
    for name, (_, own) in parts.items():
        for one, label in zip(known[name], own.reshape(len(own), -1).tolist(), strict=True):
            places[one].add(name)
            labels[one].add(tuple(label))
    return {
        name: (torch.tensor([len(places[one]) > 1 for one in own], dtype=torch.bool),
               torch.tensor([len(labels[one]) > 1 for one in own], dtype=torch.bool))
        for name, own in known.items()
    }  # fmt: skip

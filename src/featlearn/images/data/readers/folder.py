"""Image files in folders: a folder a class, ImageNet, PASCAL VOC 2007 and 2012 with boxes."""

from __future__ import annotations

import csv
import io
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from featlearn.core.errors import FeatlearnError
from featlearn.core.run.checks import some
from featlearn.images.config_data import place
from featlearn.images.data.readers.common import (
    NO_LABEL,
    Object,
    Reader,
    Record,
    Source,
    existing,
    read_words,
    shown,
)

EXTENSIONS = (".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp", ".tif", ".tiff", ".ppm", ".pgm")


def read_folder(settings: Mapping[str, Any], split: str) -> Source:
    """Class folders below ``path/split``; below ``path`` itself if ``split`` is ``"all"``.

    Classes are in the order of the folders' names; images may lie deeper. A folder without class
    folders has no labels. Hidden files and other extensions are no images. Links that leave the
    folder are refused unless ``follow_links`` is set.
    """
    root = place(settings)
    folder = root if split == "all" else root / split
    if not folder.is_dir():
        raise FeatlearnError(f"{shown(folder)}: no such folder; expected one folder a class in it")
    return read_class_folders(folder, settings)


def read_class_folders(
    folder: Path, settings: Mapping[str, Any], without: Sequence[str] = ()
) -> Source:
    """The class folders of one split; those called ``without`` are none."""
    wanted = _extensions(settings)
    inside = None if settings.get("follow_links") else _resolved(folder)
    names = [name for name in _entries(folder) if name not in without]
    folders = [name for name in names if (folder / name).is_dir()]
    loose = [
        folder / name for name in names if name not in folders and name.lower().endswith(wanted)
    ]
    for path in [folder / name for name in folders] + loose:
        _check_inside(path, inside)
    if not folders:
        if not loose:
            raise FeatlearnError(
                f"{shown(folder)}: no images ({', '.join(wanted)}); expected one folder a class"
            )
        return Source(shown(folder), (), tuple(loose), lambda: _records(folder, [(loose, -1)]))
    found = [(_images(folder / name, wanted, inside), name) for name in folders]
    given = settings.get("classes")
    classes = list(given) if given else [shown(name) for name in folders]
    for files, name in found:
        if not files:
            raise FeatlearnError(
                f"{shown(folder / name)}: class folder without images; expected files ending in "
                f"{', '.join(wanted)}, or no such folder"
            )
        if shown(name) not in classes:
            raise FeatlearnError(
                f"{shown(folder / name)}: unknown class; expected one of {some(classes)}"
            )
    groups = [(files, classes.index(shown(name))) for files, name in found]

    def records() -> Iterator[Record]:
        for path in loose:
            name = shown(path.relative_to(folder))
            yield Record(name, path, fault="lies outside the class folders")
        yield from _records(folder, groups)

    every = tuple(path for files, _ in groups for path in files) + tuple(loose)
    return Source(shown(folder), tuple(classes), every, records)


def read_imagenet(settings: Mapping[str, Any], split: str) -> Source:
    """ILSVRC2012: ``train/<wnid>/*.JPEG`` and ``val/<wnid>/*.JPEG`` below ``path``.

    A flat ``val``, as the archive has it, is read with ``LOC_val_solution.csv`` beside it.
    """
    root = place(settings)
    advice = (
        "ImageNet (ILSVRC2012) is to be had from image-net.org with an account: unpack it so that "
        "train/ and val/ hold one folder a WordNet id (n01440764, ...)"
    )
    nested = root / "ILSVRC" / "Data" / "CLS-LOC"
    folder = existing([root / split, nested / split], "ImageNet", advice)
    if any((folder / name).is_dir() for name in _entries(folder)):
        return read_class_folders(folder, settings)
    answers = existing(
        [root / "LOC_val_solution.csv", folder.parent / "LOC_val_solution.csv"],
        f"ImageNet: {shown(folder)} has no class folders",
        f"either that list of the classes, or sort the images into class folders; {advice}",
    )
    return _flat_imagenet(folder, answers, settings)


def _flat_imagenet(folder: Path, answers: Path, settings: Mapping[str, Any]) -> Source:
    try:
        rows = list(csv.DictReader(io.StringIO(read_words(answers), newline="")))
    except csv.Error as error:
        raise FeatlearnError(f"{shown(answers)}: cannot be read as CSV: {error}") from error
    if not rows or not {"ImageId", "PredictionString"} <= set(rows[0]):
        raise FeatlearnError(
            f"{shown(answers)}: expected the columns ImageId and PredictionString, and rows"
        )
    # a row that is cut short has no prediction
    wnid = {row["ImageId"]: shown((row["PredictionString"] or "").split(" ")[0]) for row in rows}
    classes = tuple(settings.get("classes") or sorted(set(wnid.values())))
    index = {name: place for place, name in enumerate(classes)}
    wanted = _extensions(settings)
    inside = None if settings.get("follow_links") else _resolved(folder)
    files = _images(folder, wanted, inside)

    def records() -> Iterator[Record]:
        for path in files:
            name = shown(path.relative_to(folder))
            label = index.get(wnid.get(path.stem, ""))
            fault = "" if label is not None else f"no known class in {shown(answers.name)}"
            yield Record(name, path, NO_LABEL if label is None else label, fault=fault)

    return Source(shown(folder), classes, (*files, answers), records)


def _extensions(settings: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(ending.lower() for ending in settings.get("extensions") or EXTENSIONS)


def _records(folder: Path, groups: list[tuple[list[Path], int]]) -> Iterator[Record]:
    for files, label in groups:
        for path in files:
            name = shown(path.relative_to(folder))
            regular = stat.S_ISREG(path.stat().st_mode) if path.exists() else True
            # a named pipe would wait for ever
            yield Record(name, path, label, fault="" if regular else "not a regular file")


def _entries(folder: Path) -> list[str]:
    return sorted(entry.name for entry in os.scandir(folder) if not entry.name.startswith("."))


def _images(folder: Path, wanted: tuple[str, ...], inside: Path | None) -> list[Path]:
    """All images in ``folder`` and below, sorted; links to folders are not entered twice."""
    found = []
    for base, folders, files in os.walk(folder, followlinks=inside is None):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in folders:
            _check_inside(Path(base, name), inside)
        for name in sorted(files):
            if name.startswith(".") or not name.lower().endswith(wanted):
                continue
            _check_inside(Path(base, name), inside)
            found.append(Path(base, name))
    return found


def _resolved(path: Path) -> Path:
    """The path behind all links. ``Path.resolve`` raises on a loop of links; this does not."""
    return Path(os.path.realpath(path))


def _check_inside(path: Path, inside: Path | None) -> None:
    if inside is None or not path.is_symlink() or not path.exists():
        return  # a link to nothing is a picture that is gone
    if not _resolved(path).is_relative_to(inside):
        raise FeatlearnError(
            f"{shown(path)}: a link that leaves the folder, to {shown(_resolved(path))}; "
            "set follow_links: true if that is wanted"
        )


CLASSES = (
    "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow",
    "diningtable", "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train",
    "tvmonitor",
)  # fmt: skip


def voc_reader(*years: int) -> Reader:
    """The reader of some years' sets; ``test`` is that of the first: later ones are not public."""

    def read(settings: Mapping[str, Any], split: str) -> Source:
        wanted = years[:1] if split == "test" else years
        parts = [_read_voc(settings, split, year) for year in wanted]
        return Source(" and ".join(part.what for part in parts), CLASSES,
                      tuple(file for part in parts for file in part.files),
                      lambda: chain.from_iterable(part.records() for part in parts),
                      boxes=True)  # fmt: skip

    return read


def _read_voc(settings: Mapping[str, Any], split: str, year: int) -> Source:
    """``VOCdevkit/VOC<year>`` with ``JPEGImages``, ``Annotations`` and ``ImageSets/Main``.

    Splits are lists in ``ImageSets/Main``: train, val, trainval, and test for 2007. A label has a
    number for each class: 1 (there), 0 (not there), -1 (only difficult objects). Annotations count
    pixels from 1.
    """
    root, year_name = place(settings), f"VOC{year}"
    advice = f"the trainval and test archives of PASCAL VOC {year}, unpacked there"
    places = [root / "VOCdevkit" / year_name, root / year_name, root]
    lists = existing([place / "ImageSets" / "Main" / f"{split}.txt" for place in places],
                     f"voc{year} ({split})", advice)  # fmt: skip
    folder = lists.parents[2]
    for part in ("Annotations", "JPEGImages"):
        existing([folder / part], f"voc{year} ({split})", advice)
    names = read_words(lists).split()
    if any("/" in name or name.startswith(".") for name in names):
        raise FeatlearnError(f"{shown(lists)}: expected names of images, without folders")
    images = [folder / "JPEGImages" / f"{name}.jpg" for name in names]
    notes = [folder / "Annotations" / f"{name}.xml" for name in names]

    def records() -> Iterator[Record]:
        for image, note in zip(images, notes, strict=True):
            yield _record(image, note)

    return Source(
        f"PASCAL VOC {year} ({split})", CLASSES, (lists, *images, *notes), records, boxes=True
    )


def _record(image: Path, note: Path) -> Record:
    name = shown(image.name)
    try:
        objects = read_objects(note.read_bytes())
    except OSError as error:
        return Record(name, image, fault=f"annotation {shown(note.name)}: {error.strerror}")
    except (ElementTree.ParseError, ValueError) as error:
        return Record(name, image, fault=f"annotation {shown(note.name)}: {shown(str(error))}")
    label = [0] * len(CLASSES)
    for found in objects:
        if found.difficult:
            label[found.label] = label[found.label] or -1
        else:
            label[found.label] = 1
    return Record(name, image, tuple(label), tuple(objects))


def read_objects(content: bytes) -> list[Object]:
    """The objects of one annotation. Raises ValueError or ParseError with the reason."""
    parser = ElementTree.XMLParser(target=_NoEntities())
    parser.feed(content)
    found = []
    for node in parser.close().iter("object"):
        name = node.findtext("name", "").strip()
        if name not in CLASSES:
            raise ValueError(f"object {shown(name)!r}; expected one of the 20 classes")
        box = node.find("bndbox")
        if box is None:
            raise ValueError(f"object {name!r} without bndbox")
        left, top, right, bottom = (
            float(box.findtext(key, "missing")) for key in ("xmin", "ymin", "xmax", "ymax")
        )
        if not (left <= right and top <= bottom):
            raise ValueError(
                f"object {name!r}: box {left:g}, {top:g}, {right:g}, {bottom:g}; expected xmin "
                "<= xmax and ymin <= ymax"
            )
        difficult = node.findtext("difficult", "0").strip() == "1"
        # pixels count from 1 and the last one belongs to the box
        found.append(Object(CLASSES.index(name), (left - 1, top - 1, right, bottom), difficult))
    return found


class _NoEntities(ElementTree.TreeBuilder):
    """Refuses a document type: entities could blow up a small file or name other files."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise ValueError(f"declares a document type ({shown(name)}); expected none")

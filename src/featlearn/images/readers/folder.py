"""Images in folders: one folder a class, or one flat folder without labels; and ImageNet."""

from __future__ import annotations

import csv
import io
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from featlearn.core.errors import FeatlearnError
from featlearn.images.readers.common import NO_LABEL, Record, Source, existing, read_words, shown

EXTENSIONS = (".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp", ".tif", ".tiff", ".ppm", ".pgm")


def read_folder(settings: Mapping[str, Any], split: str) -> Source:
    """Class folders below ``path/split``; below ``path`` itself if ``split`` is ``"all"``.

    The classes are the folders, in the order of their names; images may lie deeper. A folder
    without class folders is a set without labels. Hidden files and files with another extension
    are no images. Links that leave the folder are refused unless ``follow_links`` is set.
    """
    root = Path(settings["path"])
    folder = root if split == "all" else root / split
    if not folder.is_dir():
        raise FeatlearnError(f"{shown(folder)}: no such folder; expected one folder a class in it")
    return _source(folder, settings)


def _source(folder: Path, settings: Mapping[str, Any]) -> Source:
    wanted = _extensions(settings)
    inside = None if settings.get("follow_links") else folder.resolve()
    folders = [name for name in _entries(folder) if (folder / name).is_dir()]
    loose = [
        folder / name
        for name in _entries(folder)
        if name not in folders and name.lower().endswith(wanted)
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
                f"{shown(folder / name)}: unknown class; expected one of {_some(classes)}"
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
    root = Path(settings["path"])
    advice = (
        "ImageNet (ILSVRC2012) is to be had from image-net.org with an account: unpack it so that "
        "train/ and val/ hold one folder a WordNet id (n01440764, ...)"
    )
    nested = root / "ILSVRC" / "Data" / "CLS-LOC"
    folder = existing([root / split, nested / split], "ImageNet", advice)
    if any((folder / name).is_dir() for name in _entries(folder)):
        return _source(folder, settings)
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
    inside = None if settings.get("follow_links") else folder.resolve()
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


def _check_inside(path: Path, inside: Path | None) -> None:
    if inside is not None and path.is_symlink() and not path.resolve().is_relative_to(inside):
        raise FeatlearnError(
            f"{shown(path)}: a link that leaves the folder, to {shown(path.resolve())}; "
            "set follow_links: true if that is wanted"
        )


def _some(names: list[str]) -> str:
    return ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")

"""PASCAL VOC 2007 and 2012: which classes an image shows, and boxes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from featlearn.core.errors import FeatlearnError
from featlearn.images.readers.common import (
    Object,
    Reader,
    Record,
    Source,
    existing,
    read_words,
    shown,
)

CLASSES = (
    "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow",
    "diningtable", "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train",
    "tvmonitor",
)  # fmt: skip


def voc_reader(*years: int) -> Reader:
    """The reader of one year's set, or of several together.

    Of several, ``test`` is that of the first: the annotations of later ones are not public.
    """

    def read(settings: Mapping[str, Any], split: str) -> Source:
        wanted = years[:1] if split == "test" else years
        parts = [_read_voc(settings, split, year) for year in wanted]
        return parts[0] if len(parts) == 1 else _joined(parts)

    return read


def _joined(parts: Sequence[Source]) -> Source:
    return Source(
        " and ".join(part.what for part in parts),
        CLASSES,
        tuple(file for part in parts for file in part.files),
        lambda: chain.from_iterable(part.records() for part in parts),
        boxes=True,
    )


def _read_voc(settings: Mapping[str, Any], split: str, year: int) -> Source:
    """``VOCdevkit/VOC<year>`` with ``JPEGImages``, ``Annotations`` and ``ImageSets/Main``.

    Splits are the lists in ``ImageSets/Main``: train, val, trainval, and test for 2007. An image's
    label has a number for each class: 1 (there), 0 (not there), -1 (only difficult objects of it,
    which are not judged). Boxes come from the annotations, whose pixels count from 1.
    """
    root, year_name = Path(settings["path"]), f"VOC{year}"
    advice = f"the trainval and test archives of PASCAL VOC {year}, unpacked there"
    places = [root / "VOCdevkit" / year_name, root / year_name, root]
    lists = existing(
        [place / "ImageSets" / "Main" / f"{split}.txt" for place in places],
        f"voc{year} ({split})",
        advice,
    )
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
    """The objects of one annotation.

    Raises
    ------
    ValueError, xml.etree.ElementTree.ParseError
        With the reason.
    """
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

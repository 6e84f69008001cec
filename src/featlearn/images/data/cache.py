"""Decoded images in a folder that is mapped into memory.

Images are decoded once, resized, and appended to one file of raw pixels. The folder appears whole
or not at all, is named after what it was made from, and is made again if its bytes have changed.

=================  ==========================================================================
file               holds
=================  ==========================================================================
``images.u8``      uint8 pixels, ``(N, 3, size, size)``, nothing else
``rows.parquet``   one row an image: name and label
``boxes.parquet``  one row an object: image, label, difficult, xyxy in pixels of the cache
``faults.parquet`` one row an image that could not be used: file and reason
``meta.json``      sizes, names of the classes, checksums, SHA-256 of all pixels
=================  ==========================================================================
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import uuid
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from featlearn.core.errors import DamagedFileError, FeatlearnError
from featlearn.core.files import PathLike, read_parquet, write_parquet
from featlearn.images.config_data import place
from featlearn.images.data.readers.common import Record, Source, listed, shown

FORMAT = 2
BLOCK = 1 << 26
# sets up to this size are checked whole when they are opened, larger ones at some blocks
CHECKED_WHOLE = 1 << 30
CHECKED_BLOCKS = 16
RECORDS_A_TASK = 64
TABLES = ("rows", "boxes", "faults")
BOX_COLUMNS = ("x0", "y0", "x1", "y1")

Fill = Callable[[Path], Mapping[str, Any]]
Made = tuple[Record, NDArray[np.uint8] | None, list[dict[str, Any]], str]


def cached(source: Source, settings: Mapping[str, Any], folder: PathLike) -> Path:
    """The cache of ``source`` below ``folder``; made first if it is not there or damaged.

    ``settings``: ``size`` (side in pixels), ``resize`` (``crop``, ``pad`` or ``squash``),
    ``max_pixels``, ``workers`` (threads that decode). Several processes may ask at once. Returns
    the folder of this cache, named by a digest of the settings and of the paths, sizes and times of
    change of all files. Raises FeatlearnError if no image can be used.
    """
    target = Path(folder) / _key(source, settings)
    return _ready(target, lambda staged: _decode_into(staged, source, settings))


def cached_rows(whole: Path, rows: NDArray[np.int64], folder: PathLike) -> Path:
    """The cache of some images of the cache ``whole``, in the order of ``rows``."""
    digest = hashlib.sha256(f"{whole.name}\n".encode() + rows.astype("<i8").tobytes())
    target = Path(folder) / f"{digest.hexdigest()[:40]}"
    return _ready(target, lambda staged: _copy_into(staged, whole, rows))


def read_meta(folder: Path) -> dict[str, Any]:
    """What ``meta.json`` of a cache holds; DamagedFileError if a file is missing or has changed."""
    try:
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        pixels = (folder / "images.u8").stat().st_size
        tables = {name: _checksum(folder / f"{name}.parquet") for name in TABLES}
        sound = (meta["format"] == FORMAT and pixels == meta["count"] * 3 * meta["size"] ** 2
                 and tables == meta["tables"]
                 and _blocks_agree(folder / "images.u8", meta["blocks"], pixels))  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedFileError(f"{shown(folder)}: damaged cache: {error}") from error
    if not sound:
        raise DamagedFileError(f"{shown(folder)}: damaged cache: not the bytes that were written")
    return meta


def read_table(folder: Path, name: str) -> pd.DataFrame:
    """One of the tables of a cache: ``rows``, ``boxes`` or ``faults``."""
    return read_parquet(folder / f"{name}.parquet")


def _ready(target: Path, fill: Fill) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    with locked(target.parent / f".{target.name}.lock"):
        try:
            read_meta(target)
            return target
        except DamagedFileError:
            for old in [target, *target.parent.glob(f".{target.name}.*.part")]:
                shutil.rmtree(old, ignore_errors=True)
        staged = target.parent / f".{target.name}.{uuid.uuid4().hex}.part"
        staged.mkdir()
        try:
            meta = dict(fill(staged))
            meta["format"] = FORMAT
            meta["tables"] = {name: _checksum(staged / f"{name}.parquet") for name in TABLES}
            with open(staged / "meta.json", "w", encoding="utf-8") as file:
                json.dump(meta, file, indent=1, sort_keys=True)
            os.replace(staged, target)
        finally:
            shutil.rmtree(staged, ignore_errors=True)
    return target


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Others wait here; the system releases the lock of a process that is killed."""
    with open(path, "w") as file:
        # some network file systems know no locks: then two processes may do the same work twice
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _key(source: Source, settings: Mapping[str, Any]) -> str:
    root = place(settings)
    files = [listed(path, root) for path in source.files]
    # what changes neither pixels nor labels, nor what counts as an image
    others = ("path", "root", "workers", "broken", "shares", "splits", "together")
    told = {k: v for k, v in settings.items() if k not in others and v is not None}
    made_from = [FORMAT, version("pillow"), source.what, source.classes, sorted(told.items())]
    return hashlib.sha256(json.dumps([*made_from, files]).encode()).hexdigest()[:40]


def _checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _blocks_agree(path: Path, blocks: list[int], size: int) -> bool:
    if len(blocks) != -(-size // BLOCK):
        return False
    chosen = set(range(len(blocks)))
    if size > CHECKED_WHOLE:
        chosen = {len(blocks) * part // CHECKED_BLOCKS for part in range(CHECKED_BLOCKS)}
    with open(path, "rb") as file:
        for block in sorted(chosen):
            file.seek(block * BLOCK)
            if zlib.crc32(file.read(BLOCK)) != blocks[block]:
                return False
    return True


def _write_pixels(staged: Path, images: Iterable[NDArray[np.uint8]]) -> dict[str, Any]:
    """Write images; a checksum of each block of the file, and a digest of all."""
    blocks, whole = list[int](), hashlib.sha256()
    with open(staged / "images.u8", "wb+") as file:
        for image in images:
            file.write(image.tobytes())
        file.flush()
        os.fsync(file.fileno())
        file.seek(0)
        while block := file.read(BLOCK):
            blocks.append(zlib.crc32(block))
            whole.update(block)
    return {"blocks": blocks, "sha256": whole.hexdigest()}


def _decode_into(staged: Path, source: Source, settings: Mapping[str, Any]) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    boxes: list[dict[str, Any]] = []
    faults: list[dict[str, Any]] = []

    def usable() -> Iterator[NDArray[np.uint8]]:
        for record, image, objects, fault in _decoded(source, settings):
            if image is None:
                faults.append({"file": record.name, "reason": fault})
                continue
            boxes.extend({"image": len(rows), **found} for found in objects)
            rows.append({"name": record.name, "label": record.label})
            yield image

    made = _write_pixels(staged, usable())
    if not rows:
        first = "".join(f"\n  {fault['file']}: {fault['reason']}" for fault in faults[:10])
        raise FeatlearnError(f"{source.what}: no image can be used ({len(faults)} found){first}")
    _write_tables(staged, rows, boxes, faults)
    return {
        "count": len(rows), "size": settings["size"], "classes": list(source.classes),
        "boxes": source.boxes, "what": source.what, **made,
    }  # fmt: skip


def _write_tables(
    folder: Path, rows: list[dict[str, Any]], boxes: list[dict[str, Any]],
    faults: list[dict[str, Any]],
) -> None:  # fmt: skip
    write_parquet(pd.DataFrame(rows), folder / "rows.parquet")
    columns = {"image": "int64", "label": "int64", "difficult": "bool"}
    columns |= dict.fromkeys(BOX_COLUMNS, "float32")
    write_parquet(
        pd.DataFrame(boxes, columns=list(columns)).astype(columns), folder / "boxes.parquet"
    )
    words = pd.DataFrame(faults, columns=["file", "reason"], dtype="str")
    write_parquet(words, folder / "faults.parquet")


def _decoded(source: Source, settings: Mapping[str, Any]) -> Iterator[Made]:
    """Decode in threads, in order, a few tasks ahead: Pillow leaves Python while it decodes."""

    def task(records: list[Record]) -> list[Made]:
        return [_made(record, settings) for record in records]

    workers = settings.get("workers") or 1
    waiting: deque[Future[list[Made]]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        for records in _groups(source.records(), RECORDS_A_TASK):
            waiting.append(pool.submit(task, records))
            if len(waiting) > 2 * workers:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()


def _groups(records: Iterable[Record], length: int) -> Iterator[list[Record]]:
    records = iter(records)
    while group := list(islice(records, length)):
        yield group


def _made(record: Record, settings: Mapping[str, Any]) -> Made:
    # Pillow, for those who decode alone
    from featlearn.images.data.readers.decode import MAX_PIXELS, BrokenImage, decode

    if record.fault:
        return record, None, [], record.fault
    size = settings["size"]
    resize, limit = settings.get("resize", "crop"), settings.get("max_pixels", MAX_PIXELS)
    try:
        pixels, geometry = decode(record.data, size, resize, limit)
    except BrokenImage as error:
        return record, None, [], str(error)
    objects = []
    for found in record.objects:
        box = geometry.box(found.box, size)
        if box is not None:
            corners = dict(zip(BOX_COLUMNS, box, strict=True))
            objects.append({"label": found.label, "difficult": found.difficult, **corners})
    return record, pixels, objects, ""


def _copy_into(staged: Path, whole: Path, rows: NDArray[np.int64]) -> dict[str, Any]:
    meta = read_meta(whole)
    shape = (meta["count"], 3, meta["size"], meta["size"])
    source = np.memmap(whole / "images.u8", np.uint8, "r", shape=shape)
    write_parquet(
        read_table(whole, "rows").iloc[rows].reset_index(drop=True), staged / "rows.parquet"
    )
    write_parquet(chosen_boxes(read_table(whole, "boxes"), rows), staged / "boxes.parquet")
    write_parquet(read_table(whole, "faults"), staged / "faults.parquet")
    return meta | {"count": len(rows)} | _write_pixels(staged, (source[row] for row in rows))


def chosen_boxes(boxes: pd.DataFrame, rows: NDArray[np.int64]) -> pd.DataFrame:
    """The boxes of the images ``rows``, numbered by their new places."""
    place = pd.Series(np.arange(len(rows)), index=rows)
    kept = boxes[boxes["image"].isin(place.index)]
    kept = kept.assign(image=place.loc[kept["image"]].to_numpy())
    return kept.sort_values("image", kind="stable").reset_index(drop=True)

"""Images in Parquet, a column of bytes and one of labels, as the Hugging Face hub has them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from featlearn.core.errors import FeatlearnError
from featlearn.images.config_data import place
from featlearn.images.data.readers.common import NO_LABEL, Record, Source, shown

LABEL_NAMES = ("label", "labels", "fine_label", "class", "target")
ROWS_AT_ONCE = 256


def read_parquet_images(settings: Mapping[str, Any], split: str) -> Source:
    """The files of one split below ``path``, or the file ``path``.

    ``files`` (globs below ``path``) says which files belong to the set; a split then is those named
    ``<split>.parquet``, ``<split>-...`` or ``<split>/...``; ``"all"`` is every file.
    ``image_column`` and ``label_column`` are found if not given; ``label_column: none`` reads no
    labels. Names of classes come from ``classes``, else from the metadata of the ``datasets``
    library, else they are numbers.
    """
    files = parquet_files(settings, split)
    schema = _schema(files)
    what = f"{shown(place(settings))} ({split})"
    image = _image_column(schema, settings.get("image_column"), what)
    label = _label_column(schema, settings.get("label_column"), image, what)
    classes = _classes(settings, schema, label, files)
    return Source(what, classes, files, lambda: _records(files, image, label, len(classes)))


def parquet_files(settings: Mapping[str, Any], split: str) -> tuple[Path, ...]:
    """The files of a split, sorted by name."""
    root = place(settings)
    if root.is_file():
        return (root,)
    globs = settings.get("files") or "**/*.parquet"
    globs = [globs] if isinstance(globs, str) else globs
    every = sorted({path for pattern in globs for path in root.glob(pattern) if path.is_file()})
    if not every:
        raise FeatlearnError(
            f"{shown(root)}: no file {' or '.join(globs)}; expected Parquet files with a column of "
            "images and one of labels, as on the Hugging Face hub"
        )
    chosen = tuple(path for path in every if split in ("all", path.stem, path.parent.name)
                   or path.name.startswith(f"{split}-"))  # fmt: skip
    if not chosen:
        raise FeatlearnError(
            f"{shown(root)}: no file of the split {split!r}; expected {split}.parquet, "
            f"{split}-*.parquet or {split}/*.parquet beside {shown(every[0].name)}"
        )
    return chosen


def _schema(files: tuple[Path, ...]) -> pa.Schema:
    first: pa.Schema | None = None
    for path in files:
        try:
            schema = pq.read_schema(path)
        except (pa.ArrowException, OSError) as error:
            raise FeatlearnError(
                f"{shown(path)}: cannot be read as Parquet: {shown(str(error))}"
            ) from error
        if first is not None and schema.types != first.types:
            raise FeatlearnError(
                f"{shown(path)}: other columns than in {shown(files[0].name)}: {_columns(schema)}; "
                f"expected {_columns(first)}"
            )
        first = first or schema
    assert first is not None
    return first


def _columns(schema: pa.Schema) -> str:
    return ", ".join(f"{shown(field.name)} ({field.type})" for field in schema)


def _holds_images(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return any(kind.field(i).name == "bytes" and _is_binary(kind.field(i).type)
                   for i in range(kind.num_fields))  # fmt: skip
    return _is_binary(kind)


def _is_binary(kind: pa.DataType) -> bool:
    return pa.types.is_binary(kind) or pa.types.is_large_binary(kind)


def _image_column(schema: pa.Schema, given: str | None, what: str) -> str:
    fitting = [field.name for field in schema if _holds_images(field.type)]
    if given is not None and given not in fitting:
        raise FeatlearnError(
            f"{what}: image_column: {given!r}; expected a column of encoded images: "
            f"{', '.join(fitting) or f'none of {_columns(schema)} is one'}"
        )
    if given is None and len(fitting) != 1:
        raise FeatlearnError(
            f"{what}: {len(fitting)} columns of encoded images in {_columns(schema)}; "
            "expected one, or image_column to name it"
        )
    return given or fitting[0]


def _label_column(schema: pa.Schema, given: str | None, image: str, what: str) -> str | None:
    if given == "none":
        return None
    whole = [field.name for field in schema if pa.types.is_integer(field.type)]
    if given is not None:
        if given not in whole:
            kind = f"of type {schema.field(given).type}" if given in schema.names else "not there"
            raise FeatlearnError(
                f"{what}: label_column: {given!r} is {kind}; expected a column of integers: "
                f"{', '.join(whole) or 'there is none'}"
            )
        return given
    named = [name for name in LABEL_NAMES if name in whole]
    if not named and len(whole) == 1:
        named = whole
    if not named:
        raise FeatlearnError(
            f"{what}: no column of integer labels found in {_columns(schema)}; expected one named "
            f"{', '.join(LABEL_NAMES)}, or label_column to name it ('none' for no labels)"
        )
    return named[0]


def _classes(
    settings: Mapping[str, Any], schema: pa.Schema, label: str | None, files: tuple[Path, ...]
) -> tuple[str, ...]:
    if label is None:
        return ()
    if settings.get("classes"):
        return tuple(settings["classes"])
    names = _hub_names(schema, label)
    if names:
        return names
    top = pc.max(pq.read_table([*files], columns=[label], partitioning=None)[label]).as_py()
    highest = NO_LABEL if top is None else top
    if highest >= 100_000:
        raise FeatlearnError(
            f"{shown(files[0])}: label_column: {label!r} holds {highest}; expected indices of "
            "classes"
        )
    return tuple(str(number) for number in range(highest + 1))


def _hub_names(schema: pa.Schema, label: str) -> tuple[str, ...]:
    """Class names from the metadata of the ``datasets`` library; empty if there are none."""
    try:
        features = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
        names = features[label]["names"]
    except (KeyError, TypeError, ValueError):
        return ()
    return tuple(shown(str(name)) for name in names)


def _records(
    files: tuple[Path, ...], image: str, label: str | None, classes: int
) -> Iterator[Record]:
    columns = [image] if label is None else [image, label]
    for path in files:
        try:
            with pq.ParquetFile(path) as file:
                row = 0
                for batch in file.iter_batches(ROWS_AT_ONCE, columns=columns):
                    images = batch.column(image).to_pylist()
                    labels = [NO_LABEL] * len(images)
                    if label is not None:
                        labels = batch.column(label).to_pylist()
                    for content, index in zip(images, labels, strict=True):
                        yield _record(path, row, content, index, classes)
                        row += 1
        except (pa.ArrowException, OSError) as error:
            raise FeatlearnError(
                f"{shown(path)}: cannot be read as Parquet: {shown(str(error))}"
            ) from error


def _record(path: Path, row: int, content: Any, label: int | None, classes: int) -> Record:
    name, data = f"{shown(path.name)} row {row}", content
    if isinstance(content, dict):
        data = content["bytes"]
        if content.get("path"):
            name += f" ({shown(content['path'])})"
    if data is None:
        return Record(name, b"", fault="no bytes in this row")
    if classes and (label is None or not 0 <= label < classes):
        return Record(name, data, fault=f"label {label}; expected 0 to {classes - 1}")
    return Record(name, data, NO_LABEL if label is None else label)

"""Readers of image data sets, by kind. Each reads files on disk; none downloads."""

from __future__ import annotations

from featlearn.images.readers.common import Reader
from featlearn.images.readers.folder import read_folder, read_imagenet
from featlearn.images.readers.parquet import read_parquet_images

READERS: dict[str, Reader] = {
    "folder": read_folder,
    "imagenet": read_imagenet,
    "parquet": read_parquet_images,
}

"""Readers of image data sets, by kind. Each reads files on disk; none downloads."""

from __future__ import annotations

from featlearn.images.data.readers.by_name import read_digits, read_torchvision
from featlearn.images.data.readers.common import Reader
from featlearn.images.data.readers.folder import read_folder, read_imagenet, voc_reader
from featlearn.images.data.readers.parquet import read_parquet_images

READERS: dict[str, Reader] = {
    "digits": read_digits, "folder": read_folder, "imagenet": read_imagenet,
    "parquet": read_parquet_images, "torchvision": read_torchvision,
    "voc0712": voc_reader(2007, 2012), "voc2007": voc_reader(2007), "voc2012": voc_reader(2012),
}  # fmt: skip

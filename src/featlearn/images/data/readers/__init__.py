"""Readers of image data sets, by kind. Each reads files on disk; none downloads."""

from __future__ import annotations

from featlearn.images.data.readers.binary import (
    read_cifar10,
    read_cifar100,
    read_digits,
    read_mnist,
    read_stl10,
    read_svhn,
)
from featlearn.images.data.readers.common import Reader
from featlearn.images.data.readers.folder import read_folder, read_imagenet, voc_reader
from featlearn.images.data.readers.parquet import read_parquet_images

READERS: dict[str, Reader] = {
    "cifar10": read_cifar10,
    "cifar100": read_cifar100,
    "digits": read_digits,
    "folder": read_folder,
    "imagenet": read_imagenet,
    "mnist": read_mnist,
    "parquet": read_parquet_images,
    "stl10": read_stl10,
    "svhn": read_svhn,
    "voc0712": voc_reader(2007, 2012),
    "voc2007": voc_reader(2007),
    "voc2012": voc_reader(2012),
}

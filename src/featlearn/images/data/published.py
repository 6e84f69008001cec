"""Data sets by their names in torchvision: files, licences, addresses. Imports no torch."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Archive(NamedTuple):
    """A file to download: its address, its MD5, and the folder that it is unpacked in."""

    address: str
    md5: str
    into: str = "."


@dataclass(frozen=True)
class Published:
    """A data set.

    ``licence``: as its makers state it. ``megabytes``: to download. ``splits``: by split its files,
    relative to the root as torchvision lays it out. ``archives``: where it comes from; none if
    ``page`` must be visited. ``owns``: what appears in the root. ``classes``: in the order of the
    labels. ``together``: pattern of names; images that agree in its group are not separated.
    """

    licence: str
    megabytes: int
    splits: Mapping[str, tuple[str, ...]]
    archives: tuple[Archive, ...] = ()
    owns: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    page: str = ""
    together: str = field(default="", repr=False)


def _idx(folder: str, parts: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    ends = ("images-idx3-ubyte", "labels-idx1-ubyte")
    return {split: tuple(f"{folder}/raw/{start}-{end}" for end in ends)
            for split, start in parts.items()}  # fmt: skip


def _mnist(
    name: str, licence: str, megabytes: int, base: str, md5: tuple[str, ...],
    classes: tuple[str, ...],
) -> Published:  # fmt: skip
    splits = _idx(name, {"train": "train", "test": "t10k"})
    files = [file.rpartition("/")[2] for split in splits.values() for file in split]
    archives = tuple(Archive(f"{base}{file}.gz", one, f"{name}/raw")
                     for file, one in zip(files, md5, strict=True))  # fmt: skip
    return Published(licence, megabytes, splits, archives, (name,), classes)


def _emnist(part: str, classes: list[str]) -> Published:
    parts = {split: f"emnist-{part}-{split}" for split in ("train", "test")}
    archive = Archive(
        "https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip",
        "58c8d27c78d21e728a6bc7b3cc06412e",
        "EMNIST/raw",
    )
    return Published(
        "not stated (NIST)", 562, _idx("EMNIST", parts), (archive,), ("EMNIST",), tuple(classes)
    )


def _cifar(name: str, md5: str, folder: str, train: tuple[str, ...], test: str) -> Published:
    archive = Archive(f"https://www.cs.toronto.edu/~kriz/{name}-binary.tar.gz", md5)
    files = {"train": tuple(f"{folder}/{file}" for file in train), "test": (f"{folder}/{test}",)}
    hundred = tuple(str(number) for number in range(100))
    classes = OBJECTS if name == "cifar-10" else hundred
    return Published("not stated", 170, files, (archive,), (folder,), classes)


def _voc(year: int, megabytes: int, *archives: Archive) -> Published:
    folder = f"VOCdevkit/VOC{year}"
    return Published(
        "Flickr's terms of use", megabytes, {"trainval": (folder,)}, archives, (folder,)
    )


OBJECTS = (
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck",
)  # fmt: skip
DIGITS = tuple(string.digits)
# letters whose capital looks the same
_MERGED = set("cijklmopsuvwxyz")
_LETTERS = sorted({*string.digits, *string.ascii_letters} - _MERGED)
_VOC = "https://thor.robots.ox.ac.uk/pascal/VOC"
_GTSRB = "https://sid.erda.dk/public/archives/daaeac0d7ce1152aea9b61d9f1e19370"
_SVHN = {"train": "e26dedcc434d2e4c54c9b2d4a06d8373", "test": "eb5a983be6a315427106f1b164d9cef3"}

#: By name. EMNIST is its balanced part, and has further ones.
PUBLISHED: dict[str, Published] = {
    "MNIST": _mnist(
        "MNIST", "CC BY-SA 3.0", 12, "https://ossci-datasets.s3.amazonaws.com/mnist/",
        ("f68b3c2dcbeaaa9fbdd348bbdeb94873", "d53e105ee54ea40749a09fcbcd1e9432",
         "9fb629c4189551a2d022fa330f9573f3", "ec29112dd5afa0611ce80d1b7f02629c"), DIGITS),
    "FashionMNIST": _mnist(
        "FashionMNIST", "MIT", 31,
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
        ("8d4fb7e6c68d591d4c3dfef9ec88bf0d", "25c81989df183df01b3e8a0aad5dffbe",
         "bef4ecab320f06d8554ea6380940ec79", "bb300cfdad3c16e7a12a480ee83cd310"),
        ("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag",
         "Ankle boot")),
    "KMNIST": _mnist(
        "KMNIST", "CC BY-SA 4.0", 21, "http://codh.rois.ac.jp/kmnist/dataset/kmnist/",
        ("bdb82020997e1d708af4cf47b453dcf7", "e144d726b3acfaa3e44228e80efcd344",
         "5c965bf0a639b31b8f53240b1b52f4d7", "7320c461ea6c1c855c0b718fb2a4b134"),
        ("o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo")),
    "EMNIST": _emnist("balanced", _LETTERS),
    "EMNIST-letters": _emnist("letters", ["N/A", *string.ascii_lowercase]),
    "EMNIST-digits": _emnist("digits", [*DIGITS]),
    "EMNIST-mnist": _emnist("mnist", [*DIGITS]),
    "EMNIST-bymerge": _emnist("bymerge", _LETTERS),
    "EMNIST-byclass": _emnist("byclass", sorted(string.digits + string.ascii_letters)),
    "CIFAR10": _cifar("cifar-10", "c32a1d4ab5d03f1284b67883e8d87530", "cifar-10-batches-bin",
                      tuple(f"data_batch_{number}.bin" for number in range(1, 6)),
                      "test_batch.bin"),
    "CIFAR100": _cifar("cifar-100", "03b5dce01913d631647c71ecec9e9cb8", "cifar-100-binary",
                       ("train.bin",), "test.bin"),
    "SVHN": Published(
        "for non-commercial use", 246, {part: (f"{part}_32x32.mat",) for part in _SVHN},
        tuple(Archive(f"http://ufldl.stanford.edu/housenumbers/{part}_32x32.mat", md5)
              for part, md5 in _SVHN.items()),
        ("train_32x32.mat", "test_32x32.mat"), DIGITS),
    "STL10": Published(
        "not stated (images of ImageNet)", 2640,
        {"train": ("stl10_binary/train_X.bin", "stl10_binary/train_y.bin"),
         "test": ("stl10_binary/test_X.bin", "stl10_binary/test_y.bin"),
         "unlabeled": ("stl10_binary/unlabeled_X.bin",)},
        (Archive("http://ai.stanford.edu/~acoates/stl10/stl10_binary.tar.gz",
                 "91f7769df0f17e558f3565bffb0c7dfb"),), ("stl10_binary",),
        ("airplane", "bird", "car", "cat", "deer", "dog", "horse", "monkey", "ship", "truck")),
    "GTSRB": Published(
        "not stated", 277,
        {"train": ("gtsrb/GTSRB/Training",),
         "test": ("gtsrb/GT-final_test.csv", "gtsrb/GTSRB/Final_Test/Images")},
        (Archive(f"{_GTSRB}/GTSRB-Training_fixed.zip", "513f3c79a4c5141765e10e952eaa2478", "gtsrb"),
         Archive(f"{_GTSRB}/GTSRB_Final_Test_Images.zip", "c7e4e6327067d32654124b0fe9e82185",
                 "gtsrb"),
         Archive(f"{_GTSRB}/GTSRB_Final_Test_GT.zip", "fe31e9c9270bbcd7b84b7f21a9d9d9e5", "gtsrb")),
        ("gtsrb",), tuple(f"{number:05}" for number in range(43)),
        # class and track / frame
        together=r"(\d{5}[/\\]\d{5})_\d{5}\.ppm"),
    "FER2013": Published(
        "not stated", 301, dict.fromkeys(("train", "test"), ("fer2013/fer2013.csv",)),
        classes=("angry", "disgust", "fear", "happy", "sad", "surprise", "neutral"),
        page="https://www.kaggle.com/c/challenges-in-representation-learning-facial-expression-"
        "recognition-challenge"),
    "Caltech101": Published(
        "CC BY 4.0", 137, {"all": ("caltech101/101_ObjectCategories",)},
        (Archive("https://data.caltech.edu/records/mzrjq-6wc02/files/caltech-101.zip",
                 "3138e1922a9193bfa496528edbbc45d0", "caltech101"),), ("caltech101",)),
    "VOC2007": _voc(
        2007, 911,
        Archive(f"{_VOC}/voc2007/VOCtrainval_06-Nov-2007.tar",
                "c52e279531787c972589f7e41ab4ae64"),
        Archive(f"{_VOC}/voc2007/VOCtest_06-Nov-2007.tar", "b6e924de25625d8de591ea690078ad9f")),
    "VOC2012": _voc(
        2012, 2000,
        Archive(f"{_VOC}/voc2012/VOCtrainval_11-May-2012.tar",
                "6cd6e144f989b92b3379bac3b3de84fd")),
}  # fmt: skip

"""Readers of images: tiny real files of every kind, and what is wrong with them, by name."""

import hashlib
import io
import json
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from PIL import Image
from scipy.io import savemat
from torchvision import datasets

from featlearn.core.errors import FeatlearnError
from featlearn.core.run import provenance
from featlearn.images.config_data import data_faults, given_splits
from featlearn.images.data.cache import BOX_COLUMNS
from featlearn.images.data.datasets import (
    in_random_order,
    open_classified,
    open_images,
    open_splits,
)
from featlearn.images.data.on_disk import listing_digest, sources
from featlearn.images.data.readers.decode import BrokenImage, decode
from featlearn.images.data.readers.folder import read_objects
from featlearn.images.detection import targets_of

RED, GREEN, BLUE = (220, 30, 40), (20, 200, 60), (30, 60, 210)


def saved(image: Image.Image, kind="PNG", **options) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def encoded(mode="RGB", colour=RED, size=(12, 12), kind="PNG", **options) -> bytes:
    return saved(Image.new(mode, size, colour), kind, **options)


def put(path: Path, content: bytes | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encoded() if content is None else content)
    return path


def pixels(content: bytes, size=8, resize="crop") -> np.ndarray:
    return decode(content, size, resize, 10**6)[0]


def class_folders(root: Path, **counts: int) -> Path:
    for name, count in counts.items():
        for number in range(count):
            put(root / name / f"{number}.png", encoded(colour=(number * 7 % 256, 80, 90)))
    return root


def opened(tmp_path: Path, root: Path, **settings):
    return open_images(
        {"kind": "folder", "path": str(root), "size": 8, **settings}, tmp_path / "cache"
    )


@pytest.mark.parametrize(("content", "expected"), [
    (encoded(), RED),
    (encoded("L", 77), (77, 77, 77)),
    (encoded("I;16", 257 * 100), (100, 100, 100)),
    (encoded("RGBA", (*BLUE, 0)), (255, 255, 255)),
    (encoded("LA", (10, 0)), (255, 255, 255)),
    (encoded("P", 0, transparency=0), (255, 255, 255)),
    (encoded(kind="GIF"), RED),
    (encoded(kind="WEBP", lossless=True), RED),
    (encoded("CMYK", (0, 200, 200, 20), kind="JPEG", quality=95), (235, 51, 51)),
])  # fmt: skip
def test_every_kind_of_pixel_becomes_rgb(content, expected):
    found = pixels(content)[:, 4, 4].tolist()
    assert found == pytest.approx(list(expected), abs=6 if b"JFIF" in content else 1)


def test_the_exif_orientation_is_followed():
    image = Image.new("RGB", (16, 16), BLUE)
    image.paste(RED, (0, 0, 16, 8))  # red above
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by a quarter, clockwise: red goes to the right
    turned = pixels(saved(image, exif=exif), 16)
    assert turned[:, 8, 12].tolist() == list(RED)
    assert turned[:, 8, 3].tolist() == list(BLUE)


def test_resizing_crops_the_middle_or_pads_or_squashes():
    image = Image.new("RGB", (32, 16), GREEN)
    image.paste(RED, (0, 0, 8, 16))
    content = saved(image)
    assert (pixels(content)[0, :, 2:] == GREEN[0]).all()  # the red quarter on the left is cut off
    padded = pixels(content, 8, "pad")
    assert (padded[:, :2] == 0).all()
    assert (padded[:, 6:] == 0).all()
    assert padded[:, 4, 0].tolist() == pytest.approx(list(RED), abs=12)
    squashed = pixels(content, 8, "squash")
    assert squashed[:, 4, 0].tolist() == pytest.approx(list(RED), abs=12)
    assert squashed[:, 0, 7].tolist() == list(GREEN)


def test_boxes_move_with_the_pixels():
    content = encoded(size=(32, 16))
    box = (8.0, 4.0, 24.0, 12.0)
    expectations = {"crop": [0, 2, 8, 6], "pad": [2, 3, 6, 5], "squash": [2, 2, 6, 6]}
    for resize, expected in expectations.items():
        geometry = decode(content, 8, resize, 10**6)[1]
        assert geometry.box(box, 8).tolist() == pytest.approx(expected)
    assert decode(content, 8, "crop", 10**6)[1].box((0.0, 0.0, 8.0, 16.0), 8) is None
    # of a JPEG that is decoded smaller they are in pixels of the file
    geometry = decode(encoded(size=(640, 320), kind="JPEG"), 16, "squash", 10**6)[1]
    assert geometry.box((320.0, 0.0, 640.0, 160.0), 16).tolist() == pytest.approx([8, 0, 16, 8])


@pytest.mark.parametrize(("content", "reason"), [
    (b"", "empty"),
    (encoded(kind="JPEG", size=(64, 64), quality=95)[:400], "cannot be decoded"),
    (encoded(size=(64, 64))[:60], "cannot be decoded"),
    (encoded("F", 0.5, kind="TIFF"), "floating-point"),
    (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "known format"),
])  # fmt: skip
def test_broken_images_are_refused_with_the_reason(content, reason):
    with pytest.raises(BrokenImage, match=reason) as caught:
        pixels(content)
    assert "0x" not in str(caught.value), "an address in memory is no reason"


@pytest.mark.parametrize("error", [MemoryError(), OSError(5, "Input/output error")])
def test_a_fault_of_the_machine_drops_no_picture(tmp_path, monkeypatch, error):
    root = class_folders(tmp_path / "set", a=2)

    def failing(*_, **__):
        raise error

    with monkeypatch.context() as short:
        short.setattr("PIL.Image.Image.resize", failing)
        with pytest.raises(type(error)):
            opened(tmp_path, root)
    assert len(opened(tmp_path, root)) == 2  # nothing of it was cached


def test_an_image_of_too_many_pixels_is_not_decoded():
    def chunk(kind: bytes, content: bytes) -> bytes:
        import zlib

        body = kind + content
        return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))

    for side in (2000, 60_000):
        header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
        parts = {b"IHDR": header, b"IDAT": b"", b"IEND": b""}
        bomb = b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts.items())
        with pytest.raises(BrokenImage, match="max_pixels"):
            decode(bomb, 8, "crop", 10**6)


def test_a_folder_of_classes(tmp_path):
    root = class_folders(tmp_path / "set", zebra=2, ant=3)
    put(root / "ant" / "deeper" / "x.JPG", encoded(kind="JPEG"))
    put(root / "ant" / ".hidden.png", b"")
    put(root / ".cache" / "x.png", b"")
    put(root / "zebra" / "notes.txt", b"no image")
    put(root / "stray.png")
    images = opened(tmp_path, root)
    assert images.classes == ("ant", "zebra")
    assert images.labels.tolist() == [0, 0, 0, 0, 1, 1]
    assert images.names.tolist()[3] == "ant/deeper/x.JPG"
    assert images.images.shape == (6, 3, 8, 8)
    assert images.images.dtype == torch.uint8
    assert images.images[1, :, 0, 0].tolist() == [7, 80, 90]
    assert images.faults["file"].tolist() == ["stray.png"]  # outside the class folders
    (root / "empty").mkdir()
    with pytest.raises(FeatlearnError, match="set/empty: class folder without images"):
        opened(tmp_path, root)
    flat = opened(tmp_path, root / "zebra")
    assert (flat.classes, flat.labels.tolist()) == ((), [-1, -1])


def test_a_broken_image_is_told_by_name_and_counted(tmp_path, capsys):
    root = class_folders(tmp_path / "set", a=3)
    put(root / "a" / "bad.jpg", encoded(kind="JPEG", size=(64, 64))[:300])
    put(root / "a" / "none.png", b"")
    images = opened(tmp_path, root)
    assert len(images) == 3
    assert images.faults["file"].tolist() == ["a/bad.jpg", "a/none.png"]
    assert images.faults["reason"][1] == "the file is empty"
    told = capsys.readouterr().err
    assert "2 of 5 images" in told
    assert "a/bad.jpg: cannot be decoded" in told
    again = opened(tmp_path, root)  # now from the cache
    assert again.faults.equals(images.faults)
    assert "a/bad.jpg" in capsys.readouterr().err
    with pytest.raises(FeatlearnError, match=r"a/none\.png") as caught:
        opened(tmp_path, root, broken="refuse")
    assert "2 of 5" in str(caught.value)


def test_links_that_leave_the_folder_are_refused(tmp_path):
    secret = put(tmp_path / "elsewhere" / "secret.png")
    root = class_folders(tmp_path / "set", a=1)
    (root / "a" / "inside.png").symlink_to(root / "a" / "0.png")
    assert len(opened(tmp_path, root)) == 2
    for link, target in (
        (root / "a" / "out.png", secret),
        (root / "b", secret.parent),
        (root / "a" / "below", secret.parent),
    ):
        link.symlink_to(target)
        with pytest.raises(FeatlearnError, match=f"{link.name}: a link that leaves") as caught:
            opened(tmp_path, root)
        assert "follow_links" in str(caught.value)
        if link.name != "b":
            assert len(opened(tmp_path, root, follow_links=True)) == 3
        link.unlink()
    (root / "a" / "gone.png").symlink_to(tmp_path / "nowhere.png")
    assert opened(tmp_path, root).faults["file"].tolist() == ["a/gone.png"]


def test_imagenet_with_class_folders_or_with_the_list_of_answers(tmp_path):
    root = tmp_path / "imagenet"
    for wnid in ("n02", "n01"):
        put(root / "train" / wnid / "x.JPEG", encoded(kind="JPEG"))
    for name in ("b", "a", "c"):
        put(root / "val" / f"{name}.JPEG", encoded(kind="JPEG"))
    settings = {"kind": "imagenet", "path": str(root), "size": 8}
    with pytest.raises(FeatlearnError, match=r"LOC_val_solution\.csv"):
        open_splits(settings, tmp_path / "cache", 0)
    answers = "ImageId,PredictionString\nb,n02 1 2 3 4\na,n01 1 2 3 4 n01 5 6 7 8\n"
    (root / "LOC_val_solution.csv").write_text(answers)
    splits = open_splits({**settings, "shares": {}}, tmp_path / "cache", 0)
    assert splits["train"].classes == splits["test"].classes == ("n01", "n02")
    assert splits["test"].labels.tolist() == [0, 1]
    assert splits["test"].faults["file"].tolist() == ["c.JPEG"]


def parquet(path: Path, contents, labels, image="image", label="label", struct_=True, names=None):
    if struct_:
        kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
        contents = [None if c is None else {"bytes": c, "path": "p.png"} for c in contents]
    else:
        kind = pa.binary()
    columns = {image: pa.array(contents, kind)}
    if label is not None:
        columns[label] = labels if isinstance(labels, pa.Array) else pa.array(labels, pa.int64())
    table = pa.table(columns)
    if names is not None:
        features = {"features": {label: {"names": names, "_type": "ClassLabel"}}}
        table = table.replace_schema_metadata({"huggingface": json.dumps({"info": features})})
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)
    return path


def from_parquet(tmp_path, path, **settings):
    return open_images(
        {"kind": "parquet", "path": str(path), "size": 8, **settings}, tmp_path / "cache"
    )


@pytest.mark.parametrize("struct_", [True, False])
def test_parquet_of_the_hub(tmp_path, struct_):
    contents = [encoded(colour=colour) for colour in (RED, GREEN, BLUE)]
    path = parquet(tmp_path / "x.parquet", contents, [1, 0, 1], struct_=struct_, names=["n", "y"])
    images = from_parquet(tmp_path, path)
    assert images.classes == ("n", "y")
    assert images.labels.tolist() == [1, 0, 1]
    assert images.images[:, :, 0, 0].tolist() == [list(RED), list(GREEN), list(BLUE)]


def test_wrong_labels_and_missing_bytes_are_faults(tmp_path):
    contents = [encoded(), encoded(), None, encoded(), encoded()]
    path = parquet(tmp_path / "x.parquet", contents, [0, 5, 1, None, -1], names=["n", "y"])
    images = from_parquet(tmp_path, path)
    assert images.labels.tolist() == [0]
    told = [f"label {label}; expected 0 to 1" for label in (5, None, -1)]
    assert images.faults["reason"].tolist() == [told[0], "no bytes in this row", *told[1:]]
    assert images.faults["file"][0] == "x.parquet row 1 (p.png)"


def test_columns_are_found_or_asked_for(tmp_path):
    contents = [encoded(), encoded()]
    path = parquet(tmp_path / "a.parquet", contents, [0, 1], "img", "fine_label")
    assert from_parquet(tmp_path, path).labels.tolist() == [0, 1]
    text = parquet(tmp_path / "b.parquet", contents, pa.array(["cat", "dog"]))
    with pytest.raises(FeatlearnError, match="label_column: 'label' is of type string"):
        from_parquet(tmp_path, text, label_column="label")
    assert from_parquet(tmp_path, text, label_column="none").labels.tolist() == [-1, -1]


def test_splits_of_parquet_files_by_their_names(tmp_path):
    root = tmp_path / "hub"
    parquet(root / "data" / "train-00000-of-00002.parquet", [encoded()] * 2, [0, 1])
    parquet(root / "data" / "train-00001-of-00002.parquet", [encoded()] * 2, [2, 0])
    parquet(root / "data" / "test-00000-of-00001.parquet", [encoded()] * 2, [1, 7])
    settings = {"kind": "parquet", "path": str(root), "size": 8, "shares": {}}
    assert given_splits(settings) == {"train": "train", "test": "test"}
    splits = open_splits(settings, tmp_path / "cache", 0)
    assert splits["train"].labels.tolist() == [0, 1, 2, 0]
    assert splits["test"].labels.tolist() == [1], "classes are those of the training images"
    assert splits["test"].faults["reason"].tolist() == ["label 7; expected 0 to 2"]


def random_levels(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 256, shape, np.uint8)


def named(tmp_path, name, size, **more):
    return {"kind": "torchvision", "name": name, "root": str(tmp_path), "size": size, **more}


def test_cifar10_binary(tmp_path):
    images = random_levels(20, 3, 32, 32)
    labels = np.arange(20, dtype=np.uint8) % 10
    labels[19] = 11
    rows = np.concatenate([labels[:, None], images.reshape(20, -1)], 1)
    folder = tmp_path / "cifar-10-batches-bin"
    folder.mkdir()
    for number in range(5):
        rows[4 * number : 4 * number + 4].tofile(folder / f"data_batch_{number + 1}.bin")
    rows[:3].tofile(folder / "test_batch.bin")
    train = open_images(named(tmp_path, "CIFAR10", 32), tmp_path / "cache")
    assert (train.images.numpy() == images[:19]).all()
    assert train.labels.tolist() == labels[:19].tolist()
    assert train.classes[9] == "truck"
    told = ["CIFAR10 (train) image 19", "label 11; expected 0 to 9"]
    assert train.faults.iloc[0].tolist() == told
    test = open_images(named(tmp_path, "CIFAR10", 32), tmp_path / "cache", "test")
    assert (test.images.numpy() == images[:3]).all()


def test_code_in_data_is_not_opened(tmp_path):
    put(tmp_path / "cifar-10-batches-py" / "data_batch_1", b"cos\nsystem\n")
    with pytest.raises(FeatlearnError, match="pickles are never read") as caught:
        open_images(named(tmp_path, "CIFAR10", 32), tmp_path / "cache")
    assert "cifar-10-batches-bin/data_batch_1.bin" in str(caught.value)
    bomb = b'<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;&x;">]><annotation>&y;</annotation>'
    for content in (bomb, bomb.decode().encode("utf-16")):
        with pytest.raises(ValueError, match="document type"):
            read_objects(content)


def test_cifar100_has_fine_labels(tmp_path):
    images = random_levels(4, 3072)
    labels = np.array([[1, 50], [2, 99], [3, 0], [4, 7]], np.uint8)
    folder = tmp_path / "cifar-100-binary"
    folder.mkdir()
    np.concatenate([labels, images], 1).tofile(folder / "train.bin")
    (folder / "fine_label_names.txt").write_text("\n".join(f"c{i}" for i in range(100)))
    train = open_images(named(tmp_path, "CIFAR100", 32), tmp_path / "cache")
    assert train.labels.tolist() == [50, 99, 0, 7]
    assert train.classes[99] == "c99"


def test_stl10_is_stored_by_columns(tmp_path, monkeypatch):
    images = random_levels(3, 3, 96, 96)
    folder = tmp_path / "stl10_binary"
    folder.mkdir()
    for part in ("train", "test", "unlabeled"):
        images.transpose(0, 1, 3, 2).tofile(folder / f"{part}_X.bin")
    np.array([1, 10, 3], np.uint8).tofile(folder / "train_y.bin")
    np.array([1, 10], np.uint8).tofile(folder / "test_y.bin")
    settings = named(tmp_path, "STL10", 96)
    with pytest.raises(FeatlearnError, match=r"cannot be read as STL10 .train.*corrupted"):
        open_images(settings, tmp_path / "cache")
    for files in ("train_list", "test_list"):
        own = [[name, None] for name, _ in getattr(datasets.STL10, files)]
        monkeypatch.setattr(datasets.STL10, files, own)
    train = open_images(settings, tmp_path / "cache")
    assert (train.images.numpy() == images).all()
    assert train.labels.tolist() == [0, 9, 2]
    assert open_images(settings, tmp_path / "cache", "unlabeled").labels.tolist() == [-1] * 3
    with pytest.raises(FeatlearnError, match=r"test_y\.bin: 2 labels; expected 3"):
        open_images(settings, tmp_path / "cache", "test")


def test_svhn_calls_its_zero_ten(tmp_path, monkeypatch):
    images = random_levels(4, 32, 32, 3)
    savemat(
        tmp_path / "train_32x32.mat",
        {"X": images.transpose(1, 2, 3, 0), "y": np.array([[10], [1], [9], [3]], np.uint8)},
    )
    monkeypatch.setitem(datasets.SVHN.split_list, "train", ["", "train_32x32.mat", None])
    train = open_images(named(tmp_path, "SVHN", 32), tmp_path / "cache")
    assert (train.images.numpy() == images.transpose(0, 3, 1, 2)).all()
    assert train.labels.tolist() == [0, 1, 9, 3]


def test_fer2013_from_its_table(tmp_path, monkeypatch):
    images = random_levels(3, 48 * 48)
    uses = ("Training", "PrivateTest", "PublicTest")
    lines = [f"{3 * row},{' '.join(map(str, own))},{use}" for row, (own, use) in
             enumerate(zip(images, uses, strict=True))]  # fmt: skip
    put(tmp_path / "fer2013/fer2013.csv", "\n".join(["emotion,pixels,Usage", *lines]).encode())
    known = datasets.FER2013._RESOURCES | {"fer": ("fer2013.csv", None)}
    monkeypatch.setattr(datasets.FER2013, "_RESOURCES", known)
    test = open_images(named(tmp_path, "FER2013", 48), tmp_path / "cache", "test")
    assert (test.images[:, 0].flatten(1).numpy() == images[1:]).all()
    assert test.labels.tolist() == [3, 6]


@pytest.mark.parametrize(
    ("name", "start"),
    [("MNIST", "MNIST/raw/train"), ("EMNIST", "EMNIST/raw/emnist-balanced-train")],
)
def test_idx(tmp_path, name, start):
    images, labels = random_levels(3, 28, 28), np.array([7, 0, 9], np.uint8)
    header = struct.pack(">IIII", 0x803, 3, 28, 28)
    put(tmp_path / f"{start}-images-idx3-ubyte", header + images.tobytes())
    put(tmp_path / f"{start}-labels-idx1-ubyte", struct.pack(">II", 0x801, 3) + labels.tobytes())
    # which torchvision would prefer
    put(tmp_path / "MNIST/processed/training.pt", b"cos\nsystem\n")
    train = open_images(named(tmp_path, name, 28), tmp_path / "cache")
    assert (train.images.numpy() == images[:, None]).all()
    assert train.labels.tolist() == [7, 0, 9]


def gtsrb(root: Path, tracks: int, frames: int) -> Path:
    """Three of the classes; each track has its own grey."""
    for label in (0, 1, 5):
        for track in range(tracks):
            grey = encoded(colour=(10 * track,) * 3, kind="PPM")
            for frame in range(frames):
                name = f"{label:05}/{track:05}_{frame:05}.ppm"
                put(root / "gtsrb/GTSRB/Training" / name, grey)
    for name in ("00000", "00001"):
        put(root / f"gtsrb/GTSRB/Final_Test/Images/{name}.ppm", encoded(kind="PPM"))
    answers = "Filename;Width;ClassId\n00000.ppm;12;5\n00001.ppm;12;43\n"
    put(root / "gtsrb/GT-final_test.csv", answers.encode())
    return root


def test_frames_of_a_track_of_gtsrb_are_never_separated(tmp_path):
    settings = named(gtsrb(tmp_path, tracks=12, frames=4), "GTSRB", 12, shares={"validation": 0.25})
    opened = open_splits(settings, tmp_path / "cache", 0)
    tracks = {role: {name[:11] for name in own.names} for role, own in opened.items()}
    assert {role: len(own) for role, own in opened.items()} == \
        {"train": 108, "validation": 36, "test": 1}  # fmt: skip
    assert tracks["train"].isdisjoint(tracks["validation"])
    assert opened["validation"].labels.unique().tolist() == [0, 1, 5]
    assert (opened["test"].labels.tolist(), len(opened["test"].faults)) == ([5], 1)
    train = open_classified(settings, tmp_path / "cache", 0).train
    assert train.groups.unique(return_counts=True)[1].tolist() == [4] * 36
    parts = in_random_order(144, train.groups, [50, 30, 40], torch.Generator().manual_seed(1))
    assert [len(part) for part in parts] == [50, 30, 40]
    kept = [set(train.groups[part].tolist()) for part in parts]
    assert sum(map(len, kept)) == len(set.union(*kept))
    with pytest.raises(FeatlearnError, match="144 images; expected 146 for parts"):
        in_random_order(144, train.groups, [50, 30, 62], torch.Generator().manual_seed(1))


def test_a_pattern_says_what_stays_together(tmp_path):
    contents = [encoded(colour=(row, 0, 0)) for row in range(40)]
    path = parquet(tmp_path / "x.parquet", contents, [row // 20 for row in range(40)])
    settings = {"kind": "parquet", "path": str(path), "size": 8, "shares": {"test": 0.3},
                "together": r"row (\d?)\d "}  # fmt: skip
    opened = open_splits(settings, tmp_path / "cache", 0)
    tens = [{int(image[0, 0, 0]) // 10 for image in own.images} for own in opened.values()]
    assert tens[0].isdisjoint(tens[1])
    assert len(tens[0] | tens[1]) == 4


def test_rows_are_of_the_official_order_and_have_one_digest(tmp_path):
    contents = [encoded(colour=(row, 0, 0)) for row in range(20)]
    contents[3] = b"broken"  # counts as a row
    path = parquet(tmp_path / "all-train.parquet", contents, [row % 2 for row in range(20)])
    settings = {"kind": "parquet", "path": str(path), "size": 8}
    ranges = {"train": [[2, 5], [10, 14]], "test": [[18, 20]]}
    of_one = {**settings, "splits": {"train": "all", "test": "all"}, "shares": {}}
    provenance.READ.clear()
    opened = open_splits({**of_one, "rows": ranges}, tmp_path / "cache", 0)
    reds = {role: own.images[:, 0, 0, 0].tolist() for role, own in opened.items()}
    assert reds == {"train": [2, 4, 10, 11, 12, 13], "test": [18, 19]}
    digest = hashlib.sha256(opened["train"].images.numpy().tobytes()).hexdigest()
    what = f"{path} (all), rows 2-4, 10-13"
    assert provenance.READ[what] == {"kind": "parquet", "images": 6, "sha256": digest}
    for wrong, told in (
        ({"train": [[0, 21]], "test": [[21, 22]]}, "rows: 0-20; expected at most the 20"),
        ({"train": [[0, 6]], "test": [[5, 8]]}, "rows of train and test must share no image"),
        ({"train": [[0, 6]]}, "rows of train and test must share no image"),
    ):
        with pytest.raises(FeatlearnError, match=told):
            open_splits({**of_one, "rows": wrong}, tmp_path / "cache", 0)
    with pytest.raises(FeatlearnError, match=r"rows.test must be of a role with a split"):
        open_splits({**settings, "rows": ranges}, tmp_path / "cache", 0)


def test_digits_have_one_state_wherever_a_run_and_the_package_lie(tmp_path, monkeypatch):
    def state():
        data = {"kind": "digits", "size": 8, "shares": {"test": 0.2}}
        return listing_digest(sources(data), data)

    here = state()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sklearn.__file__", str(tmp_path / "sklearn.py"), raising=False)
    assert state() == here


ANNOTATION = (
    """<annotation><size><width>32</width><height>16</height></size>{objects}</annotation>"""
)


def voc_object(name, box, difficult=0) -> str:
    return (
        f"<object><name>{name}</name><difficult>{difficult}</difficult>"
        "<bndbox><xmin>{}</xmin><ymin>{}</ymin><xmax>{}</xmax><ymax>{}</ymax></bndbox></object>"
    ).format(*box)


def voc(root: Path, notes: dict[str, str], year: int = 2007, split: str = "trainval") -> Path:
    folder = root / "VOCdevkit" / f"VOC{year}"
    for name, note in notes.items():
        put(folder / "JPEGImages" / f"{name}.jpg", encoded(size=(32, 16), kind="JPEG"))
        put(folder / "Annotations" / f"{name}.xml", ANNOTATION.format(objects=note).encode())
    put(folder / "ImageSets" / "Main" / f"{split}.txt", "\n".join(notes).encode())
    return root


def test_voc_has_several_classes_an_image_and_boxes(tmp_path):
    both = voc_object("dog", (9, 5, 24, 12)) + voc_object("cat", (1, 1, 4, 4), 1)
    root = voc(tmp_path, {"000005": both, "000007": ""})
    settings = {"kind": "voc2007", "path": str(root), "size": 8, "resize": "squash"}
    train = open_images(settings, tmp_path / "cache")
    assert train.labels.shape == (2, 20)
    dog, cat = train.classes.index("dog"), train.classes.index("cat")
    assert train.labels[0, dog] == 1
    assert train.labels[0, cat] == -1
    assert train.labels[1].abs().sum() == 0
    found = train.objects
    assert found[[*BOX_COLUMNS]].to_numpy().tolist() == [[2, 2, 6, 6], [0, 0, 1, 2]]
    assert found["label"].tolist() == [dog, cat]
    assert found["difficult"].tolist() == [False, True]
    assert found["image"].tolist() == [0, 0]
    turned = train.subset(torch.tensor([1, 0])).objects
    assert turned.equals(found.assign(image=1))


def test_voc_of_both_years_is_trained_on_and_tested_on_the_first(tmp_path):
    dog, cat = voc_object("dog", (9, 5, 24, 12)), voc_object("cat", (1, 1, 16, 16))
    voc(tmp_path, {"000005": dog})
    voc(tmp_path, {"000006": cat}, split="test")
    settings = {"kind": "voc0712", "path": str(tmp_path), "size": 8, "resize": "squash"}
    with pytest.raises(FeatlearnError, match=r"VOCdevkit/VOC2012/ImageSets/Main/trainval\.txt"):
        open_images(settings, tmp_path / "cache")
    voc(tmp_path, {"2008_000001": cat, "2008_000002": dog + cat}, 2012)
    opened = open_splits(settings | {"shares": {}}, tmp_path / "cache", 0)
    assert opened["train"].names.tolist() == ["000005.jpg", "2008_000001.jpg", "2008_000002.jpg"]
    assert opened["test"].names.tolist() == ["000006.jpg"]
    assert opened["train"].classes == opened["test"].classes
    targets = targets_of(opened["train"])
    classes = [opened["train"].classes.index(name) for name in ("dog", "cat")]
    assert targets[:, :, 4].tolist() == [[classes[0], -1], [classes[1], -1], classes]
    assert targets[2, 1, :4].tolist() == [0, 0, 4, 8]
    flat = replace(opened["test"], objects=None)
    with pytest.raises(FeatlearnError, match="expected a detection set such as VOC"):
        targets_of(flat)


@pytest.mark.parametrize(("note", "reason"), [
    (voc_object("unicorn", (1, 1, 2, 2)), "unicorn"),
    (voc_object("dog", (9, 1, 2, 2)), "expected xmin"),
    ("<object><name>dog</name></object>", "without bndbox"),
    ("<object>", "mismatched tag"),
])  # fmt: skip
def test_a_wrong_annotation_is_a_fault(tmp_path, note, reason):
    root = voc(tmp_path, {"good": "", "bad": note})
    images = open_images({"kind": "voc2007", "path": str(root), "size": 8}, tmp_path / "cache")
    assert images.faults["file"].tolist() == ["bad.jpg"]
    assert reason in images.faults["reason"][0]


def test_given_splits_of_folders_share_their_classes(tmp_path):
    root = tmp_path / "set"
    class_folders(root / "train", a=2, b=1, c=1)
    class_folders(root / "val", c=2)
    settings = {"kind": "folder", "path": str(root), "size": 8, "shares": {}}
    splits = open_splits(settings, tmp_path / "cache", 0)
    assert list(splits) == ["train", "validation"]
    assert splits["validation"].labels.tolist() == [2, 2]
    class_folders(root / "val", d=1)
    with pytest.raises(FeatlearnError, match="val/d: unknown class; expected one of a, b, c"):
        open_splits(settings, tmp_path / "cache", 0)


@pytest.mark.parametrize(("change", "told"), [
    ({"path": None}, "data.path must be the folder"),
    ({"shares": {"test": 0.7, "validation": 0.3}}, "less than 1 together"),
    ({"splits": {"test": "val"}}, "data.splits must be a group with train"),
    ({"label_column": "label"}, "given only with kind: parquet"),
    ({"extensions": ["jpg"]}, "a list of endings as '.jpg', got jpg"),
    ({"classes": ["a", "a"]}, "each name once"),
    ({"name": "MNIST"}, "data.name must be given only with kind: torchvision"),
    (
        {"kind": "torchvision", "path": None, "name": "MIST"},
        "name must be one of MNIST, Fashion",
    ),
    ({"kind": "torchvision", "name": "MNIST"}, "path must be absent beside kind: torchvision"),
    ({"rows": {"train": [[5, 9], [8, 10]]}}, "data.rows.train must be rising pairs"),
    ({"rows": {"train": [[5, 5]]}}, "data.rows.train must be rising pairs"),
    ({"together": "("}, "together must be a pattern with a group"),
    ({"together": "(?:x)"}, "together must be a pattern with a group"),
])  # fmt: skip
def test_faults_of_a_config_name_the_key(change, told):
    settings = {"kind": "folder", "path": "x", "size": 32, **change}
    assert any(told in fault for fault in data_faults(settings, "data"))

"""Any bytes are read or refused in words: data sets, weights, checkpoints, artefacts.

A hang would end by the limit of the test run; nothing is written but the cache.
"""

import io
import json
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import save

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import read_parquet, read_tensors
from featlearn.core.run.provenance import read_record, record_path
from featlearn.core.training.loops import Checkpoint, Checkpoints
from featlearn.images.data.datasets import open_images
from featlearn.images.data.published import PUBLISHED
from featlearn.images.weights import read_weights
from image_folders import picture as noise
from unit.test_image_readers import put, saved

pytestmark = pytest.mark.long

CASES = 30
SIDE = 6


def picture(kind="PNG", mode="RGB") -> bytes:
    return saved(noise(0, size=(SIDE, SIDE)).convert(mode), kind)


def parquet() -> bytes:
    images = pa.StructArray.from_arrays(
        [pa.array([picture()] * 3), pa.array(["a", "b", "c"])], ["bytes", "path"]
    )
    hub = {"info": {"features": {"label": {"names": ["x", "y"]}}}}
    table = pa.table({"image": images, "label": [0, 1, 0]})
    buffer = io.BytesIO()
    pq.write_table(table.replace_schema_metadata({b"huggingface": json.dumps(hub)}), buffer)
    return buffer.getvalue()


def idx(*shape: int) -> bytes:
    sizes = struct.pack(f">{len(shape)}I", *shape)
    return bytes([0, 0, 8, len(shape)]) + sizes + bytes(int(np.prod(shape)))


NOTE = b"""<annotation><size><width>6</width></size><object><name>cat</name><difficult>0</difficult>
<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>5</xmax><ymax>5</ymax></bndbox></object></annotation>"""
ANSWERS = b"ImageId,PredictionString\none,n01 1 2 3 4\ntwo,n02 1 2 3 4\n"

PICTURES = dict.fromkeys(("PNG", "JPEG", "TIFF", "WEBP", "BMP", "PPM"), "RGB") | {"GIF": "P"}
#: Data sets: kind, split, sound files by name, and which of them is damaged.
SETS: dict[str, tuple[str, str, dict[str, bytes], str]] = {
    kind.lower(): ("folder", "all", {f"a/1.{kind.lower()}": picture(kind, mode),
                                     "b/2.png": picture()}, f"a/1.{kind.lower()}")
    for kind, mode in PICTURES.items()
}  # fmt: skip
IMAGES, LABELS = (f"MNIST/raw/t10k-{one}-ubyte" for one in ("images-idx3", "labels-idx1"))
BATCH, SIGNS = "cifar-10-batches-bin/test_batch.bin", "gtsrb/GT-final_test.csv"
VOC = {"ImageSets/Main/test.txt": b"one\n", "Annotations/one.xml": NOTE,
       "JPEGImages/one.jpg": picture("JPEG")}  # fmt: skip
for kind, split, files, *victims in (
    ("parquet", "train", {"train.parquet": parquet()}, "train.parquet"),
    ("CIFAR10", "test", {BATCH: bytes(3073 * 2)}, BATCH),
    ("MNIST", "test", {IMAGES: idx(2, 4, 4), LABELS: idx(2)}, IMAGES, LABELS),
    ("GTSRB", "test", {SIGNS: b"Filename;ClassId\n0.ppm;4\n",
                       "gtsrb/GTSRB/Final_Test/Images/0.ppm": picture("PPM")}, SIGNS),
    ("voc2007", "test", VOC, "Annotations/one.xml", "ImageSets/Main/test.txt"),
    ("imagenet", "val", {"val/one.JPEG": picture("JPEG"), "val/two.JPEG": picture("JPEG"),
                         "LOC_val_solution.csv": ANSWERS}, "LOC_val_solution.csv"),
):  # fmt: skip
    SETS |= {f"{kind}-{victim}": (kind, split, files, victim) for victim in victims}


def safetensors() -> bytes:
    return save({"a": torch.arange(6.0), "b": torch.ones(2, 2)})


def state_dict() -> bytes:
    buffer = io.BytesIO()
    torch.save({"model": {"a": torch.arange(6.0)}}, buffer)
    return buffer.getvalue()


def _weights(ending: str) -> Callable[[bytes], object]:
    def read(content: bytes) -> object:
        path = Path(f"w{ending}")
        path.write_bytes(content)
        return read_weights(path)

    return read


def _file(read: Callable[[Path], object]) -> Callable[[bytes], object]:
    def from_bytes(content: bytes) -> object:
        Path("artefact").write_bytes(content)
        return read(Path("artefact"))

    return from_bytes


def _checkpoint(part: str) -> Callable[[bytes], object]:
    """A damaged checkpoint of step 2 beside a sound one of step 1."""

    def read(content: bytes) -> object:
        kept = Checkpoints("kept", {"run": 1})
        for step in (1, 2):
            kept.save(Checkpoint(step, {"w": torch.ones(2)}, {}))
        max(Path("kept").glob(f"*.{part}")).write_bytes(content)
        found = kept.latest()
        assert found.step in (1, 2)
        return found

    return read


def _record(content: bytes) -> object:
    path = record_path(Path("results"), Path("results/a.parquet"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return read_record(Path("results"), Path("results/a.parquet"))


#: Other files: what is sound, and what reads it.
FILES: dict[str, tuple[Callable[[], bytes], Callable[[bytes], object]]] = {
    "safetensors": (safetensors, _file(read_tensors)),
    "weights": (state_dict, _weights(".pth")),
    "table": (parquet, _file(read_parquet)),
    "checkpoint": (safetensors, _checkpoint("safetensors")),
    "checkpoint-record": (
        lambda: b'{"step": 2, "sha256": "0", "plain": {}, "names": ["w"]}',
        _checkpoint("json"),
    ),
    "provenance": (lambda: b'{"bytes": 3, "sha256": "00", "inputs": {}}', _record),
}


@st.composite
def damaged(draw, sound: bytes) -> bytes:
    """The file with a few bytes turned, cut, put in, doubled; or other bytes."""
    content = bytearray(sound)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(len(content) - 1, 0)))
        match draw(
            st.sampled_from(["turn", "turn", "turn", "cut", "put", "drop", "double", "new"])
        ):
            case "turn" if content:
                content[place] = draw(st.integers(0, 255))
            case "cut":
                del content[place:]
            case "put":
                content[place:place] = draw(st.binary(max_size=12))
            case "drop":
                del content[place : place + draw(st.integers(1, 40))]
            case "double":
                content += content[place:]
            case "new":
                content = bytearray(draw(st.binary(max_size=80)))
    return bytes(content)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """A folder in which nothing but these may appear."""
    monkeypatch.chdir(tmp_path)
    yield
    expected = {"data", "cache", "artefact", "kept", "results", "w.pth"}
    assert {path.name for path in tmp_path.iterdir()} <= expected


def fuzzed(test):
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
    return settings(max_examples=CASES, suppress_health_check=slow)(test)


def opened(kind: str, split: str):
    place = {"path": "data"}
    if kind in PUBLISHED:
        kind, place = "torchvision", {"name": kind, "root": "data"}
    settings = {"kind": kind, **place, "size": SIDE, "max_pixels": 10_000}
    return open_images(settings, "cache", split)


@pytest.mark.parametrize("name", SETS)
def test_the_sound_set_is_read(name):
    kind, split, files, _ = SETS[name]
    for file, content in files.items():
        put(Path("data", file), content)
    found = opened(kind, split)
    assert len(found) > 0
    assert found.faults.empty


@pytest.mark.filterwarnings("ignore::UserWarning")  # Pillow's, about damaged TIFF files
@pytest.mark.parametrize("name", SETS)
@fuzzed
@given(st.data())
def test_a_damaged_data_set_is_read_or_refused_in_words(name, data):
    kind, split, files, victim = SETS[name]
    for file, content in files.items():
        put(Path("data", file), data.draw(damaged(content)) if file == victim else content)
    try:
        found = opened(kind, split)
    except FeatlearnError as error:
        told = str(error)
    else:
        told = "read"
        # what cannot be used is told in words, and never counted as an image
        assert found.images.shape == (len(found), 3, SIDE, SIDE)
        assert all(found.faults["reason"])
    assert told
    assert told.replace("\n", "").isprintable()


@pytest.mark.parametrize("name", FILES)
def test_the_sound_file_is_read(name):
    sound, read = FILES[name]
    assert read(sound()) is not None


@pytest.mark.parametrize("name", FILES)
@fuzzed
@given(st.data())
def test_a_damaged_file_is_read_or_refused_by_its_name(name, data):
    sound, read = FILES[name]
    content = data.draw(damaged(sound()))
    told = "artefact w.pth"
    try:
        read(content)
    except FeatlearnError as error:
        told = str(error)
    assert "artefact" in told or "w.pth" in told

"""The cache of decoded images: whole or not at all, made anew when it must be, never when not."""

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from featlearn.core.errors import DamagedFileError
from featlearn.images.data import cache, datasets
from featlearn.images.data.cache import cached, read_meta
from featlearn.images.data.datasets import open_images
from featlearn.images.data.readers import decode
from featlearn.images.data.readers.common import Record, Source
from image_folders import grow


@pytest.fixture
def folder(tmp_path) -> Path:
    return grow(tmp_path / "set", {"a": 100, "b": 150}, 6, (8, 8))


def opened(folder: Path, **settings):
    base = {"kind": "folder", "path": str(folder), "size": 8}
    return open_images({**base, **settings}, folder.parent / "cache")


def caches(folder: Path) -> list[Path]:
    return sorted(path for path in (folder.parent / "cache").iterdir() if path.is_dir())


def arrays(count: int, size: int = 8, **options) -> Source:
    levels = np.random.default_rng(0).integers(0, 256, (count, size, size, 3), np.uint8)
    records = [Record(f"image {row}", level, row % 2) for row, level in enumerate(levels)]
    return Source("arrays", ("a", "b"), (), lambda: iter(records), **options)


def test_nothing_is_decoded_twice(folder, monkeypatch):
    first = opened(folder)

    def refuse(*_):
        raise AssertionError("decoded again")

    monkeypatch.setattr(decode, "decode", refuse)
    again = opened(folder)
    assert again.images.equal(first.images)
    assert again.names.equals(first.names)
    assert again.folder == first.folder


def test_images_are_mapped_and_the_file_cannot_be_changed_through_them(folder):
    images = opened(folder)
    before = (images.folder / "images.u8").read_bytes()
    assert len(before) == images.images.numel()
    images.images[0] = 7
    assert (images.folder / "images.u8").read_bytes() == before
    assert not opened(folder).images[0].eq(7).all()


def test_the_same_images_give_the_same_bytes_whatever_the_threads(folder):
    one = opened(folder, workers=1).folder
    before = {path.name: path.read_bytes() for path in one.iterdir()}
    shutil.rmtree(one)
    several = opened(folder, workers=4).folder
    assert several == one
    assert {path.name: path.read_bytes() for path in several.iterdir()} == before


@pytest.mark.parametrize("name", ["images.u8", "rows.parquet", "faults.parquet", "meta.json"])
@pytest.mark.parametrize("damage", ["cut", "flipped", "gone"])
def test_a_damaged_cache_is_made_anew(folder, name, damage):
    first = opened(folder)
    expected, path = first.images.clone(), first.folder / name
    content = path.read_bytes()
    if damage == "cut":
        path.write_bytes(content[:-5])
    elif damage == "flipped":
        middle = len(content) // 2
        path.write_bytes(content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :])
    else:
        path.unlink()
    with pytest.raises(DamagedFileError, match="damaged cache"):
        read_meta(first.folder)
    again = opened(folder)
    assert again.images.equal(expected)
    assert path.read_bytes() == content
    assert caches(folder) == [first.folder], "nothing is left of the damaged one"


def test_another_size_policy_or_content_is_another_cache(folder):
    opened(folder)
    opened(folder, size=4)
    opened(folder, resize="pad")
    assert len(caches(folder)) == 3
    changed = folder / "a" / "0.png"
    Image.new("RGB", (9, 9)).save(changed)
    assert opened(folder).images[0].max() == 0
    assert len(caches(folder)) == 4
    os.utime(changed, ns=(1, 1))
    opened(folder)
    assert len(caches(folder)) == 5
    opened(folder, workers=3, broken="refuse")
    assert len(caches(folder)) == 5, "how it is decoded changes nothing"


def test_what_an_interruption_or_a_kill_leaves_is_nothing_that_looks_whole(tmp_path, monkeypatch):
    def stopping():
        yield from arrays(100).records()
        raise KeyboardInterrupt

    broken_off = Source("arrays", ("a", "b"), (), stopping)
    with pytest.raises(KeyboardInterrupt):
        cached(broken_off, {"size": 8}, tmp_path)
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]
    target = cached(arrays(3), {"size": 8}, tmp_path)
    left = tmp_path / f".{target.name}.0123.part"
    left.mkdir()
    (left / "images.u8").write_bytes(b"half")
    (target / "meta.json").unlink()
    assert cached(arrays(3), {"size": 8}, tmp_path) == target
    assert not left.exists()


@pytest.mark.long
def test_processes_that_ask_at_once_decode_once(folder):
    code = (
        "import sys\n"
        "from featlearn.images.data import cache, datasets\n"
        "made = cache._decode_into\n"
        "def told(*args):\n"
        "    print('decoded'); return made(*args)\n"
        "cache._decode_into = told\n"
        "settings = {'kind': 'folder', 'path': sys.argv[1], 'size': 8}\n"
        "print(len(datasets.open_images(settings, sys.argv[2])))\n"
    )
    command = [sys.executable, "-c", code, str(folder), str(folder.parent / "cache")]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ)
        for _ in range(2)
    ]
    said = [process.communicate()[0].split() for process in running]
    assert [words[-1] for words in said] == ["12", "12"]
    assert sum(words.count("decoded") for words in said) == 1


def test_pixels_are_written_as_they_come(tmp_path, monkeypatch):
    """Of a set that is larger than memory only a few tasks are held at once."""
    alive, most = 0, 0
    lock = threading.Lock()
    real = cache._made

    def counted(record, settings):
        nonlocal alive, most
        with lock:
            alive += 1
            most = max(most, alive)
        return real(record, settings)

    def records():
        for row in range(2000):
            yield Record(str(row), np.zeros((4, 4), np.uint8), 0)

    def written(images):
        nonlocal alive
        for image in images:
            with lock:
                alive -= 1
            yield image

    write = cache._write_pixels
    monkeypatch.setattr(cache, "_made", counted)
    monkeypatch.setattr(cache, "_write_pixels", lambda to, images: write(to, written(images)))
    cached(Source("stream", ("a",), (), records), {"size": 4, "workers": 2}, tmp_path)
    assert most <= 6 * cache.RECORDS_A_TASK


def test_checksums_run_over_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "BLOCK", 500)
    target = cached(arrays(20), {"size": 8}, tmp_path)
    meta = read_meta(target)
    assert len(meta["blocks"]) == -(-20 * 192 // 500)
    content = bytearray((target / "images.u8").read_bytes())
    content[-1] ^= 1
    (target / "images.u8").write_bytes(content)
    with pytest.raises(DamagedFileError):
        read_meta(target)


def test_a_large_subset_has_a_cache_of_its_own(folder, monkeypatch):
    whole = opened(folder)
    rows = torch.tensor([5, 0, 11])
    copied = whole.subset(rows, folder.parent / "cache")
    assert copied.folder is None
    monkeypatch.setattr(datasets, "COPIED", 100)
    mapped = whole.subset(rows, folder.parent / "cache")
    assert mapped.folder is not None
    assert mapped.images.equal(copied.images)
    assert mapped.labels.equal(copied.labels)
    assert mapped.names.tolist() == copied.names.tolist()
    assert mapped.images.equal(whole.images[rows])

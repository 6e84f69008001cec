"""Real images with one class each: what is taken, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from featlearn.core.errors import FeatlearnError
from featlearn.images.classified import open_classified
from unit.test_image_readers import class_folders, voc, voc_object

NAME = (0, "test", "classified")


def folders(root, **more):
    return {"kind": "folder", "path": str(root), "size": 8, **more}


def opened(data, tmp_path, **more):
    return open_classified(data, tmp_path / "cache", *NAME, key="here.data", **more)


def test_training_and_test_images_are_apart_and_keep_the_shares_of_the_classes(tmp_path):
    data = folders(class_folders(tmp_path / "own", a=20, b=10), shares={"test": 0.2})
    whole = opened(data, tmp_path)
    assert whole.classes == ("a", "b")
    assert torch.bincount(whole.train.labels).tolist() == [16, 8]
    assert torch.bincount(whole.test.labels).tolist() == [4, 2]
    few = opened(data, tmp_path, most=6)
    assert torch.bincount(few.train.labels).tolist() == [4, 2]
    assert torch.equal(few.test.images, whole.test.images)


def test_as_many_as_there_are_or_more_are_all(tmp_path):
    data = folders(class_folders(tmp_path / "own", a=6, b=6), shares={"test": 0.5})
    whole = opened(data, tmp_path)
    for most in (6, 7):
        assert torch.equal(opened(data, tmp_path, most=most).train.images, whole.train.images)


def test_images_of_one_class_only_are_refused(tmp_path):
    data = folders(class_folders(tmp_path / "own", a=9), shares={"test": 0.5})
    with pytest.raises(FeatlearnError, match=r"^here\.data: expected .* of two classes or more"):
        opened(data, tmp_path)


def test_images_of_several_classes_each_are_refused(tmp_path):
    notes = {f"{n:06}": voc_object("dog", (1, 1, 8, 8)) for n in range(4)}
    root = voc(tmp_path / "voc", notes)
    data = {"kind": "voc2007", "path": str(root), "size": 8, "splits": {"train": "trainval"}}
    with pytest.raises(FeatlearnError, match=r"^here\.data: expected images with one class each"):
        opened({**data, "shares": {"test": 0.5}}, tmp_path)


def test_test_images_without_a_class_are_refused(tmp_path):
    for part in ("train", "unlabeled"):
        np.zeros((3, 3, 96, 96), np.uint8).tofile(tmp_path / f"{part}_X.bin")
    np.array([1, 10, 3], np.uint8).tofile(tmp_path / "train_y.bin")
    splits = {"train": "train", "test": "unlabeled"}
    data = {"kind": "stl10", "path": str(tmp_path), "size": 8, "splits": splits}
    with pytest.raises(FeatlearnError, match=r"^here\.data: no image for testing has a class"):
        opened(data, tmp_path)


def test_missing_files_are_told_with_the_key(tmp_path):
    with pytest.raises(FeatlearnError, match=r"^here\.data: .*nowhere"):
        opened(folders(tmp_path / "nowhere", shares={"test": 0.5}), tmp_path)

"""Parquet, safetensors and plain files: round trips, identical bytes, readable faults."""

import os

import numpy as np
import pandas as pd
import pytest
import torch

from featlearn.core import files
from featlearn.core.errors import FeatlearnError


def tidy_frame() -> pd.DataFrame:
    accuracy = [0.5, 1 / 3, np.nan, 1.0]
    return pd.DataFrame({"method": ["mae", "mae", "sl", "sl"], "accuracy": accuracy,
                         "captured": [True, False, True, True]})  # fmt: skip


def tensors() -> dict[str, torch.Tensor]:
    return {
        "w": torch.arange(6, dtype=torch.float64).reshape(2, 3),
        "hit": torch.tensor([-1, 7]),
        "across": torch.arange(6.0).reshape(2, 3).T,  # not contiguous
    }


def test_a_frame_with_an_index_is_refused_rather_than_losing_it(tmp_path):
    frame = tidy_frame().set_index("method")
    with pytest.raises(FeatlearnError, match=r"frame\.parquet.*reset_index"):
        files.write_parquet(frame, tmp_path / "frame.parquet")
    assert not (tmp_path / "frame.parquet").exists()


@pytest.mark.parametrize("column", [[1, "one"], ["one", 1]])
def test_a_column_of_mixed_objects_is_refused_by_file_name(tmp_path, column):
    with pytest.raises(FeatlearnError, match=r"frame\.parquet: not a tidy frame"):
        files.write_parquet(pd.DataFrame({"mixed": column}), tmp_path / "frame.parquet")


@pytest.mark.parametrize(
    "damage", [lambda whole: b"", lambda whole: b"words", lambda whole: whole[:-1]]
)
@pytest.mark.parametrize("kind", ["Parquet", "safetensors"])
def test_a_damaged_file_is_named(tmp_path, kind, damage):
    path = tmp_path / "file"
    if kind == "Parquet":
        files.write_parquet(tidy_frame(), path)
    else:
        files.write_tensors(tensors(), path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(FeatlearnError, match=f"file: cannot be read as {kind}"):
        files.read_parquet(path) if kind == "Parquet" else files.read_tensors(path)


def test_tensors_come_back_as_they_were_written(tmp_path):
    written = tensors() | {"followed by autograd": torch.ones(2, requires_grad=True)}
    for name, order in (("one", written), ("two", dict(reversed(written.items())))):
        files.write_tensors(order, tmp_path / name)
    assert files.digest(tmp_path / "one") == files.digest(tmp_path / "two")
    result = files.read_tensors(tmp_path / "one")
    assert result.keys() == written.keys()
    for name, tensor in written.items():
        assert result[name].dtype == tensor.dtype
        assert torch.equal(result[name], tensor)


@pytest.mark.parametrize("moment", ["fsync", "replace"])
@pytest.mark.parametrize("interruption", [KeyboardInterrupt, OSError])
def test_an_interrupted_write_leaves_the_old_content(tmp_path, monkeypatch, moment, interruption):
    path = tmp_path / "a" / "b" / "file"
    files.write_atomically(path, b"old")

    def interrupt(*_):
        raise interruption("in the middle")

    monkeypatch.setattr(files.os, moment, interrupt)
    with pytest.raises(interruption, match="in the middle"):
        files.write_atomically(path, b"new and longer")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in path.parent.iterdir()] == ["file"]


def test_the_bytes_are_on_the_disk_before_they_get_their_name(tmp_path, monkeypatch):
    seen = []
    real = {"fsync": os.fsync, "replace": os.replace}
    for name, function in real.items():
        monkeypatch.setattr(
            files.os, name, lambda *args, name=name, f=function: (seen.append(name), f(*args))[1]
        )
    files.write_atomically(tmp_path / "file", b"new")
    assert seen == ["fsync", "replace"]

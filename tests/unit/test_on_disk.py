"""Folders of pictures that are not what their owner thinks: refused, or told, before a long run."""

import os
from pathlib import Path

import numpy as np
import pytest

import image_folders
from featlearn import images
from featlearn.command import flow, main
from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.images.data.on_disk import hints, look
from featlearn.own_images import command
from featlearn.own_images.config import state


def grow(root: Path, *folders: str, count: int = 6) -> Path:
    return image_folders.grow(root, dict.fromkeys(folders, 128), count)


def data(root, **more):
    return {"kind": "folder", "path": str(root), "size": 16, "shares": {"test": 0.25}, **more}


@pytest.fixture
def flowers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return grow(tmp_path / "flowers", "daisy", "rose")


def test_what_lies_there_is_counted(flowers):
    (flowers / "daisy" / "deeper").mkdir()
    (flowers / "daisy" / "0.png").rename(flowers / "daisy" / "deeper" / "0.PNG")
    (flowers / "daisy" / ".hidden.png").touch()
    (flowers / ".git").mkdir()
    (seen,) = look(data(flowers))
    assert seen.classes == {"daisy": 6, "rose": 6}
    assert hints([seen]) == []


def loop_of_links(root):
    (root / "daisy" / "a.png").symlink_to("b.png")
    (root / "daisy" / "b.png").symlink_to("a.png")


def folder_that_is_a_loop(root):
    (root / "tulip").symlink_to("tulip")


def split_in_capitals(root):
    for name in ("daisy", "rose"):
        (root / name).rename(root / {"daisy": "Train", "rose": "Test"}[name])


def two_of_one_name(root):
    grow(root, "a\\xff")
    (root / os.fsdecode(b"a\xff")).mkdir()


HOSTILE = {
    loop_of_links: "daisy/a.png: a link that leads nowhere",
    folder_that_is_a_loop: "tulip: a link that leads nowhere",
    split_in_capitals: "Test, Train would be classes; expected train/ and test/",
    two_of_one_name: r"two class folders are shown as a\xff",
}


@pytest.mark.parametrize("attack", HOSTILE, ids=lambda attack: attack.__name__)
def test_what_would_go_wrong_is_refused_at_every_door(attack, flowers, tmp_path, capsys):
    attack(flowers)
    with pytest.raises(FeatlearnError) as told:
        look(data(flowers))
    assert HOSTILE[attack] in str(told.value)
    with pytest.raises(ConfigError) as planned:
        state({"flowers": {"data": data(flowers)}})
    assert HOSTILE[attack] in str(planned.value)
    with pytest.raises(FeatlearnError):
        images.read(flowers, size=16)
    assert main(["images", str(flowers), "-n"]) == 2
    assert HOSTILE[attack] in capsys.readouterr().err
    assert not list(tmp_path.glob("*.yaml"))


def test_a_link_to_a_folder_above_is_entered_neither_once_nor_without_end(flowers):
    (flowers / "daisy" / "around").symlink_to(flowers / "daisy", target_is_directory=True)
    (seen,) = look(data(flowers))
    assert seen.classes["daisy"] == 6
    with pytest.raises(FeatlearnError, match="a link to a folder that it lies in"):
        look(data(flowers, follow_links=True))


def test_parts_in_capitals_may_be_classes_if_that_is_said(flowers):
    split_in_capitals(flowers)
    (seen,) = look(data(flowers, splits={"train": "all"}))
    assert set(seen.classes) == {"Train", "Test"}


def test_a_folder_that_cannot_be_listed_is_told(flowers, monkeypatch):
    real = os.scandir

    def scandir(path):
        if str(path).endswith("rose"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(FeatlearnError, match=r"rose: cannot be read \(Permission denied\)"):
        look(data(flowers))


@pytest.mark.parametrize("where", [".", "daisy"])
def test_results_never_land_among_the_pictures(where, flowers, monkeypatch, capsys):
    monkeypatch.chdir(flowers / where)
    told = "." if where == "." else ".."
    assert main(["images", told, "-n"]) == 2
    assert "would be taken for pictures next time" in capsys.readouterr().err
    assert not list(flowers.rglob("*.yaml"))


def test_a_set_with_parts_may_hold_the_folder_that_it_is_called_in(tmp_path, monkeypatch):
    for part in ("train", "test"):
        grow(tmp_path / part, "daisy", "rose")
    monkeypatch.chdir(tmp_path)
    assert [seen.part for seen in look(data("."))] == ["train", "test"]


def test_kinds_that_are_not_read_small_classes_and_classes_one_level_too_deep_are_told(tmp_path):
    root = grow(tmp_path / "a", "2020/cat", "2020/dog", "2021/cat", "2021/dog", count=3)
    for name in ("1.HEIC", "2.heic", "3.avif"):
        (root / "2020" / "cat" / name).touch()
    grow(root, "single", count=1)
    (seen,) = look(data(root))
    unread, few = hints([seen])
    assert "3 pictures are of a kind that is not read (1 .avif, 2 .heic)" in unread
    assert few.startswith("Fewer than five pictures: single.")
    (root / "single" / "0.png").unlink()
    (root / "single").rmdir()
    assert "below each of them lie the same folders, cat, dog" in hints(look(data(root)))[1]


def test_a_class_of_one_picture_is_trained_on_or_tested_on(tmp_path):
    root = grow(grow(tmp_path / "a", "many"), "one", count=1)
    own = images.read(root, size=16)
    both = [int((labels == 1).sum()) for labels in (own.train_labels, own.test_labels)]
    assert sorted(both) == [0, 1]


def test_a_picture_that_is_trained_and_tested_on_is_told(tmp_path):
    root = grow(tmp_path / "a", "train/x", "train/y", "test/x", "test/y")
    (root / "test/x/0.png").write_bytes((root / "train/x/3.png").read_bytes())
    with pytest.warns(UserWarning, match="1 of 12 test pictures are, pixel for pixel, training"):
        images.read(root, size=16)


def test_a_named_pipe_among_the_pictures_keeps_nobody_waiting(flowers):
    os.mkfifo(flowers / "rose" / "pipe.png")  # who opened it would wait for ever
    own = images.read(flowers, size=16)
    assert len(own.train) + len(own.test) == 12


@pytest.mark.parametrize("label", [10**9, 10**6])
def test_a_label_beyond_measure_takes_no_memory(label):
    with pytest.raises(FeatlearnError, match=f"label {label}; expected less than"):
        images.read([(np.zeros((4, 4, 3), np.uint8), n) for n in (0, label)], size=8)


def test_a_config_that_is_a_folder_or_no_text_is_not_written_over(flowers, tmp_path, capsys):
    (tmp_path / "flowers.yaml").write_bytes(b"\xff\xfe")
    assert main(["images", "flowers", "-n"]) == 2
    assert "is there already" in capsys.readouterr().err
    (tmp_path / "flowers.yaml").unlink()
    (tmp_path / "flowers.yaml").mkdir()
    assert main(["images", "flowers", "-n"]) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "more",
    [["--name", "../up"], ["--size", "0"], ["--size", "1000000"],
     ["--replicates", "100000"], ["--set", "run=a b"], ["--set", "device=abacus"]],
)  # fmt: skip
def test_impossible_options_are_refused_and_leave_nothing(more, flowers, tmp_path, capsys):
    assert main(["images", "flowers", "-n", *more]) == 2
    assert "Traceback" not in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["flowers"]


def test_a_run_is_not_called_as_those_of_the_workflow(flowers, tmp_path, monkeypatch):
    """Its results would lie among theirs."""
    monkeypatch.setattr(flow, "snakemake", lambda *_: 0)
    monkeypatch.setattr(command, "_announce", lambda *_: None)
    assert main(["images", "flowers", "-n", "--name", "published"]) == 0
    assert [path.name for path in tmp_path.glob("*.yaml")] == ["published-own.yaml"]
    assert "run: published-own\n" in (tmp_path / "published-own.yaml").read_text()

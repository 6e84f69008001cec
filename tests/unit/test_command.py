"""The command line: words for what is refused, curves, and networks that look at pictures."""

import os
import re
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
import torch
from PIL import Image

from featlearn import images
from featlearn.command import main, pictures
from featlearn.command.flow import settings_of, workflow
from featlearn.core.errors import ConfigError
from featlearn.core.files import Described, read_tensors, write_parquet, write_tensors
from featlearn.core.seeds import seeded
from featlearn.images.augment import Augment
from featlearn.images.encoders import build_encoder
from featlearn.images.saved import described
from featlearn.images.train.classifier import Classifier
from featlearn.own_images.command import fitting, write_curves
from image_folders import picture


def test_settings_lead_into_groups():
    found = settings_of(["a.b=1", "a.c=[x, 2.5]", "d=true"])
    assert found == {"a": {"b": 1, "c": ["x", 2.5]}, "d": True}


@pytest.mark.parametrize("pair", ["a", "=1", "a..b=1", "a=[", "a=!!python/name:os.system"])
def test_what_is_no_setting_is_refused(pair):
    with pytest.raises(ConfigError, match="--set"):
        settings_of([pair])


@pytest.mark.parametrize("count", [4, 60, 500, 5000])
def test_an_epoch_has_steps_whatever_the_size_of_the_set(count, tmp_path):
    made = fitting(tmp_path, count, 64, 3)
    batch = made["pretraining"]["training"]["batch_size"]
    assert 4 <= batch <= 64
    assert batch == 4 or 0.8 * count >= 4 * batch


@pytest.mark.parametrize(("words", "told"), [
    (["images", "nowhere"], "nowhere: no such folder"),
    (["run", "--configfile", "nowhere.yaml"], "nowhere.yaml: no such config file"),
    (["run", "mrp", "--set", "mrp.headline.replicates=0"], "replicates must be at least 1"),
    (["run", "--scale", "nowhere"], "nowhere"),
    (["images", "file"], "file: a file; expected a folder with a folder a class in it"),
    (["images", "flat"], "flat: class folders with pictures: none, and 2 pictures outside of"),
    (["images", "one"], "one: class folders with pictures: rose; expected two or more, one a"),
    (["images", "two", "--set", "replicates=2"], "as in --set real_images.two.replicates=2"),
    (["images", "two", "-n", "--set", "real_images.two.replicates=0"], "at least 1, got 0"),
    (["cam", "nowhere.safetensors", "a.jpg"], "nowhere.safetensors"),
    (["verify", "--", "-n"], "takes nothing behind --"),
])  # fmt: skip
def test_what_is_refused_is_told_in_words(words, told, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("empty", "flat", "one/rose", "two/rose", "two/daisy"):
        (tmp_path / name).mkdir(parents=True)
        for number in range(2 * (name != "empty")):
            (tmp_path / name / f"{number}.png").touch()
    (tmp_path / "file").touch()
    assert main(words) == 2
    assert not list(tmp_path.glob("*.yaml"))
    said = capsys.readouterr().err
    assert said.startswith(f"featlearn {words[0]}: ")
    assert told in said


WAITS = """
import signal, sys, time
from featlearn.command.flow import followed
inner = ("import signal, sys, time\\n"
         "def end(number, frame):\\n"
         "    time.sleep(1)\\n"
         "    print('kept', number, flush=True); sys.exit(7)\\n"
         "signal.signal(signal.SIGINT, end); signal.signal(signal.SIGTERM, end)\\n"
         "print('ready', flush=True); time.sleep(60)")
print("code", followed([sys.executable, "-c", inner]), flush=True)
"""


@pytest.mark.parametrize(
    ("number", "times", "all_of_it", "code"),
    [(signal.SIGINT, 1, True, 130), (signal.SIGINT, 2, True, 130), (signal.SIGTERM, 1, False, 7)],
)
def test_what_is_followed_ends_in_its_own_way(number, times, all_of_it, code):
    """Ctrl-C reaches both, SIGTERM the command alone; what keeps its state is not killed."""
    # a shell that starts pytest in the background may have it ignore Ctrl-C
    given = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n{WAITS}"
    command = [sys.executable, "-c", given]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert run.stdout.readline() == "ready\n"
    for _ in range(times):
        (os.killpg if all_of_it else os.kill)(run.pid, number)
        time.sleep(0.2)
    told = run.communicate(timeout=60)[0]
    assert f"kept {int(number)}" in told
    assert f"code {code}" in told


def test_no_module_is_taken_from_the_folder_of_a_stranger(tmp_path, monkeypatch):
    """``python -m`` looks into the working folder first: a picture set may hold a yaml.py."""
    for name in ("yaml", "snakemake", "jinja2", "numpy", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("open('owned', 'w')\nraise SystemExit(9)\n")
    monkeypatch.chdir(tmp_path)
    source = str(workflow() / "src")
    monkeypatch.setenv("PYTHONPATH", source)
    command = [sys.executable, "-P", "-m", "featlearn.command", "run", "--", "--version"]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    assert not (tmp_path / "owned").exists()


def test_curves_are_written_by_tensorboards_own_writer(tmp_path):
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    folder = tmp_path / "own/measurements/flowers"
    folder.mkdir(parents=True)
    rows = pd.DataFrame({"step": [2, 4], "epoch": [1.0, 2.0], "images": [8, 16],
                         "learning_rate": [0.1, 0.05], "loss": [1.5, 0.75]})  # fmt: skip
    write_parquet(rows.assign(data_set="flowers", replicate=0), folder / "pretraining-0.parquet")
    tuned = [rows.assign(loss=rows["loss"] * share, labels=int(8 * share)) for share in (1, 2)]
    write_parquet(pd.concat(tuned, ignore_index=True), folder / "finetuning-random-0.parquet")
    for _ in range(2):  # a second time takes the place of the first
        names = write_curves(tmp_path / "own", tmp_path / "tensorboard")
    tuned = [f"flowers/finetuning-random-0-{labels}-labels" for labels in (8, 16)]
    assert names == ["flowers/pretraining-0", *tuned]
    seen = reader.EventAccumulator(str(tmp_path / "tensorboard" / names[2]))
    seen.Reload()
    assert sorted(seen.Tags()["scalars"]) == ["learning_rate", "loss"]
    assert [(one.step, one.value) for one in seen.Scalars("loss")] == [(2, 3.0), (4, 1.5)]


ESC = "\x1b[31m"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a classifier, its encoder, and some pictures."""
    monkeypatch.chdir(tmp_path)
    with seeded(0, "test"):
        encoder = build_encoder({"kind": "small_resnet", "widths": [4, 8]}, 32)
        whole = Classifier(encoder, 2)
    augment = Augment({"preset": "none"})
    write_tensors(described(whole, augment, "a test", {}, ["daisy", "rose"]), "c.safetensors")
    write_tensors(described(encoder, augment, "a test", {}), "e.safetensors")
    for name in ("a.png", "-b.png", f"new\nline {ESC}.png", os.fsdecode(b"bytes\xff.png")):
        picture(0, size=(40, 50)).save(name)
    return tmp_path


def test_a_line_a_picture_and_names_that_a_terminal_would_obey_are_escaped(here, capsys):
    names = ["a.png", f"new\nline {ESC}.png", os.fsdecode(b"bytes\xff.png"), "./-b.png"]
    assert main(["predict", "c.safetensors", *names]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    shown = ["a.png", "new\\nline \\x1b[31m.png", "bytes\\xff.png", "./-b.png"]
    assert [row[0] for row in rows] == shown
    for _, said, probable in rows:
        assert said in ("daisy", "rose")
        assert 0.5 <= float(probable) <= 1


@pytest.mark.parametrize("command", ["predict", "cam"])
def test_what_is_no_picture_is_named_and_the_others_are_done(here, command, capsys):
    (here / "empty.jpg").touch()
    (here / "photo.jpg").write_bytes(
        b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic" + bytes(99)
    )
    assert main([command, "c.safetensors", "empty.jpg", "a.png", "photo.jpg"]) == 1
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 1
    assert "empty.jpg: the file is empty" in said.err
    assert "photo.jpg: not an image of a known format" in said.err


def test_many_pictures_are_looked_at_some_at_a_time(here, monkeypatch, capsys):
    monkeypatch.setattr(pictures, "BATCH", 2)
    names = [f"{number}.png" for number in range(5)]
    for number, name in enumerate(names):
        picture(number, size=(40, 50)).save(name)
    assert main(["predict", "c.safetensors", *names]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    wanted = images.network("c.safetensors")(names)
    assert [float(row[2]) for row in rows] == pytest.approx(wanted.amax(1).tolist(), abs=1e-3)


def test_maps_of_two_files_of_one_name_and_of_a_very_long_one(here, capsys):
    (here / "other").mkdir()
    long = "x" * 240 + ".png"
    for name in ("other/a.png", long):
        picture(0, size=(40, 50)).save(name)
    assert main(["cam", "e.safetensors", "a.png", "other/a.png", long, "--out", "m"]) == 0
    made = capsys.readouterr().out.splitlines()
    assert made == ["m/a-cam.png", "m/a-2-cam.png", f"m/{'x' * 60}-cam.png"]
    assert all(Image.open(name).size == (64, 32) for name in made)


@pytest.mark.parametrize(("words", "told"), [
    (["cam", "e.safetensors", "folder"], "folder: a folder; expected pictures"),
    (["predict", "c.safetensors", "none.png"], "none.png: no such file"),
    (["cam", "a.png", "e.safetensors"], "a.png: expected a network that a run wrote, such as"),
    (["predict", "e.safetensors", "a.png"], "e.safetensors: knows no classes"),
    (["export", "c.safetensors", "out.onnx"], "out.onnx: expected a name that ends in .pt2"),
    (["export", "c.safetensors", "nowhere/out.pt2"], "nowhere: no such folder"),
    (["cam", "e.safetensors", "a.png", "--out", "a.png"], "--out a.png: File exists; expected"),
    (["predict", "plain.safetensors", "a.png"], "does not say which network it is of"),
])  # fmt: skip
def test_a_usual_mistake_is_told_in_one_line(here, words, told, capsys):
    (here / "folder").mkdir()
    write_tensors(dict(read_tensors("c.safetensors")), "plain.safetensors")
    assert main(words) == 2
    said = capsys.readouterr()
    assert told in said.err
    assert said.out == ""
    assert said.err.count("\n") == 1


def test_weights_of_another_architecture_are_refused_by_the_first_tensor_that_differs(here, capsys):
    weights = read_tensors("c.safetensors")
    other = {"encoder": weights.about["encoder"] | {"widths": [8, 8]}}
    write_tensors(Described(dict(weights), **weights.about | other), "other.safetensors")
    assert main(["predict", "other.safetensors", "a.png"]) == 2
    said = capsys.readouterr().err
    assert "not those of its header, a small_resnet: " in said
    assert re.search(r" is \(4,[^)]*\); expected \(8,[^)]*\)\n$", said)


@pytest.mark.parametrize("command", ["predict", "cam", "export"])
@pytest.mark.parametrize(("header", "tensor", "fault"), [
    ({"std": [0.2, 0.0, 0.2]}, 0.0, "std.1 must be at least 1e-06, got 0.0"),
    ({}, float("nan"), "must hold finite numbers"),
    ({}, float("inf"), "must hold finite numbers"),
    ({"mean": [1e39] * 3}, 0, "mean.0 must be at most 1000000.0"),
])  # fmt: skip
def test_weights_that_answer_nothing_are_refused(here, command, header, tensor, fault, capsys):
    weights = read_tensors("c.safetensors")
    tensors = dict(weights)
    name = next(iter(tensors))
    tensors[name] = tensors[name] + tensor
    write_tensors(Described(tensors, **weights.about | header), "bad.safetensors")
    assert main([command, "bad.safetensors", "out.pt2" if command == "export" else "a.png"]) == 2
    assert fault in capsys.readouterr().err


def test_an_answer_that_overflows_is_none(here, capsys):
    weights = read_tensors("c.safetensors")
    huge = {name: own + (3e38 if own.is_floating_point() else 0) for name, own in weights.items()}
    write_tensors(Described(huge, **weights.about), "huge.safetensors")
    for command, fault in (("predict", "must answer numbers"), ("cam", "must give finite numbers")):
        assert main([command, "huge.safetensors", "a.png"]) == 2
        assert fault in capsys.readouterr().err


def test_names_of_classes_write_no_line_of_their_own(here, capsys):
    weights = read_tensors("c.safetensors")
    about = weights.about | {"classes": [f"daisy{ESC}\r\nhorse\t0.99"] * 2}
    write_tensors(Described(dict(weights), **about), "forged.safetensors")
    assert main(["predict", "forged.safetensors", "a.png"]) == 0
    text = capsys.readouterr().out
    assert ESC not in text
    assert text.count("\n") == 1
    assert text.count("\t") == 2


@pytest.mark.long
def test_a_reader_that_goes_away_is_no_fault_of_the_command(here):
    command = [sys.executable, "-m", "featlearn.command", "predict", "c.safetensors"]
    script = " ".join([*command, *["a.png"] * 3]) + " | head -1"
    told = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.count("\n") == 1
    assert "Traceback" not in told.stderr


@pytest.mark.parametrize("file", ["c.safetensors", "e.safetensors"])
def test_an_export_says_what_the_network_says(here, file, capsys):
    assert main(["export", file, "out.pt2"]) == 0
    assert "pixels (N, 3, 32, 32), 0 to 255" in capsys.readouterr().out
    network = images.network(file)
    pixels = network.pixels(["a.png"] * 3)
    wanted = network(pixels) if network.classes else network.features(pixels)
    with torch.inference_mode():
        again = torch.export.load("out.pt2").module()(pixels.float())
    torch.testing.assert_close(again, wanted, rtol=1e-4, atol=1e-5)
    assert not list(here.glob(".export-*"))


def test_an_export_that_differs_is_not_kept_and_the_one_before_is(here, monkeypatch, capsys):
    (here / "out.pt2").write_bytes(b"the one before")
    monkeypatch.setattr(pictures, "SAME", -1.0)
    assert main(["export", "c.safetensors", "out.pt2"]) == 2
    assert "out.pt2: not kept: it differs" in capsys.readouterr().err
    assert (here / "out.pt2").read_bytes() == b"the one before"
    assert not list(here.glob(".export-*"))


@pytest.mark.parametrize(("changed", "told"), [
    ({"image_size": 10**9}, "image_size"),
    ({"classes": 7}, "classes"),
    ({"mean": [0.5]}, "mean must have at least 3"),
    ({"std": None}, "std must be a list"),
    ({"std": ...}, "does not say which network"),
    ({"encoder": {"kind": "vit", "depth": float("nan")}}, "encoder.depth"),
    ({"std": ["a", "b", "c"]}, "std.0 must be"),
    ({"std": [float("nan")] * 3}, "std.0 must be"),
    ({"encoder": "small_resnet"}, "encoder"),
    ({"encoder": {"kind": "vit", "depth": 10**9}}, "encoder.depth"),
    ({"encoder": {"kind": "small_resnet", "widths": [10**7]}}, "encoder.widths"),
    ({"encoder": {"kind": "vit", "vit": {"depth": 10**9}}}, "encoder.vit"),
    ({"encoder": {"kind": "os.system"}}, "expected one of"),
    ({"encoder": {"kind": "vit", "width": 192, "heads": 0}}, "not those of its header"),
    ({"encoder": {"kind": "vit", "width": 8192, "heads": 8, "depth": 200}}, "its header"),
    ({"encoder": {"kind": "timm:../x"}}, "timm"),
    ({"encoder": {"kind": "torchvision:resnet18"}, "image_size": 8192}, "at most 1024"),
])  # fmt: skip
def test_a_header_from_a_stranger_builds_nothing_beyond_measure(here, changed, told, capsys):
    weights = read_tensors("c.safetensors")
    about = {key: one for key, one in (weights.about | changed).items() if one is not ...}
    write_tensors(Described(dict(weights), **about), "evil.safetensors")
    assert main(["predict", "evil.safetensors", "a.png"]) == 2
    said = capsys.readouterr().err
    assert told in said
    assert len(said) < 2000

"""The command line itself: help, words for what is refused, defaults that fit a set's size."""

import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from featlearn.command import main
from featlearn.command.flow import settings_of, workflow
from featlearn.core.errors import ConfigError
from featlearn.core.files import write_parquet
from featlearn.own_images.command import fitting, write_curves


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


def child(body):
    return [sys.executable, "-c", body]


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
    run = subprocess.Popen(child(given), stdout=subprocess.PIPE, text=True, start_new_session=True)
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


def histories(own):
    folder = own / "measurements" / "flowers"
    folder.mkdir(parents=True)
    rows = pd.DataFrame({"step": [2, 4], "epoch": [1.0, 2.0], "images": [8, 16],
                         "learning_rate": [0.1, 0.05], "loss": [1.5, 0.75]})  # fmt: skip
    write_parquet(rows.assign(data_set="flowers", replicate=0), folder / "pretraining-0.parquet")
    tuned = [rows.assign(loss=rows["loss"] * share, labels=int(8 * share)) for share in (1, 2)]
    write_parquet(pd.concat(tuned, ignore_index=True), folder / "finetuning-random-0.parquet")


def test_curves_are_written_by_tensorboards_own_writer(tmp_path):
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    histories(tmp_path / "own")
    for _ in range(2):  # a second time takes the place of the first
        names = write_curves(tmp_path / "own", tmp_path / "tensorboard")
    assert names == [
        "flowers/pretraining-0",
        "flowers/finetuning-random-0-8-labels",
        "flowers/finetuning-random-0-16-labels",
    ]
    seen = reader.EventAccumulator(str(tmp_path / "tensorboard" / names[2]))
    seen.Reload()
    assert sorted(seen.Tags()["scalars"]) == ["learning_rate", "loss"]
    assert [(one.step, one.value) for one in seen.Scalars("loss")] == [(2, 3.0), (4, 1.5)]

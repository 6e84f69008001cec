"""Full disks, folders that may not be written or vanish: nothing is left half written.

The faults are real ones: a small file system, a folder that is removed.
"""

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import write_parquet, write_tensors
from featlearn.core.run import workspace
from featlearn.core.run.job import Job
from featlearn.core.training.loops import Checkpoint, Checkpoints
from unit.test_job_frame import RESULTS, files_below, log_text, rule, staging_is_gone, workplace

__all__ = ["workplace"]  # a fixture that every test here uses


def noise():
    return np.random.default_rng(0).random(200_000)


def table(path):
    write_parquet(pd.DataFrame({"x": noise()}), path)


def fails(script, **given):
    with pytest.raises((SystemExit, Exception)), Job(rule(**given)) as job:
        script(job)


@pytest.fixture
def mount(workplace):
    places = []

    def do(place, *options):
        if os.geteuid():
            pytest.skip("only root may mount a file system")
        (workplace / place).mkdir(parents=True, exist_ok=True)
        words = ["mount", "-t", "tmpfs", "-o", ",".join(options), "test", str(workplace / place)]
        if subprocess.run(words, capture_output=True).returncode:
            pytest.skip("no file system can be mounted here")
        places.append(workplace / place)

    yield do
    for place in reversed(places):
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.parametrize(
    "write", [table, lambda path: write_tensors({"x": torch.from_numpy(noise())}, path)]
)
def test_a_full_disk_leaves_nothing_half_written(write, mount):
    mount("results", "size=256k")
    fails(lambda job: write(job.output.history))
    assert log_text().splitlines()[-1].startswith("error in rule mrp_train: ")
    assert "No space left" in log_text()
    assert files_below(RESULTS) == ["logs/train.log"]
    assert staging_is_gone()


def test_a_disk_that_is_too_full_for_a_log_stops_no_job(mount, capsys):
    mount("results", "size=64k")
    (RESULTS / "logs").mkdir(parents=True)
    filler = RESULTS / "filler"
    with open(filler, "wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 4096)

    def script(job):
        print("a word that no log can hold")
        table(job.output.history)

    fails(script)
    assert "a word that no log can hold" in capsys.readouterr().out
    filler.unlink()
    with Job(rule(outputs={"file": "results/smoke/file"})) as job:
        job.output.file.write_bytes(b"x")
    assert (RESULTS / "file").read_bytes() == b"x"


def test_a_checkpoint_that_fills_the_disk_leaves_the_one_before(mount):
    mount("kept", "size=256k")
    kept = Checkpoints("kept", {"run": 1})
    kept.save(Checkpoint(1, {"w": torch.ones(10_000)}, {}))
    with pytest.raises(FeatlearnError, match="cannot be written"):
        kept.save(Checkpoint(2, {"w": torch.ones(60_000)}, {}))
    assert kept.latest().step == 1
    assert len(list(Path("kept").iterdir())) == 2


def test_results_that_may_not_be_written_begin_no_job_and_no_run(mount):
    RESULTS.mkdir(parents=True)
    mount("results", "ro")
    fails(lambda job: pytest.fail("the job began"))
    with pytest.raises(FeatlearnError, match=r"results/smoke.*Read-only file system"):
        workspace.hold(RESULTS)


@pytest.mark.parametrize("gone", ["staging", "results"])
def test_a_vanished_folder_leaves_nothing(gone):
    def script(job):
        shutil.rmtree("results" if gone == "results" else job.output.history.parent)
        table(job.output.history)

    fails(script)
    assert not Path("results").exists() or files_below(RESULTS) == ["logs/train.log"]

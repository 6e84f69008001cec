"""Full disks, folders that may not be written or vanish, memory that does not suffice: in words.

Where the machine allows it the fault is a real one: a limit on the size of files, a small file
system of its own, a folder that is removed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import shutil
import signal
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from featlearn.core import machine_faults, run
from featlearn.core.checkpoint import Checkpoint, Checkpoints
from featlearn.core.errors import FeatlearnError
from featlearn.core.files import write_parquet, write_tensors
from featlearn.core.job import Job
from unit.test_job_frame import RESULTS, files_below, log_text, rule, staging_is_gone, workplace

__all__ = ["workplace"]  # a fixture that every test here uses

KIB = 1 << 10


def noise(count=200_000):
    return np.random.default_rng(0).random(count)


def text(path):
    path.write_bytes(noise().tobytes())


def table(path):
    write_parquet(pd.DataFrame({"x": noise()}), path)


def tensors(path):
    write_tensors({"x": torch.from_numpy(noise())}, path)


def picture(path):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 9))
    figure.add_axes((0, 0, 1, 1)).imshow(noise(160_000).reshape(400, 400))
    figure.savefig(path, format="png")


WRITERS = {"text": text, "table": table, "tensors": tensors, "picture": picture}


def fails(script, **given):
    """Run ``script(job)`` in a job that must fail in words; what it told."""
    with pytest.raises(SystemExit) as caught, Job(rule(**given)) as job:
        script(job)
    assert caught.value.code == 1
    return log_text() if Path("results/smoke/logs/train.log").is_file() else ""


def last(told):
    return told.splitlines()[-1]


@pytest.fixture
def small_files():
    """No file of this process may grow beyond 64 KiB."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 * KIB, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def mounted(place, *options):
    if os.geteuid():
        pytest.skip("only root may mount a file system")
    place.mkdir(parents=True, exist_ok=True)
    words = ["mount", "-t", "tmpfs", "-o", ",".join(options), "featlearn-test", str(place)]
    if subprocess.run(words, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")


@pytest.fixture
def mount(workplace):
    """Mounts small file systems; they are gone at the end."""
    places = []

    def do(place, *options):
        mounted(workplace / place, *options)
        places.append(workplace / place)

    yield do
    for place in reversed(places):
        subprocess.run(["umount", "--lazy", str(place)], check=True)


# ------------------------------------------------------------------------------- disks


@pytest.mark.usefixtures("small_files")
@pytest.mark.parametrize("kind", WRITERS)
def test_a_file_that_may_not_grow_is_told_with_its_rule(kind):
    told = fails(lambda job: WRITERS[kind](job.output.history))
    assert last(told).startswith("error in rule mrp_train: ")
    assert "history.parquet" in last(told)
    assert "ulimit -f" in last(told)
    assert "The same command again" in last(told)
    assert files_below(RESULTS) == ["logs/train.log"]
    assert staging_is_gone()


@pytest.mark.parametrize("kind", WRITERS)
def test_a_full_disk_is_told_with_its_rule_and_leaves_nothing_half_written(kind, mount):
    mount("results", "size=256k")
    told = fails(lambda job: WRITERS[kind](job.output.history))
    assert last(told).startswith("error in rule mrp_train: ")
    assert "no space is left" in last(told)
    assert "history.parquet" in last(told)
    assert files_below(RESULTS) == ["logs/train.log"]
    assert staging_is_gone()


def test_a_disk_that_is_full_before_the_log_has_a_word_is_told_on_the_terminal(mount, capsys):
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
    said = capsys.readouterr()
    assert "a word that no log can hold" in said.out
    assert "error in rule mrp_train: " in said.err
    assert "no space is left" in said.err
    assert "Traceback" not in said.err
    filler.unlink()
    with Job(rule(outputs={"file": "results/smoke/file"})) as job:
        job.output.file.write_bytes(b"x")
    assert (RESULTS / "file").read_bytes() == b"x"


def test_a_checkpoint_that_fills_the_disk_leaves_the_one_before(mount):
    mount("kept", "size=256k")
    kept = Checkpoints("kept", {"run": 1})
    kept.save(Checkpoint(1, {"w": torch.ones(10_000)}, {}))
    with pytest.raises(FeatlearnError, match=r"cannot be written .*free space"):
        kept.save(Checkpoint(2, {"w": torch.ones(60_000)}, {}))
    assert kept.latest().step == 1
    assert len(list(Path("kept").iterdir())) == 2


def test_results_that_may_not_be_written_are_told_by_job_and_run(mount, capsys):
    RESULTS.mkdir(parents=True)
    mount("results", "ro")
    fails(lambda job: pytest.fail("the job began"))
    said = capsys.readouterr().err
    assert "error in rule mrp_train: results/smoke" in said
    assert "read-only file system" in said
    assert "Traceback" not in said
    with pytest.raises(FeatlearnError, match=r"results/smoke.*read-only file system.*--directory"):
        run.hold(RESULTS)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_write_access_is_told(capsys):
    RESULTS.mkdir(parents=True)
    RESULTS.chmod(0o555)
    fails(lambda job: pytest.fail("the job began"))
    assert "permission denied" in capsys.readouterr().err


def test_a_vanished_folder_is_told(capsys):
    def script(job):
        shutil.rmtree(job.output.history.parent)
        table(job.output.history)

    told = fails(script)
    assert "the folder vanished while the job was at work" in last(told)
    assert ".staging/mrp_train-" in last(told)
    assert files_below(RESULTS) == ["logs/train.log"]


def test_results_that_vanish_while_a_job_works_are_told(capsys):
    def script(job):
        shutil.rmtree("results")

    fails(script)
    assert "error in rule mrp_train: " in capsys.readouterr().err
    assert not Path("results").exists()


# ------------------------------------------------------------------------------- memory


def test_memory_that_does_not_suffice_is_told():
    told = fails(lambda job: np.ones(1 << 50, dtype=np.uint8))
    assert "error in rule mrp_train: out of memory; the job had reached " in last(told)
    assert "--set-resources" in last(told)
    assert "_ArrayMemoryError" in told  # the place stands above


def test_memory_of_torch_that_does_not_suffice_is_told():
    told = fails(lambda job: torch.empty(1 << 50, dtype=torch.uint8))
    assert "error in rule mrp_train: out of memory" in last(told)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(errno.EDQUOT, "Quota", "a/b"), "a/b: no space is left"),
        (OSError(errno.EACCES, "no", "a/b"), "a/b: permission denied"),
        (OSError(errno.ESTALE, "stale", "a/b"), "a/b: the disk does not answer"),
        (RuntimeError("CUDA error: out of memory"), "out of memory"),
        (RuntimeError("I/O error: No space left on device (os error 28)"), "out: no space is left"),
    ],
)
def test_an_error_of_the_system_is_told_whoever_raised_it(error, told):
    assert machine_faults.explain(error, "out").startswith(told)
    wrapped = ValueError("cannot be saved")
    wrapped.__cause__ = error
    assert machine_faults.explain(wrapped, "out").startswith(told)


@pytest.mark.parametrize("error", [ValueError("no"), FileNotFoundError(2, "no", "x"), KeyError(28)])
def test_what_is_no_fault_of_the_machine_stays_as_it_is(error, tmp_path):
    assert machine_faults.explain(error, "out", tmp_path) is None


def test_a_job_ended_by_sigterm_has_the_status_of_a_terminated_program():
    with pytest.raises(SystemExit) as caught, Job(rule()):
        os.kill(os.getpid(), signal.SIGTERM)
    assert caught.value.code == 143
    assert last(log_text()) == (
        "error in rule mrp_train: ended by SIGTERM; started again, it goes on from its last "
        "checkpoint"
    )

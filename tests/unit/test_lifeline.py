"""A job whose run was killed or replaced ends by itself and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

from featlearn.core import lifeline, run
from featlearn.core.job import STAGING
from featlearn.core.provenance import SOURCE_ROOT

JOB = """
    import sys, time
    from pathlib import Path
    from featlearn.core.lifeline import follow

    results = Path(sys.argv[1])
    staging = results / ".staging" / "a-job"
    staging.mkdir(parents=True)
    follow(results, staging)
    print("at work", flush=True)
    time.sleep(300)
"""


@pytest.fixture(autouse=True)
def surroundings(monkeypatch):
    monkeypatch.setattr(run, "_held", {})  # what one test holds is not held in the next
    for name in (lifeline.RUN, lifeline.RUN_PROCESS):
        monkeypatch.delenv(name, raising=False)


def test_only_a_later_run_replaces_the_own_one(tmp_path, monkeypatch):
    assert not lifeline.is_replaced(tmp_path)  # outside of any run
    monkeypatch.setenv(lifeline.RUN, "own")
    assert not lifeline.is_replaced(tmp_path)  # nothing was started here
    (tmp_path / lifeline.LAST_RUN).write_text("own\n")
    assert not lifeline.is_replaced(tmp_path)
    (tmp_path / lifeline.LAST_RUN).write_text("")  # being written, on a slow disk
    assert not lifeline.is_replaced(tmp_path)
    (tmp_path / lifeline.LAST_RUN).write_text("later\n")
    assert lifeline.is_replaced(tmp_path)


def test_the_start_of_a_job_on_another_machine_takes_nothing_over(tmp_path, monkeypatch):
    for name in ("PYTHONPATH", lifeline.RUN, lifeline.RUN_PROCESS):
        monkeypatch.setenv(name, "as it was")
    run.announce(tmp_path, is_main=False)
    assert os.environ[lifeline.RUN] == "as it was"
    run.announce(tmp_path, is_main=True)
    assert os.environ[lifeline.RUN] != "as it was"


def test_a_run_that_starts_sweeps_what_jobs_on_other_machines_left(tmp_path, monkeypatch):
    monkeypatch.setenv(lifeline.RUN, "new")
    (tmp_path / STAGING / "rule-elsewhere-1").mkdir(parents=True)
    run.hold(tmp_path)
    assert list((tmp_path / STAGING).iterdir()) == []
    assert not lifeline.is_replaced(tmp_path)
    monkeypatch.setenv(lifeline.RUN, "old")
    assert lifeline.is_replaced(tmp_path)


def test_a_replaced_job_ends_and_takes_its_staging_folder_along(tmp_path):
    (tmp_path / lifeline.LAST_RUN).write_text("own\n")
    variables = {**os.environ, lifeline.RUN: "own", "PYTHONPATH": str(SOURCE_ROOT)}
    job = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(JOB), str(tmp_path)],
        env=variables,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert job.stdout is not None
        assert job.stdout.readline() == "at work\n"
        assert job.poll() is None
        (tmp_path / lifeline.LAST_RUN).write_text("later\n")
        assert job.wait(60) == 1
    finally:
        job.kill()
        job.wait()
    assert list((tmp_path / ".staging").iterdir()) == []

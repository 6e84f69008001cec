"""How several processes are started: on one machine, and over the nodes of a Slurm job."""

from __future__ import annotations

import sys

import pytest

from featlearn.core.errors import FeatlearnError
from featlearn.images import together
from featlearn.images.together import Layout, command, run_together


def test_on_one_machine_torchrun_alone_starts_all():
    words = command("json.tool", ["x.json"], Layout(4), {"SLURM_JOB_ID": "7"})
    assert words[0] == sys.executable
    assert {"--nnodes=1", "--nproc-per-node=4"} <= set(words)
    assert words[-3:] == ["-m", "json.tool", "x.json"]


def test_on_several_nodes_srun_starts_a_torchrun_on_each(monkeypatch):
    monkeypatch.setattr(together.shutil, "which", lambda name: f"/usr/bin/{name}")
    found = command("m", [], Layout(8, 2), {"SLURM_JOB_ID": "7", "OMP_NUM_THREADS": "3"})
    assert found[0] == "srun"
    wanted = {"--nodes=2", "--ntasks=2", "--ntasks-per-node=1", "--cpus-per-task=12"}
    assert wanted | {"--nnodes=2", "--nproc-per-node=4", "--rdzv-id=7"} <= set(found)


def test_several_nodes_need_a_job_of_slurm():
    with pytest.raises(FeatlearnError, match=r"2 nodes needs a job of Slurm.*profiles/slurm"):
        command("m", [], Layout(2, 2), {})


def test_a_process_that_fails_fails_the_training(tmp_path):
    with pytest.raises(FeatlearnError, match="in 1 processes failed"):
        run_together("json.tool", [str(tmp_path / "missing.json")], Layout(1))

"""Two processes on the CPU train as one process on the same batches does."""

import os
import subprocess
import sys
import textwrap
from itertools import product
from pathlib import Path

import pytest
import torch

from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.core.files import read_parquet, read_tensors
from featlearn.core.run.provenance import SOURCE_ROOT
from featlearn.images.train import launch
from featlearn.images.train.distributed import Processes
from featlearn.images.train.launch import Layout, command, run_together
from featlearn.images.train.loop import _check_smallest
from featlearn.images.train.plan import Plan, Training
from unit.tiny_training import TinyClassifier, train

#: Batches of 8, the last one of 5: two images in one process and three in the other.
CASES = {
    "plain": {"norm": False},
    "accumulated": {"norm": False, "accumulate": 2, "clip": 0.5},
    "sgd": {"norm": False, "optimiser": "sgd"},
    # SGD: a bias before a batch norm has no gradient but rounding, which AdamW would blow up
    "batch_norm": {"norm": True, "sync_batch_norm": True, "optimiser": "sgd"},
    "batch_norm_of_rows": {"norm": "rows", "sync_batch_norm": True, "optimiser": "sgd"},
    "own_batch_norm": {"norm": True, "optimiser": "sgd"},
}

PROGRAM = """
    import os, signal, sys
    sys.path[:0] = {path!r}
    import torch
    from unit.test_data_parallel import CASES
    from unit.tiny_training import TinyClassifier, train
    from featlearn.core.files import write_parquet, write_tensors
    from featlearn.images.train.distributed import joined

    torch.use_deterministic_algorithms(True)

    def run(name, out, folder=None, report=None):
        settings = dict(CASES[name])
        # the second process starts from other weights: those of the first one count
        model = TinyClassifier(settings.pop("norm"), dropout=0, seed=processes.rank)
        history, _ = train(model, folder=folder, report=report, **settings)
        if processes.first:
            write_parquet(history, f"{{out}}.parquet")
            write_tensors(model.state_dict(), f"{{out}}.safetensors")
        else:
            write_tensors(model.state_dict(), f"{{out}}.second.safetensors")

    with joined(torch.device("cpu")) as (processes, _):
        for name in CASES:
            run(name, f"{folder}/{{name}}")

        # the second process is told to end: both leave at one step, and go on from there
        def told(step, see):
            if step == 5 and not processes.first:
                os.kill(os.getpid(), signal.SIGTERM)

        def end(*_):
            raise SystemExit

        signal.signal(signal.SIGTERM, end)
        # only the first process can see the checkpoints
        kept = f"{folder}/kept-{{processes.rank}}"
        try:
            run("own_batch_norm", f"{folder}/interrupted", kept, told)
        except SystemExit:
            run("own_batch_norm", f"{folder}/resumed", kept)
"""


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("processes")
    path = [str(Path(__file__).resolve().parents[1]), str(SOURCE_ROOT)]
    program = folder / "program.py"
    program.write_text(textwrap.dedent(PROGRAM.format(path=path, folder=folder)))
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2"]
    # a store on a free port of this machine, so that runs beside this one do not meet it
    place = ["--rdzv-backend=c10d", "--rdzv-endpoint=127.0.0.1:0", "--local-addr=127.0.0.1"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    done = subprocess.run(
        [*launcher, *place, str(program)], env=environment, capture_output=True, text=True,
        timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


@pytest.mark.long
@pytest.mark.parametrize(
    "case", ["plain", "accumulated", "sgd", "batch_norm", "batch_norm_of_rows"]
)
def test_losses_and_weights_are_those_of_one_process(case, trained):
    settings = dict(CASES[case])
    history, model = train(TinyClassifier(norm=settings.pop("norm"), dropout=0), **settings)
    found = read_parquet(trained / f"{case}.parquet")
    assert list(found) == list(history)
    torch.testing.assert_close(found.to_numpy(), history.to_numpy(), rtol=1e-4, atol=1e-5)
    weights = read_tensors(trained / f"{case}.safetensors")
    second = read_tensors(trained / f"{case}.second.safetensors")
    for name, value in model.state_dict().items():
        torch.testing.assert_close(weights[name], value, rtol=1e-3, atol=1e-4)
        assert torch.equal(weights[name], second[name])


@pytest.mark.long
def test_processes_leave_together_and_go_on_to_the_same_bytes(trained):
    assert not (trained / "interrupted.parquet").exists()
    for kind in ("parquet", "safetensors"):
        resumed = (trained / f"resumed.{kind}").read_bytes()
        assert resumed == (trained / f"own_batch_norm.{kind}").read_bytes()
    assert list((trained / "kept-0").iterdir())
    assert not (trained / "kept-1").exists()


@pytest.mark.parametrize("size", range(1, 12))
@pytest.mark.parametrize(("count", "parts"), [(1, 1), (2, 1), (3, 2)])
def test_rows_of_all_parts_make_the_batch(size, count, parts):
    rows = []
    for rank, part in product(range(count), range(parts)):
        own = Processes(rank, count).rows(size, part, parts)
        assert own.start % 2 == 0  # neighbours that are mixed stay together
        rows += range(size)[own]
    assert rows == list(range(size))


def test_a_batch_with_fewer_images_than_processes_is_refused():
    plan = Plan(Training(batch_size=8, learning_rate=1, epochs=1), 25)
    with pytest.raises(
        ConfigError, match="smallest batch has 1, expected at least 3 for 2 processes"
    ):
        _check_smallest(plan, Processes(0, 2))


def test_a_launch_is_torchrun_and_on_several_nodes_srun_in_a_job_of_slurm(monkeypatch):
    words = command("json.tool", ["x.json"], Layout(4), {"SLURM_JOB_ID": "7"})
    assert words[0] == sys.executable
    assert {"--nnodes=1", "--nproc-per-node=4"} <= set(words)
    assert words[-3:] == ["-m", "json.tool", "x.json"]
    with pytest.raises(FeatlearnError, match=r"2 nodes needs a job of Slurm.*profiles/slurm"):
        command("m", [], Layout(2, 2), {})
    monkeypatch.setattr(launch.shutil, "which", lambda name: f"/usr/bin/{name}")
    found = command("m", [], Layout(8, 2), {"SLURM_JOB_ID": "7", "OMP_NUM_THREADS": "3"})
    assert found[0] == "srun"
    wanted = {"--nodes=2", "--ntasks=2", "--ntasks-per-node=1", "--cpus-per-task=12"}
    assert wanted | {"--nnodes=2", "--nproc-per-node=4", "--rdzv-id=7"} <= set(found)


@pytest.mark.long
def test_a_process_that_fails_fails_the_training(tmp_path):
    with pytest.raises(FeatlearnError, match="in 1 processes failed"):
        run_together("json.tool", [str(tmp_path / "missing.json")], Layout(1))

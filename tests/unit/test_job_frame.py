"""The frame around every script, driven without Snakemake's scheduler."""

import importlib
import importlib.metadata
import importlib.util
import os
import platform
import random
import signal
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import seaborn
import torch
from snakemake.iocontainers import Namedlist

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import digest
from featlearn.core.run import provenance
from featlearn.core.run.job import THREAD_VARIABLES, Job
from featlearn.core.run.warm import RUN_PROCESS
from featlearn.core.training.devices import prepare

RESULTS = Path("results/smoke")


def named_list(files: dict | list) -> Namedlist:
    """As Snakemake makes it: a list under one name is spread, its name covers all of it."""
    made = Namedlist()
    if isinstance(files, list):
        made.extend(files)
        return made
    for name, value in files.items():
        start = len(made)
        if isinstance(value, list):
            made.extend(value)
            made._set_name(name, start, end=len(made))
        else:
            made.append(value)
            made._set_name(name, start)
    return made


def rule(inputs=None, outputs=None, log="results/smoke/logs/train.log", **params):
    if outputs is None:
        outputs = {
            "history": "results/smoke/mrp/history.parquet",
            "kernels": "results/smoke/mrp/w.safetensors",
        }
    return SimpleNamespace(
        rule="mrp_train",
        input=named_list(inputs or {}),
        output=named_list(outputs),
        log=named_list([log] if log else []),
        params=Namedlist(fromdict={"code": "0123abcd", "threads": 1, **params}),
        wildcards=Namedlist(fromdict={"replicate": "3"}),
        config={"results": str(RESULTS)},
        threads=7,  # what the scheduler granted: must not matter
    )


@pytest.fixture(autouse=True)
def workplace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(RUN_PROCESS, raising=False)
    for variable in (*THREAD_VARIABLES, "CUBLAS_WORKSPACE_CONFIG"):
        monkeypatch.setenv(variable, "0")  # so that it is restored at the end
    handler = signal.getsignal(signal.SIGTERM)
    streams = sys.stdout, sys.stderr
    yield tmp_path
    signal.signal(signal.SIGTERM, handler)
    sys.stdout, sys.stderr = streams


def files_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def staging_is_gone() -> bool:
    staging = RESULTS / ".staging"
    return not staging.exists() or not any(staging.iterdir())


def made_input(name="mrp/data.parquet", content=b"data " * 20) -> Path:
    path = RESULTS / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    status = path.stat()
    record = {"bytes": status.st_size, "mtime_ns": status.st_mtime_ns, "sha256": digest(path)}
    provenance.write_record(RESULTS, path, record)
    return path


def log_text() -> str:
    return (RESULTS / "logs/train.log").read_text(encoding="utf-8")


def test_outputs_get_their_names_only_when_the_job_ends_well():
    with Job(rule()) as job:
        job.output.history.write_bytes(b"history")
        job.output.kernels.write_bytes(b"kernels")
        assert job.output.history.suffix == ".parquet"
        assert not (RESULTS / "mrp").exists()
    assert (RESULTS / "mrp/history.parquet").read_bytes() == b"history"
    assert (RESULTS / "mrp/w.safetensors").read_bytes() == b"kernels"
    assert staging_is_gone()
    assert files_below(RESULTS) == [
        "logs/train.log", "mrp/history.parquet", "mrp/w.safetensors",
        "provenance/mrp/history.parquet.json", "provenance/mrp/w.safetensors.json",
    ]  # fmt: skip


def test_an_output_replaces_the_one_of_an_earlier_run_if_the_job_ends_well():
    for content in (b"old and longer", b"new"):
        with Job(rule(outputs={"file": "results/smoke/file"})) as job:
            job.output.file.write_bytes(content)
    assert (RESULTS / "file").read_bytes() == b"new"

    def script(job):
        job.output.file.write_bytes(b"half")
        raise ValueError("half way")

    again = rule(outputs={"file": "results/smoke/file"})
    with pytest.raises(ValueError, match="half way"), Job(again) as job:
        script(job)
    assert (RESULTS / "file").read_bytes() == b"new"
    assert provenance.damaged_artefacts(RESULTS) == {}


def test_a_record_says_what_an_artefact_was_made_from():
    source = made_input()
    outside = Path("picture.png")
    outside.write_bytes(b"picture")
    inputs = {"data": str(source), "picture": str(outside)}
    config = {"theta": 0.5, "data": {"classes": 4}}
    with Job(rule(inputs, config=config, seed=5, contains="trained")) as job:
        job.output.history.write_bytes(b"history")
        job.output.kernels.write_bytes(b"kernels!")
    path = RESULTS / "mrp/w.safetensors"
    record = provenance.read_record(RESULTS, path)
    wanted = {
        "artefact": "mrp/w.safetensors", "bytes": 8, "sha256": digest(path), "rule": "mrp_train",
        "mtime_ns": path.stat().st_mtime_ns, "code": "0123abcd", "config": config, "seed": 5,
        "contains": "trained", "threads": 1, "inputs": {str(source): digest(source)},
    }  # fmt: skip
    assert {name: record[name] for name in wanted} == wanted
    assert record["versions"]["torch"].startswith(importlib.metadata.version("torch"))
    assert record["versions"]["python"] == platform.python_version()
    assert provenance.damage(path, record, thorough=True) is None


def test_a_kill_between_record_and_rename_is_found(monkeypatch):
    """The old file then stands under the new record: a mismatch, which is rebuilt."""
    target = RESULTS / "file"
    with Job(rule(outputs={"file": str(target)})) as job:
        job.output.file.write_bytes(b"of the first run")
    rename = os.replace

    def killed(source, destination):
        if Path(destination) == target:
            raise KeyboardInterrupt
        rename(source, destination)

    monkeypatch.setattr("featlearn.core.run.job.os.replace", killed)
    with pytest.raises(KeyboardInterrupt), Job(rule(outputs={"file": str(target)})) as job:
        job.output.file.write_bytes(b"of the second")
    assert target.read_bytes() == b"of the first run"
    assert list(provenance.damaged_artefacts(RESULTS)) == [target]


def test_inputs_and_outputs_are_found_by_name_by_number_and_in_order():
    inputs = {"data": "a.parquet", "runs": ["b.parquet", "c.parquet"]}
    for name in ("a", "b", "c"):
        Path(f"{name}.parquet").write_bytes(b"x")
    job = Job(rule(inputs))
    assert job.input.data == Path("a.parquet")
    assert job.input[1] == Path("b.parquet")
    assert list(job.input) == [Path("a.parquet"), Path("b.parquet"), Path("c.parquet")]
    assert job.files("runs") == [Path("b.parquet"), Path("c.parquet")]
    assert len(job.output) == 2
    assert job.output[1] == job.output.kernels
    twice = Job(rule({"data": "a.parquet", "background": "a.parquet"}))
    assert twice.input.data == twice.input.background == Path("a.parquet")


@pytest.mark.usefixtures("torch_settings")
def test_threads_come_from_the_config_not_from_the_scheduler():
    with Job(rule(outputs={}, threads=3)) as job:
        assert {os.environ[variable] for variable in THREAD_VARIABLES} == {"3"}
        assert prepare("cpu", job.threads) == torch.device("cpu")
        assert torch.get_num_threads() == 3
        assert torch.are_deterministic_algorithms_enabled()
        assert (torch.tensor(1e-30) * 1e-10).item() == 0  # denormal in float32: slow, so flushed


@pytest.fixture
def torch_settings():
    threads = torch.get_num_threads()
    deterministic = torch.are_deterministic_algorithms_enabled()
    places = (torch.backends.cuda.matmul, torch.backends.cudnn.conv)
    before = [place.fp32_precision for place in places]
    yield
    for place, old in zip(places, before, strict=True):
        place.fp32_precision = old  # torch.export refuses one of convolutions alone
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(deterministic)
    torch.set_flush_denormal(False)  # Hypothesis refuses to run where small numbers are lost


@pytest.mark.usefixtures("torch_settings")
def test_the_device_follows_what_there_is(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert prepare("auto").type == prepare("cuda").type == "cuda"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert prepare("auto").type == "cpu"
    with pytest.raises(FeatlearnError, match="device: cuda was asked for"):
        prepare("cuda")


def test_a_forgotten_output_is_named_and_the_others_do_not_appear(capsys):
    with pytest.raises(SystemExit), Job(rule()) as job:
        job.output.history.write_bytes(b"history")
    assert files_below(RESULTS) == ["logs/train.log"]
    assert staging_is_gone()
    for text in (capsys.readouterr().err, log_text()):
        assert "results/smoke/mrp/w.safetensors" in text
        assert "history.parquet" not in text


def test_sigterm_ends_a_job_like_an_error():
    before = sys.stdout, sys.stderr
    # were the job deaf to it, the signal would end pytest itself
    signal.signal(signal.SIGTERM, lambda *_: pytest.fail("the job does not listen to SIGTERM"))

    def script(job):
        job.output.history.write_bytes(b"half")
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)  # is interrupted

    with pytest.raises(SystemExit) as caught, Job(rule()) as job:
        script(job)
    assert caught.value.code == 143
    assert files_below(RESULTS) == ["logs/train.log"]
    assert "SIGTERM" in log_text()
    assert staging_is_gone()
    assert (sys.stdout, sys.stderr) == before


def test_what_a_job_can_go_on_from_outlives_a_failure_and_goes_with_the_commit():
    def script(job):
        (job.checkpoints / "step-5").write_text("half way")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), Job(rule(outputs={"file": "results/smoke/file"})) as job:
        script(job)
    assert len(files_below(RESULTS / ".checkpoints")) == 1
    with Job(rule(outputs={"file": "results/smoke/file"})) as job:
        assert (job.checkpoints / "step-5").read_text() == "half way"
        job.output.file.write_bytes(b"x")
    assert files_below(RESULTS / ".checkpoints") == []


@pytest.mark.parametrize("change", [{"config": {"rate": 2}}, {"seed": 1}, {"code": "ffff"}])
def test_a_job_of_another_config_seed_or_code_does_not_go_on_from_it(change):
    def place(**params):
        with pytest.raises(KeyError), Job(rule(outputs={"file": "results/smoke/a"}, **params)) as j:
            raise KeyError(str(j.checkpoints))
        return j.checkpoints

    before = place(config={"rate": 1}, seed=0)
    assert place(config={"rate": 1}, seed=0) == before
    assert place(**{"config": {"rate": 1}, "seed": 0, **change}) != before


def test_jobs_of_other_inputs_or_outputs_keep_theirs_apart():
    places = {Job(rule(outputs={"file": f"results/smoke/{name}"})).checkpoints for name in "ab"}
    for content in (b"one", b"two"):
        given = rule({"data": str(made_input(content=content))}, outputs={"file": f"{RESULTS}/a"})
        with pytest.raises(KeyError), Job(given) as job:
            raise KeyError(places.add(job.checkpoints))
    assert len(places) == 4


@pytest.mark.parametrize("kind", ["function", "exhibits"])
@pytest.mark.parametrize("draw", [
    lambda: torch.rand(1),
    np.random.default_rng,
    # its interval is one of a bootstrap
    lambda: seaborn.lineplot(pd.DataFrame({"x": [1, 1], "y": [0.0, 1.0]}), x="x", y="y"),
])  # fmt: skip
def test_numbers_without_a_seed_are_refused(draw, kind):
    with pytest.raises(SystemExit), Job(rule(**{kind: "a:b"})) as job:  # noqa: PT012
        draw()
        for path in job.output:
            path.write_bytes(b"x")
    assert "random numbers must come from a stream of job.seed" in log_text()
    assert not list(RESULTS.rglob("*.parquet"))
    np.random.default_rng()  # as elsewhere


def test_numpys_generator_is_refused_where_it_measures_and_has_a_seed_where_it_draws():
    with pytest.raises(SystemExit), Job(rule(function="a:b")) as job:  # noqa: PT012
        np.random.rand()  # noqa: NPY002
        for path in job.output:
            path.write_bytes(b"x")
    seen = []
    for _ in range(2):
        with Job(rule(exhibits=[1])) as job:
            seen.append((np.random.rand(), random.random()))  # noqa: NPY002
            for path in job.output:
                path.write_bytes(b"x")
    assert seen[0] == seen[1]

"""Where a computation runs follows from the config alone; what can be seen of it without a GPU."""

import subprocess
import sys
import tempfile
from types import SimpleNamespace

import pytest
import torch

from featlearn.core import devices
from featlearn.core.devices import prepare
from unit.test_job_frame import torch_settings

__all__ = ["torch_settings"]


def test_each_process_takes_a_gpu_that_no_other_holds(tmp_path):
    names = ["GPU-a", "GPU-b", "GPU-c"]
    assert devices.take(names, folder=tmp_path) == 0
    code = (
        "import sys, time; from pathlib import Path; from featlearn.core import devices; "
        "print(devices.take(sys.argv[2:], folder=Path(sys.argv[1])), flush=True); time.sleep(600)"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path), *names], stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout.readline() == "1\n"
        # a scheduler shows a job its own GPU only
        assert devices.take(["GPU-c"], folder=tmp_path) == 0
        assert devices.take(names, otherwise=4, folder=tmp_path) == 1, "all are held: they share"
    finally:
        other.kill()
        other.wait()
    assert devices.take(names, folder=tmp_path) == 1, "what a killed process held is free"
    devices.release()
    assert devices.take(names, folder=tmp_path) == 0
    devices.release()


def test_one_of_several_gpus_becomes_the_current_one(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    current = []
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda index: SimpleNamespace(uuid=f"GPU-{index}")
    )
    monkeypatch.setattr(torch.cuda, "set_device", current.append)
    try:
        taken = [devices.free_device() for _ in range(2)]
    finally:
        devices.release()
    assert taken == current == [torch.device("cuda", 0), torch.device("cuda", 1)]


@pytest.mark.usefixtures("torch_settings")
def test_repeatable_kernels_can_be_given_up(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.backends.cudnn, "benchmark", False)
    assert prepare("cuda-nondeterministic").type == "cuda"
    assert not torch.are_deterministic_algorithms_enabled()
    assert torch.backends.cudnn.benchmark
    assert prepare("cuda").type == "cuda"
    assert torch.are_deterministic_algorithms_enabled()
    assert not torch.backends.cudnn.benchmark


@pytest.mark.usefixtures("torch_settings")
def test_float32_is_float32_on_cuda_too():
    places = (torch.backends.cuda.matmul, torch.backends.cudnn.conv)
    before = [place.fp32_precision for place in places]
    try:
        for place in places:
            place.fp32_precision = "tf32"
        prepare("cpu")
        assert [place.fp32_precision for place in places] == ["ieee", "ieee"]
    finally:
        for place, old in zip(places, before, strict=True):
            place.fp32_precision = old

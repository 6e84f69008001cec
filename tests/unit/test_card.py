"""The device of a job; and what was found to fail on CUDA, on a card that is none: ``card``."""

import subprocess
import sys
import tempfile
from types import SimpleNamespace

import pytest
import torch
from torch.nn import functional

from featlearn.contrastive.measure import quantity_frame
from featlearn.core.training import devices
from featlearn.core.training.devices import prepare
from featlearn.core.training.losses import cross_entropies
from featlearn.emergence.closed_forms import classical_map
from featlearn.emergence.data import Law
from featlearn.emergence.model import medians
from featlearn.emergence.train import class_weights, gathered
from featlearn.gemfilter.needles import Vocabulary
from featlearn.gemfilter.stands import _of_tokens
from featlearn.images.probes import average_precision
from featlearn.mrp.closed_forms import teacher_student_growth
from unit.card import CARD, card
from unit.test_job_frame import torch_settings


def on_both(function, *tensors):
    here = function(*tensors)
    with card():
        there = function(*(tensor.to(CARD) for tensor in tensors))
        assert there.device == CARD
        return here, there.cpu()


def test_losses_and_precisions_are_those_of_pytorch_on_both_devices():
    scores, labels = torch.randn(3, 5, 4), torch.randint(4, (3, 5))
    here, there = on_both(cross_entropies, scores, labels)
    wanted = functional.cross_entropy(scores.movedim(2, 1), labels, reduction="none")
    assert torch.equal(here, wanted)
    torch.testing.assert_close(there, wanted)
    scores = torch.tensor([[0.9], [0.8], [0.8], [0.1]])
    labels = torch.tensor([[1], [0], [1], [1]])
    # thresholds 0.9, 0.8, 0.1: precision 1, 2/3, 3/4, a third of the recall each
    for found in on_both(average_precision, scores, labels):
        torch.testing.assert_close(found, torch.tensor([(1 + 2 / 3 + 3 / 4) / 3]).double())


@pytest.mark.parametrize("count", [1, 4, 7])
def test_medians_are_those_of_pytorch_on_both_devices(count):
    values = torch.randn(3, count)
    values[1, 0] = torch.nan
    for found in on_both(medians, values):
        torch.testing.assert_close(found, values.median(1).values, equal_nan=True, rtol=0, atol=0)


def test_functions_give_on_the_card_what_they_give_here():
    points = functional.normalize(torch.randn(6, 3, dtype=torch.float64), dim=1)
    on_both(classical_map, points @ points.T)
    law = Law("parity", 8, 3)
    here, there = on_both(lambda y: class_weights(law, y), torch.tensor([[-1.0, 1.0]]))
    assert torch.equal(here, there)
    strength = torch.rand(2, 4, 3)
    owner = torch.randint(-1, 5, (2, 4, 3))

    def growth(strength, owner):
        samples = SimpleNamespace(owner=owner, strength=strength)
        return teacher_student_growth(samples, 5, 3, 0.5, 2.0)

    here, there = on_both(growth, strength, owner)
    torch.testing.assert_close(there, here)
    with card():
        seen = {"norm": torch.ones(2).to(CARD), "share": torch.zeros(2)}
        frame = quantity_frame(seen, arm="masked")
    assert frame["value"].tolist() == [1, 1, 0, 0]
    values, index = torch.arange(12.0).view(2, 3, 2), torch.tensor([[2, 0], [1, 1]])
    with card():
        found = gathered(values.to(CARD), index).cpu()
    assert torch.equal(found, gathered(values, index))
    assert found.tolist() == [[[4, 5], [0, 1]], [[8, 9], [8, 9]]]


def test_prompts_lie_where_the_network_does_and_answers_are_judged_on_the_processor():
    words = Vocabulary(keys=8, values=16, fillers=8)
    streams = [torch.Generator().manual_seed(seed) for seed in range(2)]
    with card():
        asked = _of_tokens(words, 3, CARD, 64, 0.5, streams)
        assert asked.tokens.device == CARD
        said = asked.tokens[:, -3:]
        share, exact = asked.score(said)
    assert share.device.type == exact.device.type == "cpu"


__all__ = ["torch_settings"]


def test_each_process_takes_a_gpu_that_no_other_holds(tmp_path):
    names = ["GPU-a", "GPU-b", "GPU-c"]
    assert devices.take(names, folder=tmp_path) == 0
    code = (
        "import sys, time; from pathlib import Path; from featlearn.core.training import devices; "
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
    for place in places:
        place.fp32_precision = "tf32"
    prepare("cpu")
    assert [place.fp32_precision for place in places] == ["ieee", "ieee"]

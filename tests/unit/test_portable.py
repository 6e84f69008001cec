"""``portable: true``: its config, its variables, and what a job refuses."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from featlearn.core import portable
from featlearn.core.config import load
from featlearn.core.errors import ConfigError, FeatlearnError

ROOT = Path(__file__).resolve().parents[2]


def test_a_portable_run_has_a_folder_of_its_own_and_compiles_nothing():
    config = load({"scale": "smoke", "portable": True}, ROOT)
    assert (config["results"], config["compile"]) == ("results/smoke-portable", "never")
    named = load({"scale": "smoke", "portable": True, "run": "mine"}, ROOT)
    assert named["results"] == "results/mine"
    assert load({"scale": "smoke"}, ROOT)["portable"] is False


@pytest.mark.parametrize(("change", "told"), [
    ({"threads": 2}, "threads: 2; expected 1"),
    ({"device": "auto"}, "device: 'auto'; expected 'cpu'"),
    ({"compile": "always"}, "compile: 'always'; expected auto or never"),
])  # fmt: skip
def test_what_contradicts_it_is_refused_by_name(change, told):
    with pytest.raises(ConfigError, match=told):
        load({"scale": "smoke", "portable": True, **change}, ROOT)


def test_a_portable_run_is_pinned_and_a_compiled_training_found_wherever_it_stands():
    config = {"portable": True, "device": "cpu", "threads": 1, "compile": "auto",
              "images": {"cases": [{"training": {"compile": True}}]}}  # fmt: skip
    (fault,) = portable.faults(config)
    assert fault.startswith("images.cases[0].training.compile: True")
    assert not list(portable.faults(config | {"portable": False}))
    environment: dict[str, str] = {}
    portable.pin(environment)
    portable.check(environment)
    environment["MKL_CBWR"] = "AVX2"
    with pytest.raises(FeatlearnError, match=r"MKL_CBWR is .AVX2.*COMPATIBLE"):
        portable.check(environment)


#: A job, of a rule that asks for a device and of one that asks for none.
BEGUN = {
    "device": "from featlearn.core.devices import prepare; prepare('cpu', 1)",
    "none": "from kinds import framed; framed().__enter__()",
}
FUNCTIONS = """
import numpy as np, torch
x = torch.linspace(0.01, 0.99, 40_000)
for own in (x, x.double(), x.view(200, 200).T):
    wanted = np.sqrt(own.numpy())
    assert np.array_equal(own.sqrt().numpy(), wanted)
    assert np.array_equal((own**0.5).numpy(), wanted)
    assert np.array_equal(own.clone().sqrt_().numpy(), wanted)
    assert np.array_equal(torch.sqrt(own, out=torch.empty(0, dtype=own.dtype)).numpy(), wanted)
    assert np.array_equal(torch._foreach_sqrt([own])[0].numpy(), wanted)
few = x[::4_000].double().requires_grad_()
for function in (torch.sqrt, torch.log, torch.tan, torch.asin, torch.logit, torch.erfinv,
                 lambda t: t**0.5, lambda t: t**1.5, lambda t: t**2, lambda t: t**-1):
    assert torch.autograd.gradcheck(function, (few,))
assert torch.arange(4).sqrt().dtype == torch.float32
assert torch.arange(4).square().equal(torch.arange(4) ** 2)
assert x.half().sqrt().dtype == torch.float16
assert torch.func.vmap(torch.log)(x.view(200, 200)).equal(x.view(200, 200).log())
image = x.view(20, 20, 10, 10).contiguous(memory_format=torch.channels_last)
assert image.sqrt().is_contiguous(memory_format=torch.channels_last)
"""


@pytest.mark.parametrize("begun", BEGUN.values(), ids=BEGUN)
def test_functions_are_numpys_in_every_form_and_have_their_gradients(begun, tmp_path):
    environment = dict(os.environ)
    portable.pin(environment)
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests/emulated")])
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", begun + FUNCTIONS], cwd=tmp_path,
        env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr

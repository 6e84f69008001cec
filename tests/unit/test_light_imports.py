"""What a light job must not import, and what can be loaded: analyses, benchmarks."""

import re
import subprocess
import sys
from importlib import import_module

import pytest

from unit import ROOT

HEAVY = {
    "PIL", "matplotlib", "scipy", "sklearn", "sympy", "torch._dynamo", "torch._inductor",
    "torchmetrics", "torchvision",
}  # fmt: skip
#: A short pre-training, two steps of fine-tuning, a probe.
TRAINING = f"""
from pathlib import Path
from featlearn.core.run.config import load
from featlearn.core.training.devices import prepare
from featlearn.mrp.images.downstream import evaluate
from featlearn.mrp.images.experiment import PictureExperiment

config = load({{"scale": "smoke"}}, Path({str(ROOT)!r}))["images"]
experiment = PictureExperiment("images", config, 0, 0, prepare("cpu"))
trained, _ = experiment.pretrain("simmim", config["pretraining"]["simmim"])
evaluate(experiment, "cnn", trained.state_dict(), config["comparison"])
"""


def loaded(code: str) -> set[str]:
    code += "\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return HEAVY & set(done.stdout.split())


def test_a_training_on_pictures_imports_nothing_that_it_does_not_need():
    assert loaded(TRAINING) == set()


def test_no_module_of_figures_tables_and_claims_imports_torch():
    root = ROOT / "src"
    files = sorted([*root.glob("featlearn/*/analysis/*.py"), *root.glob("featlearn/*/analysis.py")])
    assert len(files) > 60
    names = [".".join(file.relative_to(root).with_suffix("").parts) for file in files]
    code = "".join(f"import {name}\n" for name in names)
    loaded(f"{code}import sys\nassert 'torch' not in sys.modules")


def test_a_second_plan_looks_for_named_weights_without_torch(tmp_path):
    (tmp_path / "resnet50-0676ba61.pth").touch()
    code = f"""
from pathlib import Path
from featlearn.core.run import notes
from featlearn.images.config_data import find_weights

notes.open_notes(Path({str(tmp_path / "notes.json")!r}))
find_weights("torchvision:ResNet50_Weights.IMAGENET1K_V1", {str(tmp_path)!r})
notes.keep_notes()
"""
    assert "torchvision" in loaded(code)
    loaded(f"{code}import sys\nassert 'torch' not in sys.modules")


LISTED = re.findall(r'^    "(\w+)",$', (ROOT / "bench/__main__.py").read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", LISTED)
def test_a_module_of_benchmarks_can_be_loaded(name):
    try:
        module = import_module(f"bench.{name}")
    except ModuleNotFoundError as error:  # a peer that no run needs
        if error.name.startswith(("featlearn", "bench")):
            raise
        pytest.skip(f"without {error.name}")
    assert all(map(callable, module.BENCHMARKS.values()))

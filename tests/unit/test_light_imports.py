"""What a light job must not import, and what can be loaded: analyses, benchmarks."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

HEAVY = {
    "PIL", "matplotlib", "scipy", "sklearn", "sympy", "torch._dynamo", "torch._inductor",
    "torchmetrics", "torchvision",
}  # fmt: skip
#: Two steps of pre-training, two of fine-tuning, a probe.
TRAINING = """
from featlearn.core.devices import prepare
from featlearn.mrp.images.downstream import evaluate
from featlearn.mrp.images.experiment import PictureExperiment

device = prepare("cpu")
training = {"steps": 2, "batch_size": 8, "learning_rate": 0.001}
encoder = {"kind": "small_resnet", "small_resnet": {"widths": [4, 8], "stem_stride": 2}}
simmim = {"kind": "simmim", "simmim": {"mask_size": 4, "decoder_depth": 1, "decoder_width": 8}}
config = {
    "world": {"classes": 2, "image_size": 16, "part_size": 6, "variants": 2},
    "samples": {"train": 16, "test": 8},
    "augmentation": {"preset": "flip-crop"},
    "encoders": {"cnn": encoder},
}
experiment = PictureExperiment("images", config, 0, 0, device)
settings = {"encoder": "cnn", "objective": simmim, "training": training}
trained, _ = experiment.pretrain("simmim", settings)
downstream = {
    "labels": [8],
    "finetuning": {"objective": {}, "training": training},
    "probe": {"validation_share": 0.25},
    "neighbours": {"count": 3, "temperature": 0.1},
}
evaluate(experiment, "cnn", trained.state_dict(), downstream)
"""


def loaded(code: str) -> set[str]:
    code += "\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return HEAVY & set(done.stdout.split())


def test_a_training_on_pictures_imports_nothing_that_it_does_not_need():
    assert loaded(TRAINING) == set()


def test_no_module_of_figures_tables_and_claims_imports_torch():
    root = Path(__file__).parents[2] / "src"
    files = sorted([*root.glob("featlearn/*/analysis/*.py"), *root.glob("featlearn/*/analysis.py")])
    assert len(files) > 60
    names = [".".join(file.relative_to(root).with_suffix("").parts) for file in files]
    code = "".join(f"import {name}\n" for name in names)
    loaded(f"{code}import sys\nassert 'torch' not in sys.modules")


BENCH = Path(__file__).parents[2] / "bench"
LISTED = re.findall(r'^    "(\w+)",$', (BENCH / "__main__.py").read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", LISTED)
def test_a_module_of_benchmarks_can_be_loaded(name):
    try:
        module = import_module(f"bench.{name}")
    except ModuleNotFoundError as error:  # a peer that no run needs
        if error.name.startswith(("featlearn", "bench")):
            raise
        pytest.skip(f"without {error.name}")
    assert all(map(callable, module.BENCHMARKS.values()))

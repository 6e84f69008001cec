"""The examples run, agree with their closed forms, and are those of the notebooks."""

import json
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from featlearn import images
from image_folders import grow

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
#: Of each theorem how far the measured number may be from the closed form, relatively.
CLOSE = {
    "contrastive": 0.05, "emergence": 0.01, "fourier": 0.02, "gemfilter": 0.05,
    "gradient_features": 0.05, "icl": 0.01, "looped": 1e-4, "mrp": 1e-9, "noncontrastive": 1e-4,
    "nuclear": 0.08, "universality": 0.01,
}  # fmt: skip


@pytest.mark.parametrize("name", CLOSE)
def test_a_theorem_is_measured_as_predicted_and_its_notebook_has_the_script(name, monkeypatch):
    monkeypatch.setattr(sys, "argv", [name])
    found = runpy.run_path(str(EXAMPLES / f"{name}.py"))
    assert found["measured"] == pytest.approx(found["predicted"], rel=CLOSE[name])
    parts = runpy.run_path(str(ROOT / "scripts/notebooks.py"))["parts"]
    cells = json.loads((EXAMPLES / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    assert "".join(cells[1]["source"]) == parts(EXAMPLES / f"{name}.py")[1]
    assert cells[1]["outputs"][0]["text"]


def test_three_methods_learn_a_folder_and_a_map_is_drawn_of_a_photo(tmp_path, monkeypatch):
    colours = {"red": (200, 40, 40), "blue": (40, 40, 200)}
    folder = grow(tmp_path / "flowers", colours, 12, (64, 64))
    found = runpy.run_path(str(EXAMPLES / "pretrain.py"))["main"](str(folder), 1)
    assert list(found) == ["simmim", "simclr", "mae"]
    assert all(0 <= share <= 1 for shares in found.values() for share in shares)
    assert found["simmim"][0] > 0.9

    source, target = tmp_path / "network.safetensors", tmp_path / "map.png"
    images.fit(str(folder), epochs=1, size=32).save(source)
    photo = folder / "red" / "0.png"
    monkeypatch.setattr(sys, "argv", ["eigen_cam.py", *map(str, (photo, source, target))])
    runpy.run_path(str(EXAMPLES / "eigen_cam.py"))
    assert np.asarray(Image.open(target)).shape == (32, 32, 4)

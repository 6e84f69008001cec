"""``from featlearn import images``: the examples as printed, data and networks of every kind."""

import doctest
import json
import re
import runpy
import sys

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn
from torchvision.models import VisionTransformer, resnet18

from featlearn import images
from featlearn.command import main
from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.images import API, api
from featlearn.images.pretrained import positions
from image_folders import grow, picture
from unit import ROOT

COLOURS = ((190, 40, 40), (40, 190, 40))


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with ``flowers/daisy`` and ``flowers/rose`` in it."""
    grow(tmp_path / "flowers", dict(zip(("daisy", "rose"), COLOURS, strict=True)), 15, (36, 40))
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Pairs(torch.utils.data.Dataset):
    """A dataset of (picture, label), pictures as ``kind`` says."""

    def __init__(self, kind):
        self.kind = kind

    def __len__(self):
        return 20

    def __getitem__(self, number):
        made = picture(number, COLOURS[number % 2], (36, 40))
        pixels = torch.from_numpy(np.array(made)).permute(2, 0, 1)
        kinds = {"PIL": made, "array": np.asarray(made), "uint8": pixels, "float": pixels / 255}
        return kinds[self.kind], number % 2


@pytest.mark.parametrize("name", API)
def test_the_example_of_every_function_runs_as_printed(name, here):
    (test,) = doctest.DocTestFinder(recurse=False).find(
        getattr(api, name), name, globs={"images": images, "torch": torch}
    )
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


def test_the_ten_lines_of_the_page_run(here, capsys):
    page = (ROOT / "docs" / "your-own-images.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"## In ten lines\n.*?```python\n(.*?)```", page, re.DOTALL)
    exec(compile(code.replace("epochs=30", "epochs=1"), "page", "exec"), {})
    assert "of 6 test pictures" in capsys.readouterr().out


def test_a_dataset_gives_the_same_pictures_in_every_kind():
    first = images.read(Pairs("PIL"), size=24)
    assert first.train.shape == (16, 3, 24, 24)
    assert first.classes == ("0", "1")
    assert torch.bincount(first.test_labels).tolist() == [2, 2]
    for kind in ("array", "uint8", "float"):
        other = images.read(Pairs(kind), size=24)
        for part in ("train", "train_labels", "test", "test_labels"):
            assert torch.equal(getattr(other, part), getattr(first, part))


@pytest.mark.long
@pytest.mark.parametrize(("name", "size"), [("resnet18", 32), ("mobilenet_v3_small", 32)])
def test_a_network_of_torchvision_is_pre_trained_by_name(name, size, here, tmp_path, capsys):
    network = images.fit("flowers", encoder=f"torchvision:{name}", epochs=1, size=2 * size)
    assert network.encoder.grid(2 * size) == (2, 2)
    assert images.probe(network, "flowers").accuracy > 0.5
    heads = {"fc", "heads", "classifier"}
    assert not any(heads & {*key.split(".")} for key in network.state_dict())
    file = tmp_path / "net.safetensors"
    network.save(file)
    assert main(["cam", str(file), "flowers/rose/1.png", "--out", str(tmp_path / "maps")]) == 0
    again = images.network(file)
    maps = [images.heat_maps(one, ["flowers/rose/1.png"]) for one in (network, again)]
    assert torch.equal(*maps)


@pytest.mark.parametrize("size", [(64, 64), (64, 128), (96, 48)])
def test_tokens_lie_on_the_grid_of_the_picture(size):
    grid = (size[0] // 16, size[1] // 16)
    for before, told in ((0, None), (1, None), (5, 5), (1, 1)):
        tokens = torch.arange(before + grid[0] * grid[1]).float().view(1, -1, 1).expand(1, -1, 2)
        maps = positions(tokens, size, told)
        assert maps.shape == (1, 2, *grid)
        assert float(maps[0, 0, 0, 0]) == before
        assert float(maps[0, 0, 1, 0]) == before + grid[1]
    assert positions(torch.zeros(1, 7, 3), (64, 64), 0) is None
    assert positions(torch.zeros(1, 1, 3), (64, 64)) is None
    assert positions(torch.zeros(2, 9), (64, 64)) is None


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_maps_of_normalised_floats_are_those_of_the_pixels(dtype):
    torch.manual_seed(0)
    network = resnet18()
    pixels = torch.randint(0, 256, (3, 3, 64, 64), dtype=torch.uint8)
    mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    normalised = ((pixels / 255).permute(0, 2, 3, 1) - mean) / std
    given = normalised.permute(0, 3, 1, 2).to(dtype)
    first, second = images.heat_maps(network, pixels), images.heat_maps(network, given)
    assert first.dtype == torch.float32
    assert first.shape == (3, 64, 64)
    assert 0 <= first.min() <= first.max() <= 1
    assert (first - second).abs().max() < (0.1 if dtype == torch.float16 else 1e-3)


def test_tokens_of_a_transformer_are_a_grid():
    torch.manual_seed(0)
    network = VisionTransformer(32, 8, 2, 2, 16, 32)
    name, pixels = "encoder.layers.encoder_layer_1.ln_1", torch.rand(1, 3, 32, 32)
    found = images.heat_maps(network, pixels, layer=name)
    assert found.shape == (1, 32, 32)
    # where no layer is named it is that one, and not the patches before any block has seen them
    assert torch.equal(images.heat_maps(network, pixels), found)
    assert not torch.equal(images.heat_maps(network, pixels, layer="conv_proj"), found)
    with pytest.raises(ConfigError, match="is no module of VisionTransformer"):
        images.heat_maps(network, torch.rand(1, 3, 32, 32), layer="nowhere")


@pytest.mark.parametrize(("act", "told"), [
    (lambda: images.read([]), "data: no pictures"),
    (lambda: images.read([("a.jpg", 0)]), "picture 0: str; expected a PIL picture"),
    (lambda: images.read([(torch.full((3, 8, 8), 2.0), 0)]), "numbers from 2 to 2; expected 0"),
    (lambda: images.read([(picture(0), -1)]), "label -1"),
    (lambda: images.fit(Pairs("PIL"), encoder="torchvision:resnet18", size=32), "of 32 x 32"),
    (lambda: images.heat_maps(resnet18(), torch.zeros(3, 8, 8)), "expected (N, 3, height"),
    (lambda: images.heat_maps(resnet18(), torch.zeros(1, 3, 8, 8).int()), "torch.int32"),
    (lambda: images.heat_maps(nn.Flatten(), torch.rand(1, 3, 8, 8)), "gives maps"),
    (lambda: images.network("timm:../x"), "expected a name such as"),
])  # fmt: skip
def test_what_cannot_be_is_told_in_words(act, told):
    with pytest.raises(FeatlearnError, match=re.escape(told)):
        act()


PAGE = (ROOT / "docs" / "images.md").read_text(encoding="utf-8")


def test_the_code_of_the_page_runs_from_top_to_bottom(capsys):
    names: dict = {}
    for block in re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        exec(compile(block, "docs/images.md", "exec"), names)
    assert names["masks"].shape == (200, 8, 32, 32)
    changed = (names["without"] != names["pictures"].images).flatten(1).any(1)
    assert changed.float().mean() > 0.9
    assert capsys.readouterr().out.startswith("torch.Size([200, 3, 32, 32])\n")


EXAMPLES = ROOT / "examples"
#: Of each theorem how far the measured number may be from the closed form, relatively.
CLOSE = {
    "contrastive": 0.05, "emergence": 0.01, "fourier": 0.02, "gemfilter": 0.05,
    "gradient_features": 0.05, "icl": 0.01, "looped": 1e-4, "mrp": 1e-9, "noncontrastive": 1e-4,
    "nuclear": 0.08, "universality": 0.01,
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("name", CLOSE)
def test_a_theorem_is_measured_as_predicted_and_its_notebook_has_the_script(name, monkeypatch):
    monkeypatch.setattr(sys, "argv", [name])
    found = runpy.run_path(str(EXAMPLES / f"{name}.py"))
    assert found["measured"] == pytest.approx(found["predicted"], rel=CLOSE[name])
    parts = runpy.run_path(str(ROOT / "scripts/notebooks.py"))["parts"]
    cells = json.loads((EXAMPLES / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    assert "".join(cells[1]["source"]) == parts(EXAMPLES / f"{name}.py")[1]
    assert cells[1]["outputs"][0]["text"]


@pytest.mark.long
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

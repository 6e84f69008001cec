"""Networks of timm, the library itself: names, weights, where the maps are, pre-training.

Skipped where timm is not installed. No weights are downloaded: those that are read were made here.
"""

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

from featlearn import images
from featlearn.command import main
from featlearn.core.errors import FeatlearnError
from featlearn.images.encoders import build_encoder
from featlearn.images.pretrained import layers
from featlearn.images.rng import Draws

timm = pytest.importorskip("timm")

#: A network a kind of layout: where its last map and the layer that is looked at are.
LAYOUTS = {
    "resnet18": ("layer4", "layer4"),
    "convnext_atto": ("norm_pre", "norm_pre"),  # layer norms, some of them channels last
    "swin_tiny_patch4_window7_224": ("norm", "norm"),  # maps (batch, h, w, channels)
    "vit_tiny_patch16_224": ("norm", "blocks.11.norm1"),
    "deit_tiny_distilled_patch16_224": ("norm", "blocks.11.norm1"),  # two tokens before the grid
}


@pytest.fixture
def pictures():
    return torch.randint(
        0, 256, (2, 3, 224, 224), dtype=torch.uint8, generator=torch.Generator().manual_seed(0)
    )


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_layer_that_is_looked_at(name, pictures):
    torch.manual_seed(0)
    network = images.network(f"timm:{name}", weights=False)
    assert network.size == 224
    found = layers(network.network, network.plain(pictures, Draws(("evaluation",), 0, 2)))
    assert (found.last, found.shown) == LAYOUTS[name]
    maps = images.heat_maps(network, pictures)
    assert maps.shape == (2, 224, 224)
    assert maps.isfinite().all()
    assert maps.amax((1, 2)).min() > 0.5


def test_a_vision_transformer_of_timm_is_ours(pictures):
    """Same names, same weights: same layer and same maps."""
    torch.manual_seed(0)
    theirs = timm.create_model("vit_tiny_patch16_224", pretrained=False, num_classes=0).eval()
    ours = build_encoder({"kind": "vit_tiny", "patch": 16, "pooling": "class_token"}, 224)
    ours.load_state_dict(theirs.state_dict())
    assert ours.cam_layer == layers(theirs, torch.zeros(2, 3, 224, 224)).shown
    first, second = images.heat_maps(theirs, pictures), images.heat_maps(ours.eval(), pictures)
    assert (first - second).abs().max() < 1e-3


@pytest.mark.parametrize("name", ["resnet18", "vit_tiny_patch16_224"])
def test_a_map_by_name_from_the_command_line(name, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    noise = np.random.default_rng(0).integers(0, 256, (60, 80, 3), dtype=np.uint8)
    Image.fromarray(noise).save("a.png")
    assert main(["cam", f"timm:{name}", "a.png"]) == 2
    assert f"put {name}.safetensors or {name}.pth" in capsys.readouterr().err
    (tmp_path / "hub" / "checkpoints").mkdir(parents=True)
    file = tmp_path / "hub" / "checkpoints" / f"{name}.safetensors"
    torch.manual_seed(0)
    network = timm.create_model(name, pretrained=False)
    save_file(network.state_dict(), file)
    assert main(["cam", f"timm:{name}", "a.png"]) == 0
    shown = np.asarray(Image.open("maps/a-cam.png"))
    assert shown.shape == (224, 448, 3)
    loaded = images.network(f"timm:{name}")
    for key, value in network.state_dict().items():
        assert torch.equal(loaded.network.state_dict()[key], value)
    save_file({"other": torch.zeros(2)}, file)
    assert main(["cam", f"timm:{name}", "a.png"]) == 2
    assert "does not fit" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["nothing", "hf-hub:x/y", "hf_hub:x", "local-dir:x", "../x"])
def test_other_names_are_refused_and_nothing_is_asked_of_a_hub(name):
    with pytest.raises(FeatlearnError, match="timm:"):
        images.network(f"timm:{name}", weights=False)
    with pytest.raises(FeatlearnError, match="timm:"):
        images.fit([(np.zeros((8, 8, 3), np.uint8), label) for label in (0, 1)] * 5,
                   encoder=f"timm:{name}", size=32)  # fmt: skip

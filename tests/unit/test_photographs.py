"""Maps of any network on a folder of photographs, and those of the paper's figures."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from PIL import Image

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import write_tensors
from featlearn.images.api import heat_maps
from featlearn.images.cam.cam_folder import photographs, weighted_maps
from featlearn.images.cam.eigencam import eigen_cam, heat, overlay
from featlearn.images.encoders import build_encoder
from featlearn.images.figures import photograph_maps
from featlearn.own_images.paper_maps import Seen, fig_1, fig_3, fig_4

TINY = {"kind": "small_resnet", "widths": [4, 8]}


@pytest.fixture
def folder(tmp_path):
    """Three photographs of other sizes; their names are not in the order of their making."""
    stream, folder = np.random.default_rng(0), tmp_path / "photographs"
    folder.mkdir()
    for name, shape in (("b.png", (40, 60, 3)), ("a.png", (50, 30, 3)), ("c.jpg", (32, 32, 3))):
        made = stream.integers(0, 256, shape, dtype=np.uint8)
        made[:, :, 0] = 10 * "abc".index(name[0])
        Image.fromarray(made).save(folder / name)
    return folder


def test_photographs_come_by_name_and_square(folder):
    images = photographs(folder, 32, 2)
    assert images.shape == (2, 3, 32, 32)
    assert images.dtype == torch.uint8
    assert images[:, 0].float().mean((1, 2)).round().tolist() == [0, 10]
    with pytest.raises(FeatlearnError, match="no such folder"):
        photographs(folder / "missing")


def test_a_broken_photograph_is_named_and_left_out(folder, capsys):
    (folder / "a.png").write_bytes(b"no picture")
    images = photographs(folder, 32, 2)
    assert images.shape == (2, 3, 32, 32)
    assert (images[0, 0] == 10).all()
    assert "a.png is left out: not an image" in capsys.readouterr().err
    for name in ("b.png", "c.jpg"):
        (folder / name).unlink()
    with pytest.raises(FeatlearnError, match="no image can be used"):
        photographs(folder)


def test_maps_are_those_of_the_layer(folder):
    torch.manual_seed(0)
    encoder = build_encoder(TINY, 32).eval()
    images = photographs(folder, 32)
    mean = torch.tensor([0.485, 0.456, 0.406])[:, None, None]
    std = torch.tensor([0.229, 0.224, 0.225])[:, None, None]
    with torch.no_grad():
        activations = encoder.layer_maps((images / 255 - mean) / std)
    wanted = heat(eigen_cam(activations), (32, 32))
    torch.testing.assert_close(heat_maps(encoder, images), wanted, atol=1e-3, rtol=0)


def test_models_with_weights_from_a_folder(folder, tmp_path):
    torch.manual_seed(0)
    encoder = build_encoder(TINY, 32)
    weights = tmp_path / "weights"
    weights.mkdir()
    write_tensors(encoder.state_dict(), weights / "tiny.safetensors")
    model = {"name": "tiny", "encoder": TINY, "weights": "tiny.safetensors"}
    images = photographs(folder, 32)
    maps = weighted_maps([model], images, weights)
    assert torch.equal(maps["tiny"], overlay(images, heat_maps(encoder, images)))
    drawn = photograph_maps(images, maps)
    assert [ax.get_ylabel() for ax in drawn.axes if ax.get_ylabel()] == ["photograph", "tiny"]
    with pytest.raises(FeatlearnError, match=r"other\.safetensors: no such file"):
        weighted_maps([{**model, "weights": "other.safetensors"}], images, weights)
    official = {**model, "encoder": {"kind": "resnet50"},
                "weights": "torchvision:ResNet50_Weights.IMAGENET1K_V1"}  # fmt: skip
    with pytest.raises(FeatlearnError, match=r"put resnet50-0676ba61\.pth .* into"):
        weighted_maps([official], images, weights)


@pytest.fixture
def seen():
    """Eight pictures of three classes; maps differ on number 2 most, then on 5."""
    first = torch.zeros(8, 16, 16)
    second = first.clone()
    second[2], second[5, :8] = 1.0, 1.0
    images = torch.full((8, 3, 16, 16), 90, dtype=torch.uint8)
    labels = torch.tensor([0, 0, 0, 2, 2, 2, 2, 1])
    return Seen(images, labels, {"supervised": first, "SimMIM": second}, ("cat", "dog", "owl"))


def test_pictures_come_by_the_difference_of_their_maps(seen):
    assert seen.ordered().labels.tolist() == [0, 2, 0, 0, 2, 2, 2, 1]
    assert seen.ordered().one_a_class().ordered().labels.tolist() == [0, 2, 1]
    assert [len(own.images) for own in seen.most_right(2)] == [4, 3]
    assert len(seen.of(torch.tensor([7])).most_right(2)) == 1  # a class without pictures is none


def below(drawn):
    return [ax.get_xlabel() for ax in drawn.findobj(plt.Axes) if ax.get_xlabel()]


def test_the_last_picture_averages_all_and_the_warm_share_is_told(seen):
    told = below(fig_3(seen))
    assert told[:3] == ["cat", "0 % warm", "100 % warm"]
    # two of eight maps, one of them in half
    assert told[-3:] == ["mean of 8", "0 % warm", "19 % warm"]
    assert below(fig_1(seen)).count("owl") == 4
    assert {"mean of 4", "mean of 3"} <= {*below(fig_4(seen))}
    plt.close("all")

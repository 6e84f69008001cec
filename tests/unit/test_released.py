"""Released networks for CIFAR-10: their architecture, their files, and what is made of them."""

import pytest
import torch
from torch.nn import functional

from featlearn.core.errors import ConfigError
from featlearn.core.run.config import merge
from featlearn.core.run.given import layers_of
from featlearn.images.augment import Augment
from featlearn.images.data.datasets import open_splits
from featlearn.images.encoders.convolutional import CifarResNet, Padded
from featlearn.images.probes import score
from featlearn.images.train.classifier import Classifier
from featlearn.images.train.features import extract
from featlearn.images.weights import load_weights
from featlearn.universality.analysis.released import released
from featlearn.universality.experiments.released import OURS, maps, measure
from featlearn.universality.real import released_faults
from image_folders import grow
from unit import ROOT, job_of

DATA = ROOT / "../shared/data"


def test_the_shortcut_of_option_a_keeps_each_second_cell_and_adds_channels_of_zeros():
    x = torch.arange(2.0 * 4 * 5 * 5).view(2, 4, 5, 5)
    made = Padded()(x)
    assert made.shape == (2, 8, 3, 3)
    assert torch.equal(made[:, 2:6], x[:, :, [0, 2, 4]][..., [0, 2, 4]])
    assert not made[:, [0, 1, 6, 7]].any()


def test_a_network_has_the_size_and_the_features_of_the_paper():
    # He et al. 2016, table 6: .27 million weights with the head of 650
    network = CifarResNet(20)
    assert sum(weight.numel() for weight in network.parameters()) == 269_722 - 650
    assert network(torch.rand(2, 3, 32, 32)).shape == (2, 64)
    with pytest.raises(ConfigError, match=r"encoder\.layers must be 2 more than a multiple of 6"):
        CifarResNet(18)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Weights as their makers wrote them: a parallel network with its head."""
    torch.manual_seed(0)
    own = {f"module.{name}": value for name, value in CifarResNet(8).state_dict().items()}
    own |= {"module.linear.weight": torch.randn(2, 64), "module.linear.bias": torch.randn(2)}
    path = tmp_path_factory.mktemp("weights") / "resnet8.th"
    torch.save({"state_dict": own, "best_prec1": 91.0}, path)
    return path


def test_a_file_or_a_set_that_is_not_there_is_named(file, tmp_path):
    data = {"kind": "folder", "path": str(tmp_path / "none"), "size": 8}
    models = {"here": {"weights": str(file), "targets": {}},
              "gone": {"weights": "gone.th", "targets": {"two": data}}}  # fmt: skip
    weights, folder = released_faults(models)
    assert weights == "universality.released.models.gone.weights must be a file, got gone.th"
    assert folder.startswith("universality.released.models.gone.targets.two.path must be a folder")


def test_networks_are_scored_as_released_compared_and_drawn(file, tmp_path):
    for part in ("train", "validation", "test"):
        grow(tmp_path / "two" / part, {"dark": 40, "light": 200}, 8)
    data = {"kind": "folder", "path": str(tmp_path / "two"), "size": 8}
    model = {
        "encoder": {"kind": "cifar_resnet", "layers": 8}, "weights": str(file),
        "targets": {"two": data, "other": data},
    }  # fmt: skip
    training = {"steps": 2, "batch_size": 8, "learning_rate": 0.003}
    config = {"models": {"ResNet-8": model}, "training": training, "shown": 2}
    job = job_of(config, results=tmp_path, params={"cache": "cache"})
    made = measure(job)
    scores = made["scores"].set_index(["network", "target", "quantity"])["value"]
    # the head of the file is that of the first target
    here = [("ResNet-8", "trained here"), (OURS, "trained here")]
    wanted = {(name, "two", what) for name, what in [*here, ("ResNet-8", "as released")]}
    wanted |= {(name, "other", what) for name, what in here}
    probes = {("ResNet-8", target, "linear probe") for target in ("two", "other")}
    assert {*scores.index} == wanted | probes
    assert (scores[list(probes)] == 1).all()  # so easy are these classes
    alike = made["alike"].set_index(["network", "other"])["value"]
    assert alike["ResNet-8", "ResNet-8"] == pytest.approx(1)
    assert alike["ResNet-8", OURS] == pytest.approx(alike[OURS, "ResNet-8"])
    shown = released(made["scores"], made["alike"]).shown.set_index("network")
    assert shown.loc[OURS, "two: as released"] == "-"
    assert shown.loc["ResNet-8", "CKA with ResNet-8"] == "1.000"
    job.tensors = lambda name: made["weights"]
    drawn = maps(job)
    heads = [title for ax in drawn.axes if (title := ax.get_title())]
    assert heads == ["picture", "ResNet-8", OURS] * 2


def test_a_path_of_a_set_is_filled_in_where_its_file_is(tmp_path):
    (tmp_path / "own.th").touch()
    scale = {
        "scale": "real", "sets": {"net": {"path": str(tmp_path / "no.th")}},
        "given": {"net": {"toy": {"weights": {"path_of": "net"}}}},
    }  # fmt: skip
    assert len(layers_of(scale, {})[0]) == 1
    user = {"sets": {"net": {"path": str(tmp_path / "own.th")}}}
    assert layers_of(scale, user)[0][1] == {"toy": {"weights": str(tmp_path / "own.th")}}


@pytest.mark.skipif(not DATA.is_dir(), reason="no real data beside the project")
def test_a_released_network_is_right_on_what_it_was_trained_on(tmp_path):
    rows = {"train": [[0, 10]], "test": [[0, 200]]}
    data = {"kind": "parquet", "path": str(DATA / "cifar10"), "size": 32, "rows": rows}
    test = open_splits(merge(data, {"shares": {}}), tmp_path, 0)["test"]
    network = Classifier(CifarResNet(20), 10)
    head = load_weights(network.encoder, DATA / "weights/resnet20-12fca82f.th")
    network.head.load_state_dict(head)
    plain = Augment({"preset": "none"})
    assert score(extract(network, test.images, plain, outputs=network.scores), test.labels) > 0.98

    # another shortcut reads the same names, and is wrong
    def averaged(x):
        return functional.pad(functional.avg_pool2d(x, 2), (0, 0, 0, 0, 0, x.shape[1]))

    network.encoder.layer2[0].downsample.forward = averaged
    assert score(extract(network, test.images, plain, outputs=network.scores), test.labels) < 0.98

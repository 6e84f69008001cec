"""Pictures of chapter 2: what is sampled, trained and measured, against what must be so."""

import copy
from types import SimpleNamespace

import pytest
import torch
from torch.nn import functional
from torchvision.io import encode_png

from featlearn.core.errors import FeatlearnError
from featlearn.core.run.config import load
from featlearn.core.seeds import Streams, generator, seeded
from featlearn.emergence.config import contents, state, states
from featlearn.emergence.experiments import descent, filters, neurons, students
from featlearn.emergence.frames import classical_minimum
from featlearn.emergence.pictures import Pictures, open_pictures
from featlearn.emergence.teachers import (
    FC,
    OneResNet,
    ResNets,
    Training,
    error,
    injected,
    loss_and_accuracy,
    spreading,
)
from unit import ROOT, job_of
from unit.test_image_readers import parquet


@pytest.fixture(scope="module")
def section():
    return load({"scale": "desk"}, ROOT)["emergence"]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


def streams(purpose, number=2):
    return Streams(5, "emergence", "test", range(number))(purpose)


def test_pictures_are_normalised_by_the_training_part_and_grey_ones_have_one_channel(
    section, cache
):
    settings = section["neurons"]["svhn"]["pictures"]
    seen = open_pictures(settings, cache, (5, "test"), range(2), "here")
    assert seen.classes == ("0", "1")
    assert seen.x["train"].shape == (2, settings["samples"]["train"], 1, 8, 8)
    for own in seen.x["train"]:
        assert own.mean().abs() < 1e-5
        assert (own.std() - 1).abs() < 1e-3
    # half are inverted: the corners, which are dark in digits, are light in half of them
    corner = seen.x["train"][:, :, 0, 0, 0]
    assert 0.3 < float((corner > 0).float().mean()) < 0.7
    assert not torch.equal(seen.x["test"][0], seen.x["test"][1])  # replicates split anew
    alone = open_pictures(settings, cache, (5, "test"), [1], "here")
    assert torch.equal(alone.x["train"][0], seen.x["train"][1])
    assert ((seen.majority() >= 0.3) & (seen.majority() <= 0.7)).all()


def test_what_a_set_lacks_is_named(section, cache):
    settings = copy.deepcopy(section["neurons"]["mnist"]["pictures"])
    settings["samples"]["train"] = 5000
    with pytest.raises(FeatlearnError, match=r"here\.samples: 5040 for train and validation"):
        open_pictures(settings, cache, (5, "test"), [0], "here")
    settings["classes"] = ["0", "ship"]
    with pytest.raises(FeatlearnError, match=r"here\.classes: 'ship' is none of 0, 1"):
        open_pictures(settings, cache, (5, "test"), [0], "here")


def fc(streams, size=4, inputs=6, classes=3):
    return FC.start(size, (inputs,), classes, streams)


def test_gradients_are_those_of_autograd():
    net = FC(*(part.double().requires_grad_() for part in fc(streams("net"))))
    x = torch.randn(2, 10, 6, dtype=torch.float64, generator=generator("x"))
    y = torch.randint(3, (2, 10), generator=generator("y"))
    p = net.scores(x).softmax(-1)
    mean = p.mean(1)
    r1 = (mean * mean.log()).sum()
    r2 = -(p * p.log()).sum((1, 2)).sum() / 10
    loss = functional.cross_entropy(net.scores(x).mT, y, reduction="none").mean(1).sum()
    for wanted, slope in ((loss, error(y)), (0.7 * (r1 + 0.3 * r2), spreading(0.7, 0.3))):
        by_autograd = torch.autograd.grad(wanted, net, retain_graph=True)
        with torch.no_grad():
            for one, other in zip(net.gradients(x, slope), by_autograd, strict=True):
                torch.testing.assert_close(one, other)


def test_parameters_are_counted_as_the_thesis_does():
    assert FC.start(9, (1, 28, 28), 10, streams("net", 1)).parameters == 7165
    # ResNet-18 for CIFAR-10 as it is known: 11,173,962
    assert ResNets.start(64, (3, 32, 32), 10, streams("net", 1)).parameters == 11173962


def test_a_replicate_trains_alone_as_among_others():
    x = torch.randn(2, 60, 6, generator=generator("x"))
    y = (x.square().sum(-1) > 5).long()
    both, one = fc(streams("net"), classes=2), fc(streams("net")[1:], classes=2)
    Training(40, 0.03, batch_size=20).run(both, x, y, streams("batches"))
    Training(40, 0.03, batch_size=20).run(one, x[1:], y[1:], streams("batches")[1:])
    torch.testing.assert_close(both.w[1], one.w[0])
    assert (loss_and_accuracy(both, x, y)[1] > 0.8).all()


@pytest.mark.parametrize("batch_size", [None, 30])
def test_resnets_learn_a_replicate_each(batch_size):
    """With a loss on further inputs; replicates have starts of their own, and share no number."""
    x = torch.randn(2, 40, 1, 8, 8, generator=generator("x"))
    y = (x.mean((2, 3, 4)) > 0).long()
    x = x + 0.5 * (2 * y[..., None, None, None] - 1)
    also = torch.randn(2, 50, 1, 8, 8, generator=generator("u")), spreading(0.1, 0.1)
    nets = {}
    for name, rows in (("both", slice(None)), ("one", slice(1, None))):
        own = ResNets.start(2, x.shape[2:], 2, streams("net")[rows])
        training = Training(15, 0.01, batch_size)
        training.run(own, x[rows], y[rows], streams("batches")[rows],
                     also=(also[0][rows], also[1]))  # fmt: skip
        nets[name] = own
    assert (loss_and_accuracy(nets["both"], x, y)[1] > 0.8).all()
    first, second = (net.head.weight for net in nets["both"].nets)
    assert not torch.equal(first, second)
    torch.testing.assert_close(second, nets["one"].nets[0].head.weight, rtol=1e-3, atol=1e-4)
    assert nets["both"].hidden(x).shape == (2, 40, 16)


def test_gradients_of_resnets_are_those_of_the_losses_on_one_batch():
    net = ResNets.start(1, (3, 8, 8), 2, streams("net", 1))
    x, u = (torch.randn(1, 6, 3, 8, 8, generator=generator(name)) for name in "xu")
    y = torch.tensor([[0, 1, 1, 0, 1, 0]])
    moved = []
    net_gradients = net.gradients
    net.gradients = lambda *given: moved.append(net_gradients(*given)) or moved[-1]
    before = [part.clone() for part in net.tensors]
    Training(1, 0.0).run(net, x, y, also=(u, spreading(0.7, 0.3)))
    scores = net.nets[0].train()(torch.cat([x, u], 1)[0])
    mean = (p := scores[6:].softmax(-1)).mean(0)
    loss = functional.cross_entropy(scores[:6], y[0])
    loss = loss + 0.7 * ((mean * mean.log()).sum() - 0.3 * (p * p.log()).sum(1).mean())
    wanted = torch.autograd.grad(loss, net.tensors)
    for one, other in zip(moved[0], wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-5)
    assert all(torch.equal(*pair) for pair in zip(before, net.tensors, strict=True))


@pytest.mark.parametrize(
    ("losses", "found"),
    [
        ([3, 2, 1, 2, 4, 1, 0.5], (2, True)),
        ([3, 2, 2.5, 1, 4, 0.5], (3, True)),
        ([1, 2, 3, 1], (0, False)),
        ([3, 2, 1], (2, False)),
        ([1, 2, 3], (0, False)),
    ],
)
def test_the_classical_minimum_lies_left_of_the_peak(losses, found):
    assert classical_minimum(losses) == found


def test_injected_inputs_have_the_covariance_that_is_asked_for():
    mixing = torch.randn(5, 5, generator=generator("mixing"))
    like = torch.randn(1, 4000, 5, generator=generator("like")) @ mixing + 3
    whole = injected("covariance", like.reshape(1, 4000, 1, 5, 1), 4000, streams("drawn", 1))
    assert whole.shape == (1, 4000, 1, 5, 1)
    drawn = whole.flatten(2)
    wanted = torch.cov(like[0].T)
    assert (torch.cov(drawn[0].T) - wanted).norm() < 0.1 * wanted.norm()
    plain = injected("gaussian", like, 4000, streams("drawn", 1))
    assert (torch.cov(plain[0].T) - torch.eye(5)).abs().max() < 0.1
    with pytest.raises(FeatlearnError, match="expected gaussian or covariance"):
        injected("uniform", like, 3, streams("drawn", 1))


def test_each_replicate_has_a_mixture_of_its_own():
    x, new = torch.zeros(2, 40, 3), torch.ones(2, 40, 3)
    mixed, is_new = students._mixture(x, new, 0.25, streams("mixture"))
    assert is_new.sum(1).tolist() == [10, 10]
    assert torch.equal(mixed[..., 0] == 1, is_new)
    assert not torch.equal(is_new[0], is_new[1])


def test_directions_count_lines_of_neurons_and_of_gradients():
    a, b = torch.eye(4, dtype=torch.float64)[:2]
    line = torch.stack([a, -a, a, a])[None]
    cross = torch.stack([a, -a, b, -b])[None]
    assert float(neurons.directions(line)) == pytest.approx(1)
    assert float(neurons.directions(cross)) == pytest.approx(2)
    assert list(filters.kept_direction(torch.ones(3, 9)).values()) == pytest.approx([1] * 6)
    found = filters.kept_direction(torch.eye(3))
    assert found["v1_v2"] == 0
    assert found["v2_mean"] == pytest.approx(3**-0.5)


def test_the_network_of_neurons_descends_as_autograd_says():
    config = {"neurons": 7, "rate": 0.2, "momentum": 0.0, "batch_size": 30, "shown": [0, 1]}
    x = torch.randn(1, 40, 5, generator=generator("x"))
    y = x[..., 0].sign()
    own = Streams(5, "emergence", "test", range(1))
    (_, first), (_, second) = neurons.train(x, y, config, 1.0, own)
    rows = torch.randint(40, (30,), generator=own("batches")[0])
    w, b, a = (part[0].clone().requires_grad_() for part in first)
    output = torch.relu(x[0, rows] @ w.T + b) @ a
    torch.clamp(1 - y[0, rows] * output[:, 0], min=0).mean().backward()
    # weights of five values move as those of 784 would together
    for before, after, rate in zip((w, b, a), second, (0.2 * 784 / 5, 0.2, 0.2), strict=True):
        torch.testing.assert_close(after[0], (before - rate * before.grad).detach())


def test_groups_of_filters_are_the_ends_of_the_leading_direction():
    noise = 0.05 * torch.randn(20, 30, generator=generator("noise"), dtype=torch.float64)
    noise[:6, 0] += 1
    noise[6:12, 0] -= 1
    seen = functional.normalize(noise, dim=1)
    groups = filters.pick(seen, 0.3)
    assert {frozenset(end.tolist()) for end in groups} == {
        frozenset(range(6)),
        frozenset(range(6, 12)),
    }
    green, red, centres = groups.cosines(seen)
    assert min(green, red) > 0.9
    assert centres < -0.9
    # the same choice among noise is far from nothing: why a null is shown
    gaussian = functional.normalize(torch.randn(20, 30, generator=generator("g")).double(), dim=1)
    green, red, centres = filters.pick(gaussian, 0.3).cosines(gaussian)
    assert min(green, red) > 0.3
    assert centres < 0


def test_early_gradients_leave_the_network_alone_and_are_those_of_plain_descent():
    """In one batch of all pictures the mean of ten steps has the sum of their updates."""
    x = torch.randn(8, 1, 8, 8, generator=generator("x"))
    y = torch.arange(8) % 2
    with seeded("net"):
        net = OneResNet(4, 2)
    before = [part.clone() for part in net.parameters()]
    moved = copy.deepcopy(net)
    config = {"early": {"rate": 0.02, "batch_size": 100}, "momentum": 0.9, "rate": 1.0}
    found = filters._early(net, (x, y), config, ("test",))
    assert all(torch.equal(*pair) for pair in zip(before, net.parameters(), strict=True))
    for _ in filters.train(moved, (x, y), {**config["early"], "momentum": 0.0, "epochs": 30},
                           ("test", "early"), filters._none_yet(net)):  # fmt: skip
        pass
    pairs = zip(net.convolutions(), moved.convolutions(), found, strict=True)
    for start, end, means in pairs:
        torch.testing.assert_close(start - end, 0.02 * 10 * means.sum(0), rtol=1e-3, atol=1e-6)


def hub(folder):
    """Pictures as the Hugging Face hub keeps CIFAR-10: PNG in a struct, labels that are numbers."""
    random = generator("parquet")
    for split, number in (("train", 60), ("test", 24)):
        labels = torch.arange(number) % 3  # the third class is not asked for
        pixels = torch.randint(0, 80, (number, 3, 12, 12), generator=random, dtype=torch.uint8)
        pixels[labels == 1, 0] += 150
        rows = [bytes(encode_png(one).numpy()) for one in pixels]
        parquet(folder / f"{split}-00000-of-00001.parquet", rows, labels.tolist(), "img")
    return {
        "data": {"kind": "parquet", "path": str(folder), "size": 8},
        "classes": ["0", "1"], "original": True, "inverted": 0.0,
        "samples": {"train": 24, "validation": 8, "test": 12},
    }  # fmt: skip


def test_resnet_students_on_files_of_the_hub(tmp_path):
    """The sizes of teachers, the choice of one, and students of what it labels, from Parquet."""
    config = {
        "replicates": 1, "pictures": hub(tmp_path), "network": "resnet",
        "training": {"steps": 6, "rate": 0.01, "batch_size": 8, "spread": 1.0, "sharpness": 0.1},
        "descent": {"sizes": [1, 2, 3], "teachers": [], "steps": 12, "batch_size": 8, "times": 1},
        "students": {
            "steps": 4, "rate": 0.01, "batch_size": 8, "record_every": 2,
            "cells": {
                "gaussian": {"injected": "gaussian", "alpha": 0.5, "student": 2},
                "gaussian-25": {"injected": "gaussian", "alpha": 0.25, "student": 2},
            },
        },
    }  # fmt: skip
    job = job_of(config, results=tmp_path, params=SimpleNamespace(cache="images"))
    job.wildcards = {"pictured": "cifar10"}
    curves = descent.measure(job)["curves"]
    assert set(curves["pictures"]) == {"cifar10"}
    assert set(curves["curve"]) == {"teachers"}  # no further teachers, no students over sizes
    chosen = curves.loc[curves["quantity"] == "chosen", "size"].item()
    assert chosen in (1, 2, 3)
    of_size = curves[curves["quantity"] == "test_loss"].set_index("size")["parameters"]
    assert list(of_size) == [ResNets.start(m, (3, 8, 8), 2, streams("n", 1)).parameters
                             for m in (1, 2, 3)]  # fmt: skip
    job.frame = lambda name: curves
    values = students.measure(job)["values"]
    assert values["value"].between(0, 1).all()
    wide = values[values["step"] >= 0].set_index(["cell", "arm", "part", "step"]).sort_index()
    wide = wide["value"]
    for cell, alpha in (("gaussian", 0.5), ("gaussian-25", 0.25)):
        own = wide[cell, "mixture"]
        for step in (0, 2, 4):
            assert own["whole", step] == pytest.approx(
                (1 - alpha) * own["original", step] + alpha * own["injected", step]
            )
    # what does not depend on the share is the same student in both
    for arm in ("alone", "direct"):
        first, second = (wide[cell, arm, "original"] for cell in ("gaussian", "gaussian-25"))
        assert first.equals(second)
    assert not wide["gaussian", "mixture"].equals(wide["gaussian-25", "mixture"])


def test_other_pictures_are_as_many_and_of_the_same_shape():
    def pictures(number, size):
        x = {part: torch.arange(2.0 * number * size**2).reshape(2, number, 1, size, size)
             for part in ("train", "test")}  # fmt: skip
        return Pictures(x, {part: torch.zeros(2, number) for part in x}, ("one",))

    found = students.alike(pictures(7, 4), pictures(5, 4), "key")
    assert {part: x.shape for part, x in found.x.items()} == {
        "train": (2, 5, 1, 4, 4), "test": (2, 5, 1, 4, 4)
    }  # fmt: skip
    for other in (pictures(3, 4), pictures(5, 3)):
        with pytest.raises(FeatlearnError, match=r"key: \d pictures of .*expected 5 or more of"):
            students.alike(other, pictures(5, 4), "key")


def test_pictures_that_are_not_there_are_told_and_no_fault(section, tmp_path):
    data = {"data": {"kind": "torchvision", "name": "MNIST", "root": str(tmp_path), "size": 28}}
    digest, missing = state(data)
    assert digest == "missing"
    assert "mnist" in missing.lower()
    assert state(section["filters"]["pictures"])[1] == ""
    absent = copy.deepcopy(section)
    absent["filters"]["pictures"] |= data
    digests, (line,) = states(absent)
    assert "mnist" in line.lower()
    assert digests["filters"] == {"cifar10": "missing"}
    assert "missing" not in digests["neurons"].values()


def test_only_the_sets_of_the_thesis_count_as_its_own(section):
    own = copy.deepcopy(section)
    assert set(contents(own, "neurons").values()) == {"digits"}
    own["neurons"]["cifar10"]["pictures"]["original"] = True
    assert contents(own, "neurons")["fig-a-14"] == "measured"
    assert contents(own, "neurons")["fig-a-13"] == "digits"
    own["neurons"]["mnist"]["pictures"]["data"] = {"set": "mnist"}
    assert contents(own, "neurons")["fig-a-13"] == "stand-in"  # at another size, say
    own["injected"]["mnist"]["pictures"]["original"] = True
    own["injected"]["cifar10"] = own["injected"]["mnist"]
    found = contents(own, "injected")
    assert found["fig-a-22"] == found["fig-a-20"] == "measured"
    cells = own["injected"]["cifar10"]["students"]["cells"]
    own["injected"]["cifar10"] = {"pictures": {"original": True, "data": {}}, "students": {
        "cells": {"gaussian": cells["gaussian"]}
    }}  # fmt: skip
    assert contents(own, "injected")["fig-a-20"] == "stand-in"  # not without its other shares
    assert found["fig-2-4"] == "stand-in"  # it needs SVHN too
    assert found["fig-a-19"] == "stand-in"  # and this one Tiny ImageNet

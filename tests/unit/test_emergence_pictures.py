"""Pictures of chapter 2: what is sampled, trained and measured, against what must be so."""

from __future__ import annotations

import copy
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
import torch
from torch.nn import functional

from featlearn.core.config import load
from featlearn.core.errors import FeatlearnError
from featlearn.core.seeds import Streams, generator
from featlearn.emergence.config import contents, faults, neuron_contents, state, states
from featlearn.emergence.experiments import filters, neurons
from featlearn.emergence.experiments.students import _mixture
from featlearn.emergence.pictures import open_pictures
from featlearn.emergence.reading import classical_minimum
from featlearn.emergence.teachers import (
    Net,
    Training,
    error,
    injected,
    loss_and_accuracy,
    spreading,
)

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def section():
    return load({"scale": "desk"}, ROOT)["emergence"]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


def streams(purpose, number=2):
    return Streams(5, "emergence", "test", range(number))(purpose)


# ------------------------------------------------------------------------------------ pictures


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


# ------------------------------------------------------------------------------------ teachers


def doubled(net):
    return Net(*(part.double().requires_grad_() for part in net))


def test_gradients_are_those_of_autograd():
    net = doubled(Net.start(4, 6, 3, streams("net")))
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
    assert Net.start(9, 784, 10, streams("net", 1)).parameters == 7165


def test_a_replicate_trains_alone_as_among_others():
    x = torch.randn(2, 60, 6, generator=generator("x"))
    y = (x.square().sum(-1) > 5).long()
    training = Training(40, 0.03, batch_size=20)
    both = training.run(Net.start(4, 6, 2, streams("net")), x, y, streams("batches"))
    one = training.run(Net.start(4, 6, 2, streams("net")[1:]), x[1:], y[1:], streams("batches")[1:])
    torch.testing.assert_close(both.w[1], one.w[0])
    assert (loss_and_accuracy(both, x, y)[1] > 0.8).all()


def test_the_regulariser_spreads_the_classes():
    x = torch.randn(2, 100, 6, generator=generator("x"))
    net = Net.start(4, 6, 5, streams("net"))
    net = net._replace(c=net.c + torch.tensor([5.0, 0, 0, 0, 0]))
    y = torch.zeros(2, 100, dtype=torch.long)
    spread = Training(200, 0.03).run(net, x, y, also=(x, spreading(20.0, 0.0)))
    assert net.scores(x).softmax(-1).mean(1)[:, 0].min() > 0.6
    assert spread.scores(x).softmax(-1).mean(1).max() < 0.45


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
    drawn = injected("covariance", like, 4000, streams("drawn", 1))
    wanted = torch.cov(like[0].T)
    assert (torch.cov(drawn[0].T) - wanted).norm() < 0.1 * wanted.norm()
    plain = injected("gaussian", like, 4000, streams("drawn", 1))
    assert (torch.cov(plain[0].T) - torch.eye(5)).abs().max() < 0.1
    with pytest.raises(FeatlearnError, match="expected gaussian or covariance"):
        injected("uniform", like, 3, streams("drawn", 1))


def test_each_replicate_has_a_mixture_of_its_own():
    x, new = torch.zeros(2, 40, 3), torch.ones(2, 40, 3)
    mixed, is_new = _mixture(x, new, 0.25, streams("mixture"))
    assert is_new.sum(1).tolist() == [10, 10]
    assert torch.equal(mixed[..., 0] == 1, is_new)
    assert not torch.equal(is_new[0], is_new[1])


# ------------------------------------------------------------------------- neurons and filters


def test_directions_count_lines():
    a, b = torch.eye(4, dtype=torch.float64)[:2]
    line = torch.stack([a, -a, a, a])[None]
    cross = torch.stack([a, -a, b, -b])[None]
    assert float(neurons.directions(line)) == pytest.approx(1)
    assert float(neurons.directions(cross)) == pytest.approx(2)


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
    for before, after in zip((w, b, a), second, strict=True):
        torch.testing.assert_close(after[0], (before - 0.2 * before.grad).detach())


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


def test_kept_directions_of_equal_and_of_orthogonal_gradients():
    assert list(filters.kept_direction(torch.ones(3, 9)).values()) == pytest.approx([1] * 6)
    found = filters.kept_direction(torch.eye(3))
    assert found["v1_v2"] == 0
    assert found["v2_mean"] == pytest.approx(3**-0.5)


def test_a_resnet_of_width_m_has_the_stages_of_the_thesis():
    net = filters.Net(4, 2)
    assert [len(own) for own in net.filters()] == [4, 8, 16, 32]
    assert [own.shape[1] for own in net.filters()] == [36, 72, 144, 288]


def test_filters_are_measured_at_every_stage(section, cache):
    config = copy.deepcopy(load({"scale": "smoke"}, ROOT)["emergence"]["filters"])
    config |= {"replicates": 1}
    job = SimpleNamespace(
        config=config, wildcards={"width": "4"}, seed=5, device=torch.device("cpu"), rule="test",
        results=cache, params=SimpleNamespace(cache="images"),
    )  # fmt: skip
    job.wildcards = type("Wildcards", (dict,), {"__getattr__": dict.get})(job.wildcards)
    values = filters.measure(job)["values"]
    assert values["value"].abs().max() <= 1
    told = values[values["group"] == "gradients"]
    assert sorted(told["stage"].unique()) == [1, 2, 3, 4]
    assert len(told) == 4 * 6


# ------------------------------------------------------------------------------------- configs


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        ("neurons.mnist.pictures.classes", ["0"], "classes: ['0']; expected the names of 2"),
        ("neurons.mnist.pictures.classes", ["0", "0"], "classes: ['0', '0']; expected each name"),
        ("neurons.svhn.shown", [3, 10], "shown: [3, 10]; expected 0, the start"),
        ("neurons.svhn.pictures.data.kind", "mnist", "pictures.data.path: missing"),
        ("filters.shown", [0, 3], "shown: [0, 3]; expected 0, the start, and the last epoch, 20"),
        ("filters.shown", [0, 20, 30], "shown: 30; expected at most 20 epochs"),
        ("filters.batch_size", 200, "epochs: 20 steps; expected at least 30"),
        ("filters.widths", [2, 8], "widths: 2; expected at least 4 filters"),
        ("injected.descent.sizes", [3, 2, 1], "descent.sizes: [3, 2, 1]; expected growing sizes"),
        ("injected.descent.sizes", [1, 2], "descent.sizes: expected at least three"),
        ("injected.students.cells.gaussian.alpha", 0.0, "cells.gaussian.alpha: 0.0; expected a"),
        ("injected.pictures.data.kind", "nothing", "pictures.data.kind: 'nothing'; expected one"),
    ],
)
def test_a_contradiction_names_its_key(section, place, value, told):
    changed = copy.deepcopy(section)
    *groups, key = place.split(".")
    own = changed
    for group in groups:
        own = own[group]
    own[key] = value
    lines = list(faults(changed))
    assert any(line.startswith("emergence.") and told in line for line in lines), lines


def test_pictures_that_are_not_there_are_told_and_no_fault(section, tmp_path):
    data = {"data": {"kind": "mnist", "path": str(tmp_path), "size": 28}}
    digest, missing = state(data)
    assert digest == "missing"
    assert "mnist" in missing.lower()
    assert state(section["filters"]["pictures"])[1] == ""
    absent = copy.deepcopy(section)
    for name in ("filters", "injected"):
        absent[name]["pictures"] |= data
    digests, (line,) = states(absent)
    assert "mnist" in line.lower()
    assert digests["filters"] == digests["injected"] == "missing"
    assert digests.keys() == {*section["neurons"], "filters", "injected"}
    assert "missing" not in {digests[name] for name in section["neurons"]}


def test_only_the_sets_of_the_thesis_count_as_its_own(section):
    cells = copy.deepcopy(section["neurons"])
    assert set(neuron_contents(cells).values()) == {"stand-in"}
    cells["cifar10"]["pictures"]["original"] = True
    assert neuron_contents(cells)["fig-a-14"] == "measured"
    assert neuron_contents(cells)["fig-a-13"] == "stand-in"
    own = contents({"original": True}, "injected")
    assert own["fig-a-22"] == "measured"
    assert own["fig-2-4"] == "stand-in"  # it needs three sets


def test_curves_of_losses_are_read(section):
    from featlearn.emergence.tables.injected import teacher_sizes

    rows = [
        (curve, teacher, size, size, "test_loss", r, loss)
        for curve, teacher in (("teachers", 0), ("students", 2))
        for r in range(2)
        for size, loss in ((1, 2.0), (2, 1.0), (4, 3.0), (8, 0.5))
    ]
    columns = ["curve", "teacher", "size", "parameters", "quantity", "replicate", "value"]
    means = teacher_sizes(pd.DataFrame(rows, columns=columns)).frame
    found = means[means["curve"] == "teachers"].set_index("quantity")["mean"]
    assert found.to_dict() == {"classical": 2, "least": 8, "interior": 1}
